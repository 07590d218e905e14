package limittest

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

const (
	ms = time.Millisecond
	s1 = time.Second
)

// step is one call of a story and all that its decision must say.
type step struct {
	at        time.Duration
	cost      int64
	ok        bool
	remaining int64
	retry     time.Duration
	reset     time.Duration
	delay     time.Duration
}

// releases marks a step that gives back its cost instead of taking it.
const releases = time.Duration(-99)

type story struct {
	spec  string
	fine  bool // instants that need a grain of 1 ns
	steps []step
}

var bucketSteps = []step{
	{0, 1, true, 4, 0, 100 * ms, 0},
	{0, 4, true, 0, 0, 500 * ms, 0},
	{0, 1, false, 0, 100 * ms, 500 * ms, 0},
	{50 * ms, 1, false, 0, 50 * ms, 450 * ms, 0},
	{100 * ms, 1, true, 0, 0, 500 * ms, 0}, // exactly one token
	{100 * ms, 0, false, 0, 100 * ms, 500 * ms, 0},
	{300 * ms, 3, false, 2, 100 * ms, 300 * ms, 0},
	{300 * ms, 6, false, 2, limit.Never, 300 * ms, 0},
	{300 * ms, -1, false, 2, limit.Never, 300 * ms, 0},
	{300 * ms, 2, true, 0, 0, 500 * ms, 0},
	{10 * s1, 0, true, 5, 0, 0, 0}, // a peek at a full bucket
	{10 * s1, 5, true, 0, 0, 500 * ms, 0},
	{9 * s1, 1, false, 0, 1100 * ms, 1500 * ms, 0}, // the clock steps back
	{10050 * ms, 1, false, 0, 50 * ms, 450 * ms, 0},
	{10100 * ms, 1, true, 0, 0, 500 * ms, 0},
}

// A third of a second is no whole number of nanoseconds.
var thirdSteps = []step{
	{0, 2, true, 0, 0, 666666667, 0},
	{0, 1, false, 0, 333333334, 666666667, 0},
	{333333333, 1, false, 0, 1, 333333334, 0},
	{333333334, 1, true, 0, 0, 666666666, 0},
	{666666666, 1, false, 0, 1, 333333334, 0},
	{666666667, 1, true, 0, 0, 666666667, 0},
	{1000000000, 1, true, 0, 0, 666666667, 0}, // no drift: three in a second
}

var stories = map[limit.Algorithm][]story{
	limit.TokenBucket: {{"10/s,burst=5", false, bucketSteps}, {"3/s,burst=2", true, thirdSteps}},
	limit.GCRA:        {{"gcra:rate=10/s,burst=5", false, bucketSteps}, {"gcra:rate=3/s,burst=2", true, thirdSteps}},
	limit.LeakyMeter:  {{"leaky-meter:rate=10/s,burst=5", false, bucketSteps}, {"leaky-meter:rate=3/s,burst=2", true, thirdSteps}},
	limit.FixedWindow: {{"fixed-window:limit=5,window=1s", false, []step{
		{900 * ms, 5, true, 0, 0, 100 * ms, 0},
		{900 * ms, 1, false, 0, 100 * ms, 100 * ms, 0},
		{1000 * ms, 5, true, 0, 0, 1000 * ms, 0}, // ten in a tenth of a second
		{1400 * ms, 1, false, 0, 600 * ms, 600 * ms, 0},
		{1400 * ms, 6, false, 0, limit.Never, 600 * ms, 0},
		{900 * ms, 1, false, 0, 1100 * ms, 1100 * ms, 0}, // back into the window before
		{2000 * ms, 2, true, 3, 0, 1000 * ms, 0},
		{2500 * ms, 0, true, 3, 0, 500 * ms, 0},
		{2500 * ms, 4, false, 3, 500 * ms, 500 * ms, 0}, // a refusal counts nothing
		{2500 * ms, 3, true, 0, 0, 500 * ms, 0},
	}}},
	limit.SlidingLog: {{"sliding-log:limit=3,window=1s", false, []step{
		{0, 1, true, 2, 0, 1000 * ms, 0},
		{400 * ms, 1, true, 1, 0, 1000 * ms, 0},
		{500 * ms, 1, true, 0, 0, 1000 * ms, 0},
		{600 * ms, 1, false, 0, 400 * ms, 900 * ms, 0},
		{600 * ms, 2, false, 0, 800 * ms, 900 * ms, 0},
		{600 * ms, 3, false, 0, 900 * ms, 900 * ms, 0},
		{600 * ms, 4, false, 0, limit.Never, 900 * ms, 0},
		{1000 * ms, 1, true, 0, 0, 1000 * ms, 0}, // the first is exactly one window old
		{1300 * ms, 1, false, 0, 100 * ms, 700 * ms, 0},
		{900 * ms, 1, false, 0, 500 * ms, 1100 * ms, 0}, // what left the log stays gone
		{1400 * ms, 0, true, 1, 0, 600 * ms, 0},
		{1400 * ms, 1, true, 0, 0, 1000 * ms, 0},
		{3000 * ms, 3, true, 0, 0, 1000 * ms, 0},
	}}},
	limit.SlidingCounter: {{"sliding-counter:limit=10,window=1s", false, []step{
		{0, 6, true, 4, 0, 2000 * ms, 0},
		{500 * ms, 4, true, 0, 0, 1500 * ms, 0},
		{500 * ms, 1, false, 0, 600 * ms, 1500 * ms, 0}, // not before a tenth of the next window
		{1000 * ms, 1, false, 0, 100 * ms, 1000 * ms, 0},
		{1100 * ms, 1, true, 0, 0, 1900 * ms, 0}, // 10 * 0.9 + 1
		{1500 * ms, 5, false, 4, 100 * ms, 1500 * ms, 0},
		{1500 * ms, 4, true, 0, 0, 1500 * ms, 0},
		{1400 * ms, 1, false, 0, 200 * ms, 1600 * ms, 0}, // counts as 1500 ms
		{1500 * ms, 11, false, 0, limit.Never, 1500 * ms, 0},
		{2000 * ms, 0, true, 5, 0, 1000 * ms, 0},
		{4000 * ms, 10, true, 0, 0, 2000 * ms, 0}, // two windows later nothing is left
	}}},
	limit.LeakyQueue: {{"leaky-queue:rate=10/s,queue=2", false, []step{
		{0, 1, true, 2, 0, 100 * ms, 0},
		{0, 1, true, 1, 0, 200 * ms, 100 * ms},
		{0, 1, true, 0, 0, 300 * ms, 200 * ms}, // queue + 1 at once
		{0, 1, false, 0, 100 * ms, 300 * ms, 0},
		{50 * ms, 1, false, 0, 50 * ms, 250 * ms, 0},
		{100 * ms, 1, true, 0, 0, 300 * ms, 200 * ms},
		{1000 * ms, 2, true, 1, 0, 200 * ms, 100 * ms}, // goes with its last slot
		{1000 * ms, 4, false, 1, limit.Never, 200 * ms, 0},
		{1000 * ms, 2, false, 1, 100 * ms, 200 * ms, 0},
		{1100 * ms, 0, true, 2, 0, 100 * ms, 100 * ms},
		{1150 * ms, 1, true, 1, 0, 150 * ms, 50 * ms},
		{1000 * ms, 2, false, 1, 200 * ms, 300 * ms, 0}, // counts as 1150 ms
	}}},
	limit.Concurrency: {{"concurrency:limit=3", false, []step{
		{0, 2, true, 1, 0, limit.Unknown, 0},
		{0, 2, false, 1, limit.Unknown, limit.Unknown, 0},
		{0, 1, true, 0, 0, limit.Unknown, 0},
		{1000 * ms, 1, false, 0, limit.Unknown, limit.Unknown, 0}, // time brings nothing
		{1000 * ms, 4, false, 0, limit.Never, limit.Unknown, 0},
		{2000 * ms, 1, true, 0, releases, 0, 0},
		{2000 * ms, 0, true, 1, 0, limit.Unknown, 0},
		{1000 * ms, 1, true, 0, 0, limit.Unknown, 0},
		{3000 * ms, 99, true, 0, releases, 0, 0}, // more than is held
		{3000 * ms, 0, true, 3, 0, 0, 0},
		{3000 * ms, 3, true, 0, 0, limit.Unknown, 0},
		{3000 * ms, 0, false, 0, limit.Unknown, limit.Unknown, 0},
	}}},
}

func (s Suite) steps(t *testing.T, a limit.Algorithm) {
	for _, st := range stories[a] {
		if st.fine && s.grain() > 1 {
			continue
		}
		spec := mustParse(t, st.spec)
		m := s.make(t, spec)
		for i, p := range st.steps {
			now := s.at(p.at)
			if p.retry == releases {
				m.release("story", now, p.cost)
				continue
			}
			got := m.take("story", now, p.cost)
			want := limit.Decision{OK: p.ok, Limit: most(spec), Remaining: p.remaining, RetryAfter: p.retry, ResetAfter: p.reset, Delay: p.delay}
			if !s.equal(got, want) {
				t.Fatalf("%s, step %d, cost %d at %v:\n got %+v\nwant %+v", st.spec, i, p.cost, p.at, got, want)
			}
		}
	}
}
