package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

type text string

func (s text) String() string { return string(s) }

// world is a journal on a clock of the test's own, whose writer rests: spans
// end when the test says.
type world struct {
	*Journal
	now atomic.Int64
	out bytes.Buffer
}

func newWorld(t *testing.T, o Options) *world {
	t.Helper()
	w := &world{}
	w.now.Store(1_000_000_000_000)
	o.Every, o.Now = time.Hour, w.now.Load
	j, err := New(&w.out, o)
	if err != nil {
		t.Fatal(err)
	}
	w.Journal = j
	return w
}

// lines closes the journal and reads what it wrote.
func (w *world) lines(t *testing.T) []Line {
	t.Helper()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, &w.out)
}

func read(t *testing.T, r io.Reader) (all []Line) {
	t.Helper()
	for dec := json.NewDecoder(r); ; {
		var l Line
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
}

func seen(key string, admitted bool) *Seen {
	s := &Seen{Gateway: 1, Caller: Caller{Key: key, Plan: "gold"}, Rule: "requests", Limit: text("10/s,burst=20"),
		From: "plan gold", Source: "store", Admitted: admitted, Cost: 2, Remaining: 3, RetryAfter: 1500 * time.Millisecond}
	if admitted {
		s.RetryAfter = 0
	}
	return s
}

func TestJournalWritesFirstRefusalsAndCounts(t *testing.T) {
	w := newWorld(t, Options{})
	w.Rules(w.now.Load(), 7)
	for range 30 {
		w.Decided(w.now.Load(), seen("k", true))
	}
	for i := range 50 {
		s := seen("k", false)
		if i%5 > 0 {
			s.Source = "deny-cache"
		}
		w.Decided(w.now.Load(), s)
	}
	w.Decided(w.now.Add(2e9), seen("k", true))
	w.Decided(w.now.Load(), seen("never refused", true))
	w.Breaker(w.now.Load(), 2, "10.0.0.1:6379", true)
	w.now.Add(8e9)
	got := w.lines(t)
	var kinds []string
	for _, l := range got {
		kinds = append(kinds, string(l.Kind))
	}
	if s := strings.Join(kinds, " "); s != "rules decision breaker held" {
		t.Fatalf("got %s", s)
	}
	first := got[1]
	if d := first.Decision; d.Because != AsFirst || d.Outcome != "refused" || d.Source != "store" || d.Cost != 2 || d.Remaining != 3 || d.RetryAfterS != 1.5 ||
		first.Key != "k" || first.Plan != "gold" || first.Rule.Name != "requests" || first.Limit != "10/s,burst=20" || first.Rule.From != "plan gold" || first.Version != 7 || first.Gateway != 1 {
		t.Errorf("first refusal %+v %+v", first, first.Decision)
	}
	held := got[3].Held
	if held.SpanS != 10 || held.Last.Sub(held.First) != 2*time.Second || held.Admitted != 31 || held.AdmittedUnits != 62 || held.Refused != 50 ||
		fmt.Sprint(held.RefusedBy) != "map[deny-cache:40 store:10]" {
		t.Errorf("counts %+v", held)
	}
	if b := got[2]; b.Breaker.Node != "10.0.0.1:6379" || !b.Open || b.Gateway != 2 {
		t.Errorf("breaker %+v", b.Breaker)
	}
}

func TestWaitsThatAreNoTime(t *testing.T) {
	w := newWorld(t, Options{Sample: 1})
	for _, d := range []time.Duration{0, limit.Never, limit.Unknown} {
		s := seen("", true)
		s.Caller.Address, s.RetryAfter = "10.0.0.9", d
		w.Decided(1, s)
	}
	for i, l := range w.lines(t) {
		if want := -float64(i); l.Decision.RetryAfterS != want || l.Address != "10.0.0.9" {
			t.Errorf("%+v, want %v", l.Decision, want)
		}
	}
}

func TestTheSampleIsAShareAndRepeatable(t *testing.T) {
	draw := func(share float64, seed int64) (n int, which string) {
		j, err := New(io.Discard, Options{Sample: share, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		for i := range 100_000 {
			if j.draw() {
				n++
				if n < 20 {
					which += fmt.Sprint(i, " ")
				}
			}
		}
		return n, which
	}
	for _, share := range []float64{0, 0.01, 0.5, 1} {
		n, which := draw(share, 1)
		if want := int(share * 100_000); n < want-want/10 || n > want+want/10 {
			t.Errorf("a share of %v took %d of 100,000", share, n)
		}
		if _, again := draw(share, 1); again != which {
			t.Errorf("the same seed took %s and %s", which, again)
		}
		if _, other := draw(share, 2); share == 0.01 && other == which {
			t.Error("another seed took the same")
		}
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	zero := 0.0
	for _, o := range []Options{{Sample: -0.1}, {Sample: 1.1}, {Sample: zero / zero}, {Every: -1}, {Pace: -1}} {
		if j, err := New(io.Discard, o); err == nil {
			j.Close()
			t.Errorf("%+v passed", o)
		}
	}
}

// What is too much is dropped and said: by the pace, and by the ring when the
// writer is stuck. Nobody waits for it.
func TestDropsAreCountedAndSaid(t *testing.T) {
	w := newWorld(t, Options{Sample: 1, Pace: 10})
	for range 100 {
		w.Decided(w.now.Load(), seen("k", true))
	}
	lines := w.lines(t)
	if last := lines[len(lines)-1]; len(lines) != 11 || last.Kind != Dropped || last.Lines != 90 {
		t.Errorf("%d lines, the last %+v", len(lines), last.Gap)
	}

	stuck := stuckWriter{release: make(chan struct{})}
	j, err := New(&stuck, Options{Sample: 1, Pace: 1e6, Now: func() int64 { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	const sent = 3 * ring
	for range sent {
		j.Decided(1, seen("k", true))
	}
	_, dropped := j.Stats()
	if dropped == 0 {
		t.Error("a stuck writer dropped nothing")
	}
	close(stuck.release)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	n, gap := int64(0), int64(0)
	for _, l := range read(t, &stuck.out) {
		if l.Kind == Decided {
			n++
		} else {
			gap += l.Lines
		}
	}
	if n+gap != sent || gap == 0 {
		t.Errorf("%d written and %d said to be missing of %d", n, gap, sent)
	}
}

// stuckWriter waits for its release with the first byte.
type stuckWriter struct {
	release chan struct{}
	out     bytes.Buffer
}

func (s *stuckWriter) Write(p []byte) (int, error) {
	<-s.release
	return s.out.Write(p)
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestAnErrorOfWritingComesOut(t *testing.T) {
	j, err := New(fullDisk{}, Options{Sample: 1})
	if err != nil {
		t.Fatal(err)
	}
	j.Decided(1, seen("k", true))
	if err := j.Close(); err == nil || err.Error() != "no space left" {
		t.Errorf("got %v", err)
	}
}

// More callers than there is room for are counted, not kept.
func TestTheTableOfCallersIsBounded(t *testing.T) {
	w := newWorld(t, Options{})
	for i := range 2 * followed {
		w.Decided(1, seen(fmt.Sprint("k-", i), false))
	}
	w.now.Add(1e9)
	lines := w.lines(t)
	var held, refusals int64
	for _, l := range lines {
		switch l.Kind {
		case Spent:
			held += l.Held.Refused
		case Dropped:
			refusals += l.Refusals
		}
	}
	if held != mostHeld || held+refusals != 2*followed {
		t.Errorf("%d refusals in lines and %d said to be missing of %d", held, refusals, 2*followed)
	}
}

func TestJournalIsSafeForConcurrentUse(t *testing.T) {
	var out bytes.Buffer
	j, err := New(&out, Options{Every: time.Millisecond, Sample: 0.01, Pace: 1e6})
	if err != nil {
		t.Fatal(err)
	}
	const each = 5000
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range each {
				j.Decided(time.Now().UnixNano(), seen(fmt.Sprint("k-", (i+w)%7), i%2 == 0))
				if i%1000 == 0 {
					j.Rules(int64(i), int64(i+w))
				}
			}
		})
	}
	wg.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	refused := int64(0)
	for _, l := range read(t, &out) {
		if l.Kind == Spent {
			refused += l.Held.Refused
		}
	}
	if refused != 4*each/2 {
		t.Errorf("%d refusals in the counts of %d", refused, 4*each/2)
	}
}

// BenchmarkDecided is what a decision pays for the log when it is not drawn.
func BenchmarkDecided(b *testing.B) {
	for _, admitted := range []bool{true, false} {
		b.Run(map[bool]string{true: "admitted", false: "refused"}[admitted], func(b *testing.B) {
			j, err := New(io.Discard, Options{Sample: 0.001})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			s := seen("k-7", admitted)
			b.ReportAllocs()
			for b.Loop() {
				j.Decided(1, s)
			}
		})
	}
}
