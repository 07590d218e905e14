package report

import "testing"

// BenchmarkRecord is the sender's side: one event into its shard, with a
// collector that takes the chunks back now and then.
func BenchmarkRecord(b *testing.B) {
	s := newShard()
	e := Event{Due: 1, Sent: 2, First: 3, Done: 4, Has: HasFirst, Status: 200, Verdict: Admitted, Cost: 1}
	b.ReportAllocs()
	for i := range b.N {
		e.Done = int64(i)
		s.Record(&e)
		if i%20_000 == 19_999 {
			b.StopTimer()
			for s.peek() != nil {
				s.pos++
			}
			b.StartTimer()
		}
	}
}

// benchEvents is a mix as a closed loop against a bucket gives it.
func benchEvents(keys uint32, admitted int) []Event {
	const n = 1 << 16
	evs := make([]Event, n)
	for i := range evs {
		at := int64(i) * 50_000
		e := Event{Due: at, Sent: at + 2_000, First: at + 90_000 + int64(i*7919%40_000), Client: uint32(i*7919) % 1000,
			Key: uint32(i*104_729) % keys, Cost: 1, Has: HasFirst, Attempt: 1, Wait: -1, Status: 200, Verdict: Admitted}
		e.Done = e.First + 5_000
		if i%10 >= admitted {
			e.Verdict, e.Status = Refused, 429
			e.Has |= HasRetryAfter | Obeyed
			e.RetryAfter, e.Wait, e.Attempt = 1e9, 1e9, 2
		}
		evs[i] = e
	}
	return evs
}

func benchAdd(b *testing.B, keys uint32, admitted int, p *Promise) {
	evs := benchEvents(keys, admitted)
	c := NewCollector(Setup{Promise: p})
	for i := range evs {
		c.add(&evs[i])
	}
	lap := evs[len(evs)-1].Due + 50_000
	shift := lap
	var e Event
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		j := i & (len(evs) - 1)
		if j == 0 && i > 0 {
			shift += lap
		}
		e = evs[j]
		e.Due, e.Sent, e.First, e.Done = e.Due+shift, e.Sent+shift, e.First+shift, e.Done+shift
		c.add(&e)
	}
}

var tenPerSecond = &Promise{Text: "10/s,burst=20", Units: 10, Per: 1e9, Burst: 20}

func BenchmarkAddMixed(b *testing.B)       { benchAdd(b, 100, 3, tenPerSecond) }
func BenchmarkAddAllAdmitted(b *testing.B) { benchAdd(b, 1, 10, tenPerSecond) }
func BenchmarkAddHeld(b *testing.B) {
	benchAdd(b, 100, 10, &Promise{Text: "300/s,burst=20", Units: 300, Per: 1e9, Burst: 20})
}
func BenchmarkAddNoPromise(b *testing.B) { benchAdd(b, 100, 10, nil) }
func BenchmarkAddManyKeys(b *testing.B)  { benchAdd(b, 60_000, 10, tenPerSecond) }

func BenchmarkSnapshot(b *testing.B) {
	evs := benchEvents(100, 3)
	c := NewCollector(Setup{Promise: tenPerSecond})
	for i := range evs {
		c.add(&evs[i])
	}
	b.ReportAllocs()
	for b.Loop() {
		c.snapshot(1e9, false)
	}
}

func BenchmarkHist(b *testing.B) {
	var h Hist
	for i := range b.N {
		h.Record(int64(i*7919) & (1<<27 - 1))
	}
}
