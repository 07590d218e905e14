package limit

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestBatchSize(t *testing.T) {
	tests := []struct {
		rate     Rate
		gateways int64
		want     int64
	}{
		{Rate{10_000, time.Second}, 20, 50},
		{Rate{10_199, time.Second}, 20, 50}, // cut
		{Rate{1000, time.Minute}, 300, 1},   // at least one
		{Rate{1 << 60, time.Nanosecond}, 1, maxLevel},
	}
	for _, tt := range tests {
		if got := BatchSize(tt.rate, tt.gateways, 100*time.Millisecond); got != tt.want {
			t.Errorf("BatchSize(%v, %d) = %d, want %d", tt.rate, tt.gateways, got, tt.want)
		}
	}
}

// One gateway, batches of 6.
func TestBatchLeaseStory(t *testing.T) {
	l := BatchLease{Batch: 6, Life: time.Second}
	var h BatchHeld
	step := func(now int64, want LeaseStep, tokens int64) {
		t.Helper()
		if got := l.Request(&h, now); got != want || h.Tokens(now) != tokens {
			t.Fatalf("at %v: %v with %d left, want %v with %d", time.Duration(now), got, h.Tokens(now), want, tokens)
		}
	}
	step(0, LeaseAskFirst, 0)
	l.Fetched(&h, 0, 6) // one of them for the request that waited
	step(1, LeaseSpend, 4)
	step(1, LeaseSpend, 3)
	step(2, LeaseSpendAndAsk, 2) // fewer than half
	step(3, LeaseSpend, 1)       // one in flight is enough
	l.Granted(&h, 4, 0)          // the store had none: nothing changes
	step(5, LeaseSpendAndAsk, 0)
	l.Granted(&h, ms, 6) // renews the life
	step(sec+ms-1, LeaseSpend, 5)
	step(sec+ms, LeaseAskFirst, 0) // dead, dropped
	l.Denied(&h, sec+2*ms)
	step(sec+2*ms-1, LeaseRefuse, 0)
	step(sec+2*ms, LeaseAskFirst, 0)
	l.Fetched(&h, sec+2*ms, 1)
	if h.Tokens(sec+2*ms) != 0 {
		t.Fatal("the only token was not spent")
	}
}

// Tokens that died do not come back to life with new ones.
func TestBatchLeaseDropsTheDeadBeforeItAdds(t *testing.T) {
	l := BatchLease{Batch: 6, Life: time.Second}
	var h BatchHeld
	l.Fetched(&h, 0, 6)
	l.Granted(&h, sec, 2)
	if got := h.Tokens(sec); got != 2 {
		t.Errorf("%d tokens, want the 2 new ones", got)
	}
	if got := h.Until(); got != 2*sec {
		t.Errorf("matters until %d", got)
	}
}

func TestBatchBookStory(t *testing.T) {
	small, large := Spec{Rate: Rate{10, time.Second}, Burst: 20}, Spec{Rate: Rate{3, time.Second}, Burst: 50}
	k, err := NewBatchBook(small.Bucket(), large.Bucket())
	if err != nil {
		t.Fatal(err)
	}
	b := make([]Bucket, 2)
	lease := func(now, wanted, granted int64, wait time.Duration) {
		t.Helper()
		if g, w := k.Lease(b, now, wanted); g != granted || w != wait {
			t.Fatalf("at %v: %d and wait %v, want %d and %v", time.Duration(now), g, w, granted, wait)
		}
	}
	lease(0, 15, 15, 0)
	lease(0, 15, 5, 0)                           // what the lowest has
	lease(0, 15, 0, 100*time.Millisecond)        // and then none
	lease(1, 15, 0, 100*time.Millisecond)        // the clock is in whole milliseconds
	lease(50*ms+ms/2, 1, 0, 50*time.Millisecond) // half a token is there
	lease(100*ms-1, 1, 0, millis(1))
	lease(100*ms, 9, 1, 0)
	if k.Tokens(0, &b[0], 100*ms) != 0 || k.Tokens(1, &b[1], 100*ms) != 29 {
		t.Fatalf("%d and %d tokens left", k.Tokens(0, &b[0], 100*ms), k.Tokens(1, &b[1], 100*ms))
	}
	if k.Full(0, &b[0], 2*sec) || !k.Full(0, &b[0], 3*sec) {
		t.Fatal("wrong about when the bucket is full")
	}
	// 29 more empty the second: the wait is the slower one's, 1/3 s rounded up.
	lease(10*sec, 20, 20, 0)
	lease(10*sec, 20, 0, 100*time.Millisecond)
	b[0] = Bucket{}
	lease(10*sec, 20, 20, 0)
	b[0] = Bucket{}
	lease(10*sec, 20, 10, 0) // 50 at 10 s, less 40
	b[0] = Bucket{}
	lease(10*sec, 20, 0, millis(334))
}

// Whatever gateways do, the fleet never spends more than the bucket gave, and
// the bucket gives no more than burst + rate*t.
func TestBatchLeasesKeepTheBound(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		burst, rate, gateways := 1+r.Int64N(200), 1+r.Int64N(500), 1+r.Int64N(8)
		k, err := NewBatchBook(Spec{Rate: Rate{rate, time.Second}, Burst: burst}.Bucket())
		if err != nil {
			t.Fatal(err)
		}
		l := BatchLease{Batch: 1 + r.Int64N(20), Life: time.Duration(1+r.Int64N(100)) * time.Millisecond}
		b := make([]Bucket, 1)
		held := make([]BatchHeld, gateways)
		var now, admitted, granted int64
		for range 2000 {
			now += r.Int64N(3 * ms)
			h := &held[r.IntN(len(held))]
			switch step := l.Request(h, now); {
			case step == LeaseAskFirst:
				if n, wait := k.Lease(b, now, l.Batch); n > 0 {
					l.Fetched(h, now, n)
					granted += n
					admitted++
				} else if wait <= 0 {
					t.Fatalf("seed %d: nothing granted and no wait", seed)
				} else {
					l.Denied(h, now+int64(wait))
				}
			case step.Asks():
				n, _ := k.Lease(b, now, l.Batch)
				l.Granted(h, now, n)
				granted += n
				admitted++
			case step.Admits():
				admitted++
			}
			if got := h.Tokens(now); got >= l.Batch+max(1, l.Batch/2) {
				t.Fatalf("seed %d: a gateway holds %d of batches of %d", seed, got, l.Batch)
			}
			if admitted > granted || granted*sec > burst*sec+rate*now {
				t.Fatalf("seed %d: %d admitted and %d granted by %v", seed, admitted, granted, time.Duration(now))
			}
		}
	}
}

// A gateway that comes back when its denial is over finds a token, if nobody
// else took it.
func TestBatchWaitIsNeverTooShort(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 6))
		k, err := NewBatchBook(
			Spec{Rate: Rate{1 + r.Int64N(50), time.Second}, Burst: 1 + r.Int64N(5)}.Bucket(),
			Spec{Rate: Rate{1 + r.Int64N(50), 7 * time.Second}, Burst: 1 + r.Int64N(5)}.Bucket(),
		)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]Bucket, 2)
		now := int64(0)
		for range 200 {
			now += r.Int64N(sec)
			n, wait := k.Lease(b, now, 1+r.Int64N(4))
			if n > 0 {
				continue
			}
			c := []Bucket{b[0], b[1]}
			if n, _ := k.Lease(c, now+int64(wait), 1); n != 1 {
				t.Fatalf("seed %d: after %v there is still no token", seed, wait)
			}
		}
	}
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func TestBatchBookNeedsALimit(t *testing.T) {
	if _, err := NewBatchBook(); err == nil {
		t.Error("a book of nothing")
	}
	if _, err := NewBatchBook(BucketSpec{}); err == nil {
		t.Error("a book of a limit without numbers")
	}
}

func TestLeasesDoNotAllocate(t *testing.T) {
	book := mustBlockBook(t, "1000/s,burst=100", 10, 4)
	block := BlockLease{Block: 10, Low: 2, Life: time.Second}
	batches, err := NewBatchBook(Spec{Rate: Rate{1000, time.Second}, Burst: 100}.Bucket())
	if err != nil {
		t.Fatal(err)
	}
	batch := BatchLease{Batch: 10, Life: time.Second}
	var (
		b    Bucket
		each [1]Bucket
		h    BlockHeld
		g    BatchHeld
		now  int64
	)
	if n := testing.AllocsPerRun(1000, func() {
		now += ms
		block.Expired(&h, now)
		if block.Request(&h, now, 1).Asks() {
			if n, until := book.Lease(&b, now); n > 0 {
				block.Granted(&h, now, n)
			} else {
				block.Denied(&h, until)
			}
		}
		switch batch.Request(&g, now) {
		case LeaseAskFirst:
			if n, wait := batches.Lease(each[:], now, batch.Batch); n > 0 {
				batch.Fetched(&g, now, n)
			} else {
				batch.Denied(&g, now+int64(wait))
			}
		case LeaseSpendAndAsk:
			n, _ := batches.Lease(each[:], now, batch.Batch)
			batch.Granted(&g, now, n)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLeaseStepNames(t *testing.T) {
	seen := map[string]bool{}
	for s := LeaseSpend; s <= LeaseAskFirst+1; s++ {
		if seen[s.String()] {
			t.Errorf("two steps are called %q", s)
		}
		seen[s.String()] = true
	}
}

func BenchmarkBatchLease(b *testing.B) {
	k, err := NewBatchBook(Spec{Rate: Rate{1000, time.Second}, Burst: 100}.Bucket())
	if err != nil {
		b.Fatal(err)
	}
	l := BatchLease{Batch: 10, Life: time.Second}
	var each [1]Bucket
	var h BatchHeld
	now := int64(0)
	for b.Loop() {
		now += 900_000
		switch l.Request(&h, now) {
		case LeaseAskFirst:
			if n, wait := k.Lease(each[:], now, l.Batch); n > 0 {
				l.Fetched(&h, now, n)
			} else {
				l.Denied(&h, now+int64(wait))
			}
		case LeaseSpendAndAsk:
			n, _ := k.Lease(each[:], now, l.Batch)
			l.Granted(&h, now, n)
		}
	}
}
