package report

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// A trail keeps its sum while it widens, and the newest steps while it forgets.
func TestTrailKeepsItsSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	wide, fine := newTrail(64, true), newTrail(64, false)
	var n, kept uint32
	at := int64(0)
	for range 20_000 {
		at += int64(r.IntN(50e6))
		late := at - int64(r.IntN(3e8))
		wide.at(late).Offered++
		n++
		if k := fine.at(late); k != nil {
			k.Offered++
		}
	}
	if sum(wide.Ticks) != n || len(wide.Ticks) > 64 || wide.End() < at {
		t.Errorf("%d of %d in %d steps to %d of %d", sum(wide.Ticks), n, len(wide.Ticks), wide.End(), at)
	}
	if len(fine.Ticks) > 64 || fine.End() < at || fine.Step != trailStep || fine.End()-fine.From < 40*trailStep {
		t.Errorf("fine from %d to %d, at %d", fine.From, fine.End(), at)
	}
	if kept = sum(fine.Ticks); kept == 0 || kept >= n {
		t.Errorf("%d of %d kept", kept, n)
	}
	if half := wide.Until(at / 2); half.End() < at/2 || half.End() > at/2+half.Step || sum(half.Ticks) >= n {
		t.Errorf("half of it ends at %d of %d", half.End(), at)
	}
	// A week later, and at the end of time.
	wide.at(7*86_400e9).Offered++
	wide.at(math.MaxInt64).Offered++
	if sum(wide.Ticks) != n+2 {
		t.Errorf("%d, want %d", sum(wide.Ticks), n+2)
	}
}

func sum(t []Tick) (n uint32) {
	for _, k := range t {
		n += k.Offered
	}
	return n
}

// Refused clients wait until their retry is due.
func TestWaitingClients(t *testing.T) {
	c := NewCollector(Setup{Detail: true})
	s := c.Shard()
	refusal := func(client uint32, done, wait int64) {
		s.Record(&Event{Due: done - 1e6, Sent: done - 1e6, Done: done, Client: client, Attempt: 1, Verdict: Refused, Wait: wait})
	}
	for i := range 10 {
		refusal(uint32(i), 1e9+int64(i)*1e6, 1e9) // due from 2.000 on
	}
	refusal(10, 1.1e9, 3600e9)
	refusal(11, 1.2e9, 0)
	refusal(12, 1.3e9, -1)
	for _, want := range []struct{ now, waiting, ahead int64 }{{1.5e9, 11, 10}, {1.99e9, 11, 10}, {2.02e9, 1, 0}, {10e9, 1, 0}, {3700e9, 0, 0}} {
		s.Advance(want.now)
		c.Merge(want.now)
		d := c.Latest().Detail
		var ahead int64
		for _, n := range d.Ahead.Counts {
			ahead += int64(n)
		}
		if d.Waiting != want.waiting || ahead != want.ahead {
			t.Errorf("at %d: %d wait, %d in sight; want %d and %d", want.now, d.Waiting, ahead, want.waiting, want.ahead)
		}
	}
	var waits int64
	for _, b := range c.Latest().Detail.Waits {
		waits += b.N
	}
	if waits != 12 {
		t.Errorf("%d waits, want 12", waits)
	}
}

// Nothing of it is made unasked.
func TestDetailIsAskedFor(t *testing.T) {
	c := NewCollector(Setup{})
	c.Shard().Record(&Event{Done: 1e6, Verdict: Admitted, Wait: -1})
	c.Merge(1e9)
	if c.Latest().Detail != nil {
		t.Error("detail unasked")
	}
}

// A snapshot does not change while the run goes on.
func TestDetailStays(t *testing.T) {
	c := NewCollector(Setup{Detail: true, Promise: &Promise{Units: 1, Per: 1e9, Burst: 1}})
	s := c.Shard()
	feed := func(from, to int64) {
		for at := from; at < to; at += 7e6 {
			v := []Verdict{Admitted, Refused}[at/7e6%2]
			s.Record(&Event{Due: at, Sent: at, Done: at + 1e6, Key: uint32(at / 7e6 % 300), Verdict: v, Wait: 2e9, Attempt: 2, Cost: 1})
		}
	}
	feed(0, 5e9)
	c.Merge(5e9)
	first := c.Latest()
	before, _ := json.Marshal(first)
	feed(5e9, 500e9)
	c.Merge(500e9)
	if after, _ := json.Marshal(first); !bytes.Equal(before, after) {
		t.Error("a published snapshot changed")
	}
	if n := len(c.Latest().Detail.Keys); n < topMax || n > 2*topMax {
		t.Errorf("%d key lines of 300 keys", n)
	}
}

// A film stays small however long the run is, and survives hostile times.
func TestFilmOfAWeek(t *testing.T) {
	f := NewFilm(Setup{Promise: &Promise{Units: 1, Per: 1e9, Burst: 1}})
	for i := range 5000 {
		at := int64(i) * (7 * 86_400e9 / 5000)
		f.Add(&Event{Due: at, Sent: at, Done: at + 1e6, Verdict: Admitted, Wait: -1, Cost: 1})
	}
	f.Add(&Event{Due: math.MaxInt64 - 1, Sent: math.MaxInt64 - 1, Done: math.MaxInt64, Wait: math.MaxInt64, Verdict: Refused})
	r, frames := f.End(Meta{})
	if len(frames) > filmFrames || len(frames) < 10 || frames[len(frames)-1].Totals != r.Totals || r.Totals.Offered != 5001 {
		t.Errorf("%d frames, last %+v, result %+v", len(frames), frames[len(frames)-1].Totals, r.Totals)
	}
}

func TestReadResult(t *testing.T) {
	r := &Result{Schema: Schema, Name: "x", Marks: []Mark{{1.5, "here"}}, Totals: Totals{Offered: 3},
		PerSecond: []Second{{T: 0, Offered: 2}, {T: 2, Offered: 1}, {T: -5, Offered: 9}, {T: math.MaxInt64, Offered: 9}}}
	var b bytes.Buffer
	if err := WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	back, err := ReadResult(strings.NewReader(text))
	if err != nil || back.Name != "x" || len(back.Marks) != 1 || back.Marks[0] != r.Marks[0] {
		t.Fatalf("%+v, %v", back, err)
	}
	if got := back.View().Detail.Whole; sum(got.Ticks) != 3 || len(got.Ticks) != 3 {
		t.Errorf("trail %+v", got)
	}
	for _, tt := range []struct{ text, want string }{
		{text[:len(text)/2], "cut off"},
		{strings.Replace(text, "result/v1", "result/v9", 1), `schema is "weir.result/v9", not "weir.result/v1"`},
		{"[]", "not a result"},
		{"nonsense", "not a result"},
		{`{"schema":"weir.result/v1","totals":7}`, "not a result"},
		{"", "cut off"},
	} {
		if _, err := ReadResult(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.30q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// What was told last about a key's limit is kept, and what was not said stays
// unknown.
func TestWhatCallersWereTold(t *testing.T) {
	c := NewCollector(Setup{Detail: true})
	s := c.Shard()
	for i, e := range []Event{
		{Key: 1, Verdict: Admitted, Has: HasLimit | HasRemaining | HasReset, Limit: 20, Remaining: 7, Reset: 5e8},
		{Key: 2, Verdict: Refused, Has: HasRetryAfter, RetryAfter: 2e9},
		{Key: 1, Verdict: Admitted, Has: HasRemaining, Remaining: 6},
		{Key: 3, Verdict: Admitted},
	} {
		e.Done, e.Wait = int64(i+1)*1e6, -1
		s.Record(&e)
	}
	s.Advance(1e9)
	c.Merge(1e9)
	want := []Told{
		{At: 3e6, Limit: -1, Remaining: 6, Reset: -1, RetryAfter: -1},
		{Limit: -1, Remaining: -1, Reset: -1, RefusedAt: 2e6, RetryAfter: 2e9},
		{},
	}
	for i, l := range c.Latest().Detail.Keys {
		if l.Told != want[i] {
			t.Errorf("%s: %+v, want %+v", l.Key, l.Told, want[i])
		}
	}
}
