package report

import (
	"testing"
	"time"
)

// at makes an answered attempt; times in milliseconds.
func at(sent, done float64, v Verdict) Event {
	ns := func(ms float64) int64 { return int64(ms * 1e6) }
	e := Event{Due: ns(sent), Sent: ns(sent), First: ns(done), Done: ns(done), Has: HasFirst,
		Cost: 1, Attempt: 1, Wait: -1, Verdict: v}
	switch v {
	case Admitted:
		e.Status = 200
	case Refused:
		e.Status = 429
	}
	return e
}

// run feeds events through one shard and finishes.
func run(s Setup, evs []Event) *Result {
	c := NewCollector(s)
	sh := c.Shard()
	for i := range evs {
		sh.Record(&evs[i])
	}
	return c.Finish(Meta{Source: "sim", Name: "test"})
}

func TestSumsBalance(t *testing.T) {
	var evs []Event
	for i := range 100 {
		e := at(float64(i*30), float64(i*30)+5, Verdict(i%5))
		if e.Verdict == Failed {
			e.Class = Timeout
		}
		e.Client, e.Key = uint32(i%7), uint32(i%3)
		evs = append(evs, e)
	}
	r := run(Setup{}, evs)
	want := Totals{Planned: 100, Offered: 80, Admitted: 20, Refused: 20, Failed: 20, InFlight: 20, Dropped: 20}
	if r.Totals != want {
		t.Fatalf("totals %+v, want %+v", r.Totals, want)
	}
	var sum Second
	for _, s := range r.PerSecond {
		sum.Offered += s.Offered
		sum.Admitted += s.Admitted
		sum.Refused += s.Refused
		sum.Failed += s.Failed
		sum.InFlight += s.InFlight
		sum.Dropped += s.Dropped
	}
	if sum != (Second{0, 80, 20, 20, 20, 20, 20}) {
		t.Errorf("per_second sums to %+v", sum)
	}
	if r.Verdict != NotJudged || r.Bound != nil || r.Errors["timeout"] != 20 || r.Status["429"] != 20 {
		t.Errorf("verdict %q, bound %v, errors %v, status %v", r.Verdict, r.Bound, r.Errors, r.Status)
	}
}

func TestShardsMergeInOrderOfDone(t *testing.T) {
	var seen []int64
	c := NewCollector(Setup{Tap: func(e *Event) { seen = append(seen, e.Done) }})
	a, b := c.Shard(), c.Shard()
	for i := range int64(3000) {
		e := Event{Done: i * 2, Verdict: Admitted}
		a.Record(&e)
	}
	// b is silent: nothing may pass it yet.
	c.Merge(1e9)
	if len(seen) != 1 {
		t.Fatalf("%d events passed a silent shard, want the one at instant 0", len(seen))
	}
	b.Advance(1001)
	c.Merge(1e9)
	if n := len(seen); n != 501 {
		t.Fatalf("%d events merged up to 1001, want 501", n)
	}
	for i := range int64(3000) {
		e := Event{Done: 1001 + i*2, Verdict: Admitted}
		b.Record(&e)
	}
	c.Merge(1e9)
	c.Finish(Meta{})
	if len(seen) != 6000 {
		t.Fatalf("%d events, want 6000", len(seen))
	}
	for i := 1; i < len(seen); i++ {
		if seen[i] < seen[i-1] {
			t.Fatalf("event %d done %d after %d", i, seen[i], seen[i-1])
		}
	}
}

func TestSilentShardIsGivenUpAfterAWhile(t *testing.T) {
	c := NewCollector(Setup{})
	a := c.Shard()
	c.Shard()
	e := Event{Done: 1e9, Verdict: Admitted}
	a.Record(&e)
	c.Merge(1e9 + holdMax - 1)
	if n := c.Latest().Totals.Offered; n != 0 {
		t.Fatalf("%d merged too early", n)
	}
	c.Merge(1e9 + holdMax)
	if n := c.Latest().Totals.Offered; n != 1 {
		t.Fatalf("%d merged, want 1", n)
	}
}

func TestRecordAndMergeAtOnce(t *testing.T) {
	const shards, each = 4, 20_000
	c := NewCollector(Setup{Promise: tenPerSecond})
	done := make(chan struct{}, shards)
	for s := range shards {
		sh := c.Shard()
		go func() {
			for i := range int64(each) {
				e := Event{Due: i, Sent: i, Done: i + 10, Client: uint32(s), Key: uint32(i % 5), Verdict: Admitted, Cost: 1}
				sh.Record(&e)
			}
			sh.Close()
			done <- struct{}{}
		}()
	}
	last := int64(0)
	for left := shards; left > 0; {
		select {
		case <-done:
			left--
		case <-time.After(100 * time.Microsecond):
		}
		c.Merge(100)
		if n := c.Latest().Totals.Offered; n < last {
			t.Fatalf("offered fell from %d to %d", last, n)
		} else {
			last = n
		}
	}
	if n := c.Finish(Meta{}).Totals.Offered; n != shards*each {
		t.Fatalf("%d events arrived of %d", n, shards*each)
	}
}
