package metering

import (
	"fmt"
	"sync"
	"testing"
)

func TestMeterTellsWhatChanged(t *testing.T) {
	m := NewMeter("a", 3, 100)
	if r := m.Begin(5); r.Check() != nil || r.Kind != Begin || r.Gateway != 3 || r.Seq != 0 {
		t.Errorf("begin %+v", r)
	}
	m.Add("k", 10, 2)
	m.Add("k", 11, 3)
	m.Add("l", 12, 1)
	if got := m.Flush(20, nil); len(got) != 3 || got[2].Kind != Beat || got[2].Units != 6 || got[2].Requests != 3 {
		t.Errorf("first %+v", got)
	}
	m.Add("l", 25, 1)
	got := m.Flush(30, nil)
	if len(got) != 2 || got[0].Key != "l" || got[0].Units != 2 || got[0].Start != 12 || got[0].Seq != 2 || got[1].Units != 7 {
		t.Errorf("second %+v", got)
	}
	if got := m.Flush(40, nil); len(got) != 1 || got[0].Kind != Beat {
		t.Errorf("nothing changed: %+v", got)
	}
	if got := m.End(50, nil); len(got) != 1 || got[0].Kind != End || got[0].Units != 7 {
		t.Errorf("end %+v", got)
	}
}

// A flush that failed, and the one after it, lose nothing once a third gets
// through.
func TestUnsentComesAgain(t *testing.T) {
	m := NewMeter("a", 1, meterShards)
	for i := range 100 { // most of them beyond the meter's room
		m.Add(fmt.Sprint("k-", i), 1, 1)
	}
	m.Flush(2, nil)
	m.Unsent()
	m.Add("k-0", 3, 1)
	m.Flush(4, nil)
	m.Unsent()
	var b Book
	for _, r := range m.End(5, nil) {
		if err := b.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	if in := b.Instances()[0]; b.Units() != 101 || in.Missing != 0 || !in.Ended {
		t.Errorf("%d units, %+v", b.Units(), in)
	}
	if n := len(b.Keys()); n > meterShards+1 {
		t.Errorf("%d keys in room for %d", n, meterShards)
	}
}

// A key that was idle is forgotten, and what it used before is not.
func TestIdleKeysAreForgotten(t *testing.T) {
	m := NewMeter("a", 1, 100)
	var b Book
	apply := func(records []Record) {
		t.Helper()
		for _, r := range records {
			if err := b.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := func() (n int) {
		for i := range m.shards {
			n += len(m.shards[i].rows)
		}
		return n
	}
	m.Add("k", 1000, 7)
	apply(m.Flush(2000, nil))
	for range IdleFlushes - 2 {
		apply(m.Flush(3000, nil))
	}
	if rows() != 1 {
		t.Errorf("%d rows before its time", rows())
	}
	for range IdleFlushes + 1 {
		apply(m.Flush(4000, nil))
	}
	if rows() != 0 {
		t.Errorf("%d rows after %d idle flushes", rows(), 2*IdleFlushes)
	}
	m.Add("k", 900, 5) // by a clock that has stepped back
	apply(m.End(5000, nil))
	if in := b.Instances()[0]; b.Units() != 12 || in.Missing != 0 || in.Contradicts {
		t.Errorf("%d units, %+v", b.Units(), in)
	}
}

func TestMeterIsSafeForConcurrentUse(t *testing.T) {
	m := NewMeter("a", 1, 1000)
	var b Book
	var adding sync.WaitGroup
	for w := range 4 {
		adding.Go(func() {
			for i := range 2000 {
				m.Add(fmt.Sprint("k-", (i+w)%50), int64(i), 1)
			}
		})
	}
	stop := make(chan struct{})
	go func() { adding.Wait(); close(stop) }()
	for done := false; !done; {
		var records []Record
		select {
		case <-stop:
			records, done = m.End(9, nil), true
		default:
			records = m.Flush(8, nil)
		}
		for _, r := range records {
			if err := b.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if in := b.Instances()[0]; b.Units() != 8000 || in.Missing != 0 {
		t.Errorf("%d units, %+v", b.Units(), in)
	}
}

func BenchmarkMeterAdd(b *testing.B) {
	m := NewMeter("a", 1, 1000)
	b.ReportAllocs()
	for b.Loop() {
		m.Add("k-7", 1, 1)
	}
}
