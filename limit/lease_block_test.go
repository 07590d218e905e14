package limit

import (
	"math/rand/v2"
	"testing"
	"time"
)

const (
	ms  = int64(time.Millisecond)
	sec = int64(time.Second)
)

func TestBlockSize(t *testing.T) {
	tests := []struct {
		rate     Rate
		gateways int64
		span     time.Duration
		least    int64
		want     int64
	}{
		{Rate{10_000, time.Second}, 20, 250 * time.Millisecond, 10, 125},
		{Rate{10_001, time.Second}, 20, 250 * time.Millisecond, 10, 126}, // rounded up
		{Rate{10, time.Second}, 20, 250 * time.Millisecond, 10, 10},      // not below the least
		{Rate{1, time.Minute}, 1, time.Minute, 1, 1},
		{Rate{1 << 60, time.Nanosecond}, 1, time.Hour, 1, maxLevel},
	}
	for _, tt := range tests {
		if got := BlockSize(tt.rate, tt.gateways, tt.span, tt.least); got != tt.want {
			t.Errorf("BlockSize(%v, %d, %v, %d) = %d, want %d", tt.rate, tt.gateways, tt.span, tt.least, got, tt.want)
		}
	}
}

// One gateway, blocks of 10, asking at 2 or fewer.
func TestBlockLeaseStory(t *testing.T) {
	l := BlockLease{Block: 10, Low: 2, Life: 10 * time.Second}
	var h BlockHeld
	step := func(now int64, want LeaseStep, tokens int64) {
		t.Helper()
		if got := l.Request(&h, now, 1); got != want || h.Tokens() != tokens {
			t.Fatalf("at %v: %v with %d left, want %v with %d", time.Duration(now), got, h.Tokens(), want, tokens)
		}
	}
	step(0, LeaseRefuseAndAsk, 0) // nothing yet
	step(1, LeaseRefuse, 0)       // one lease in flight
	l.Granted(&h, 2, 10)
	for left := int64(9); left > 2; left-- {
		step(3, LeaseSpend, left)
	}
	step(4, LeaseSpendAndAsk, 2) // spent first, then low
	step(5, LeaseSpend, 1)
	l.Denied(&h, 100)
	step(99, LeaseSpend, 0)
	step(99, LeaseRefuse, 0) // keeps away
	step(100, LeaseRefuseAndAsk, 0)
	l.Lost(&h)
	step(100, LeaseRefuseAndAsk, 0) // no answer came, so it may ask again
	l.Granted(&h, 200, 10)
	if got := l.Expired(&h, 200+10*sec-1); got != 0 {
		t.Fatalf("%d expired too early", got)
	}
	if got := l.Expired(&h, 200+10*sec); got != 10 || h.Tokens() != 0 {
		t.Fatalf("%d expired, %d left", got, h.Tokens())
	}
	l.Granted(&h, 0, 3)
	if got := h.GiveUp(); got != 3 || h.Tokens() != 0 {
		t.Fatalf("%d given up, %d left", got, h.Tokens())
	}
}

func TestBlockLeaseCosts(t *testing.T) {
	l := BlockLease{Block: 10, Low: 2}
	var h BlockHeld
	l.Granted(&h, 0, 10)
	for _, tt := range []struct {
		cost int64
		want LeaseStep
		left int64
	}{{4, LeaseSpend, 6}, {7, LeaseRefuse, 6}, {0, LeaseRefuse, 6}, {-1, LeaseRefuse, 6}, {5, LeaseSpendAndAsk, 1}} {
		if got := l.Request(&h, 1, tt.cost); got != tt.want || h.Tokens() != tt.left {
			t.Errorf("cost %d: %v with %d left, want %v with %d", tt.cost, got, h.Tokens(), tt.want, tt.left)
		}
	}
	if got := l.Expired(&h, 1<<61); got != 0 {
		t.Errorf("%d expired without a life", got)
	}
}

func mustBlockBook(t testing.TB, text string, block, gateways int64) *BlockBook {
	t.Helper()
	s, err := ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := NewBlockBook(s.Bucket(), block, gateways)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The bucket of 100 at 10/s has two blocks of 40 and then not a third: in four
// gateways' shares of time, 4*40/10 = 16 s, there is one for each.
func TestBlockBookStory(t *testing.T) {
	k := mustBlockBook(t, "10/s,burst=100", 40, 4)
	var b Bucket
	lease := func(now, granted, until int64) {
		t.Helper()
		if g, u := k.Lease(&b, now); g != granted || u != until {
			t.Fatalf("at %d: %d until %d, want %d until %d", now, g, u, granted, until)
		}
	}
	lease(0, 40, 0)
	lease(0, 40, 0)
	lease(0, 0, 16*sec)
	lease(2*sec-1, 0, 18*sec-1)
	lease(2*sec, 40, 0) // 20 left and 20 gained
	k.GiveBack(&b, 2*sec, 30)
	if got := k.Tokens(&b, 3*sec); got != 40 {
		t.Fatalf("%d tokens, want 30 given back and 10 gained", got)
	}
	k.GiveBack(&b, 3*sec, 1<<60)
	if got := k.Tokens(&b, 3*sec); got != 100 {
		t.Fatalf("%d tokens, want no more than the burst", got)
	}
	k.GiveBack(&b, 3*sec, -5)
	if got := k.Tokens(&b, 3*sec); got != 100 {
		t.Fatalf("%d tokens after giving back less than none", got)
	}
}

func TestBlockBookRefusesWhatCannotWork(t *testing.T) {
	good := Spec{Rate: Rate{10, time.Second}, Burst: 20}.Bucket()
	for _, tt := range []struct {
		field           string
		spec            BucketSpec
		block, gateways int64
	}{
		{"block", good, 21, 1}, {"block", good, 0, 1}, {"gateways", good, 20, 0},
		{"burst", BucketSpec{Rate: good.Rate}, 1, 1}, {"rate", BucketSpec{Burst: Whole(20)}, 1, 1},
	} {
		_, err := NewBlockBook(tt.spec, tt.block, tt.gateways)
		if e, ok := err.(*SpecError); !ok || e.Field != tt.field {
			t.Errorf("block %d of %v for %d gateways: error %v, want one about %s", tt.block, tt.spec, tt.gateways, err, tt.field)
		}
	}
}

// Whatever gateways do and in whatever order, the fleet admits no more than
// the bucket let go, which is burst + rate*t, and is never ahead by more than
// what gateways can hold.
func TestBlockLeasesKeepTheBound(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		burst, rate, gateways := 1+r.Int64N(200), 1+r.Int64N(50), 1+r.Int64N(8)
		block := 1 + r.Int64N(burst)
		k, err := NewBlockBook(Spec{Rate: Rate{rate, time.Second}, Burst: burst}.Bucket(), block, gateways)
		if err != nil {
			t.Fatal(err)
		}
		l := BlockLease{Block: block, Low: block / 5, Life: time.Duration(r.Int64N(3)) * time.Second}
		var b Bucket
		held := make([]BlockHeld, gateways)
		var now, admitted, grants, back int64
		for range 2000 {
			now += r.Int64N(20) * ms
			h := &held[r.IntN(len(held))]
			if n := l.Expired(h, now); n > 0 {
				k.GiveBack(&b, now, n)
				back += n
			}
			step := l.Request(h, now, 1)
			if step.Admits() {
				admitted++
			}
			if step.Asks() {
				switch g, until := k.Lease(&b, now); {
				case g > 0 && r.IntN(10) == 0:
					l.Lost(h) // those tokens are gone
					back += g
					grants++
				case g > 0:
					grants++
					l.Granted(h, now, g)
				default:
					l.Denied(h, until)
				}
			}
			if admitted*sec > burst*sec+rate*now {
				t.Fatalf("seed %d: %d admitted by %v", seed, admitted, time.Duration(now))
			}
		}
		inHand := int64(0)
		for i := range held {
			if got := held[i].Tokens(); got > l.Low+block {
				t.Fatalf("seed %d: a gateway holds %d", seed, got)
			}
			inHand += held[i].Tokens()
		}
		if admitted != grants*block-inHand-back {
			t.Fatalf("seed %d: %d admitted of %d blocks of %d with %d held and %d back", seed, admitted, grants, block, inHand, back)
		}
	}
}
