package limit_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

const ms = int64(time.Millisecond)

// in builds rules in one grain.
func in(t testing.TB, specs ...limit.BucketSpec) []limit.BucketRule {
	t.Helper()
	g, err := limit.GrainFor(specs...)
	if err != nil {
		t.Fatal(err)
	}
	rules := make([]limit.BucketRule, len(specs))
	for i, s := range specs {
		if rules[i], err = s.In(g); err != nil {
			t.Fatal(err)
		}
	}
	return rules
}

func bucketSpec(units int64, per time.Duration, burst int64) limit.BucketSpec {
	return limit.BucketSpec{Rate: limit.Rate{Units: units, Per: per}, Burst: limit.Whole(burst)}
}

func TestGrain(t *testing.T) {
	third := limit.BucketSpec{Rate: limit.Rate{Units: 5, Per: 20 * time.Minute}, Burst: limit.Fraction{Num: 8, Den: 7}}
	for _, c := range []struct {
		specs []limit.BucketSpec
		want  limit.Grain
	}{
		{nil, 1e9},
		{[]limit.BucketSpec{bucketSpec(10, time.Second, 20)}, 1e9},
		{[]limit.BucketSpec{bucketSpec(10, time.Second, 20), bucketSpec(5, time.Minute, 5)}, 12e9},
		{[]limit.BucketSpec{third}, 240 * 7 * 1e9},
	} {
		if g, err := limit.GrainFor(c.specs...); err != nil || g != c.want {
			t.Errorf("%v: %d, %v, want %d", c.specs, g, err, c.want)
		}
	}
	for _, s := range []limit.BucketSpec{
		{}, bucketSpec(-1, time.Second, 1), bucketSpec(1, time.Second, 0), bucketSpec(1, time.Second, 1<<61),
		bucketSpec(1<<62, time.Second, 1), bucketSpec(1<<62, 3, 1),
		{Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: limit.Fraction{Num: 1, Den: 2}},
		{Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: limit.Whole(1), TTL: -1},
	} {
		if r, err := s.Rule(); err == nil {
			t.Errorf("%+v: %+v, want an error", s, r)
		}
	}
	if _, err := bucketSpec(1, time.Minute, 1).In(1e9); err == nil {
		t.Error("a rate of 1/60 a second is not exact in 1e-9 tokens")
	}
}

// A bucket of 10/s,20 that is asked under 20/s,40 and back.
func TestBucketChangesRule(t *testing.T) {
	rules := in(t, bucketSpec(10, time.Second, 20), bucketSpec(20, time.Second, 40))
	v1, v2 := &rules[0], &rules[1]
	var b limit.Bucket
	for i, step := range []struct {
		rule      *limit.BucketRule
		now, cost int64
		ok        bool
		remaining int64
		wait      time.Duration
	}{
		{v1, 0, 20, true, 0, 0},
		{v1, 50 * ms, 1, false, 0, 50 * time.Millisecond},
		{v2, 50 * ms, 1, false, 0, 25 * time.Millisecond},
		{v2, 75 * ms, 1, true, 0, 0},        // half a token from v1 and half from v2
		{v2, 2075 * ms, 1, true, 39, 0},     // filled to 40
		{v1, 2075 * ms, 1, true, 19, 0},     // clamped to 20, not reset
		{v2, 2075 * ms, 1, true, 18, 0},     // and what was clamped is gone
		{v2, 2075 * ms, 41, false, 18, -1},  // never
		{v1, 2075 * ms, 21, false, 18, -1},  // never
		{v1, 2075 * ms, 20, false, 18, 2e8}, // two tokens at 10/s
		{v2, 2075 * ms, 20, false, 18, 1e8}, // two tokens at 20/s
	} {
		d := b.Take(step.rule, step.now, step.cost)
		if d.OK != step.ok || d.Remaining != step.remaining || d.RetryAfter != step.wait {
			t.Errorf("step %d: %+v, want %+v", i, d, step)
		}
	}
}

// A cost above the burst takes nothing but writes: what it clamps and, under
// Follow, the time.
func TestNeverStillWrites(t *testing.T) {
	spec := bucketSpec(10, time.Second, 20)
	spec.Follow = true
	r := &in(t, spec)[0]
	var b limit.Bucket
	b.Take(r, 10*second, 20)
	if d := b.Take(r, 9*second, 21); d.RetryAfter != limit.Never {
		t.Fatalf("%+v", d)
	}
	if d := b.Take(r, 10*second, 10); !d.OK || d.Remaining != 0 {
		t.Errorf("%+v: the second before was not refilled", d)
	}
}

func TestClockBehind(t *testing.T) {
	safe := bucketSpec(10, time.Second, 20)
	follow := safe
	follow.Follow = true
	var a, b limit.Bucket
	rules := in(t, safe, follow)
	for _, now := range []int64{2 * second, 0} {
		a.Take(&rules[0], now, 20)
		b.Take(&rules[1], now, 20)
	}
	if d := a.Take(&rules[0], second, 1); d.OK || d.RetryAfter != 1100*time.Millisecond {
		t.Errorf("keeping the highest time: %+v", d)
	}
	if d := b.Take(&rules[1], second, 1); !d.OK || d.Remaining != 9 {
		t.Errorf("following: %+v", d)
	}
}

func TestBucketTTL(t *testing.T) {
	spec := bucketSpec(10, time.Second, 20)
	spec.TTL = time.Second
	r := &in(t, spec)[0]
	var b limit.Bucket
	b.Take(r, 0, 20)
	if d := b.Take(r, second-1, 0); d.Remaining != 9 {
		t.Errorf("just before it expires: %+v", d)
	}
	if d := b.Take(r, second, 0); d.Remaining != 20 {
		t.Errorf("expired: %+v", d)
	}
	b.Take(r, 900*ms, 20) // refused, but written: it lives on
	if d := b.Take(r, 1800*ms, 0); d.Remaining != 18 {
		t.Errorf("a refusal does not renew: %+v", d)
	}
}

func TestGiveAndSet(t *testing.T) {
	r := &in(t, bucketSpec(10, time.Second, 20))[0]
	var b limit.Bucket
	b.Take(r, 0, 15)
	b.Give(r, 0, 5)
	b.Give(r, 0, -5)
	if got := b.Level(r, 100*ms); got != 11*int64(r.Grain()) {
		t.Errorf("level %d", got)
	}
	b.Give(r, 0, 1<<62)
	if got := b.Level(r, 0); got != 20*int64(r.Grain()) {
		t.Errorf("given back over the burst: %d", got)
	}
	// Two callers read the same level and write what they left of it.
	read := b.Level(r, 0)
	b.Set(r, 0, read-int64(r.Grain()))
	b.Set(r, 0, read-int64(r.Grain()))
	if d := b.Take(r, 0, 0); d.Remaining != 19 {
		t.Errorf("%+v", d)
	}
	b.Set(r, 0, -1)
	if d := b.Take(r, 0, 0); d.OK || d.Remaining != 0 {
		t.Errorf("%+v", d)
	}
}

// Under one rule a bucket is the token-bucket limiter, whatever the clock does.
func TestBucketIsTheTokenBucket(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		spec := limit.Spec{
			Rate:   limit.Rate{Units: 1 + rnd.Int64N(1000), Per: time.Duration(1 + rnd.Int64N(int64(time.Minute)))},
			Burst:  1 + rnd.Int64N(100),
			Follow: rnd.IntN(2) == 0,
		}
		l := build(t, spec)
		rule, err := spec.Bucket().Rule()
		if err != nil {
			t.Logf("%v: %v", spec, err) // 1e9 and an odd denominator may not fit
			continue
		}
		var s limit.State
		var b limit.Bucket
		now := rnd.Int64N(1000*second) - 500*second
		gap := max(1, int64(float64(spec.Rate.Per)/float64(spec.Rate.Units)))
		for i := range 1000 {
			now += rnd.Int64N(4*gap) - gap/2
			if rnd.IntN(50) == 0 {
				now -= rnd.Int64N(100 * gap)
			}
			cost := rnd.Int64N(4)
			if rnd.IntN(20) == 0 {
				cost = rnd.Int64N(2*spec.Burst+2) - 1
			}
			want, got := l.Take(&s, now, cost), b.Take(&rule, now, cost)
			if want != got {
				t.Fatalf("%v follow=%v, call %d at %d cost %d: %+v, the limiter says %+v", spec, spec.Follow, i, now, cost, got, want)
			}
		}
	}
}

// modelBucket is the token bucket in rational numbers.
type modelBucket struct {
	tokens *big.Rat // nil is no state
	last   int64
}

func rate(s limit.BucketSpec) *big.Rat { return big.NewRat(s.Rate.Units, int64(s.Rate.Per)) }

func (m *modelBucket) refill(s limit.BucketSpec, now int64) (tokens *big.Rat, at int64) {
	burst := big.NewRat(s.Burst.Num, s.Burst.Den)
	at = now
	if m.tokens != nil && !s.Follow {
		at = max(now, m.last)
	}
	if m.tokens == nil || s.TTL > 0 && now-m.last >= int64(s.TTL) {
		return burst, at
	}
	tokens = new(big.Rat).SetInt64(max(0, now-m.last))
	tokens.Add(tokens.Mul(tokens, rate(s)), m.tokens)
	if tokens.Cmp(burst) > 0 {
		tokens = burst
	}
	return tokens, at
}

// wait is (cost - tokens) / rate after at, rounded up, as seen at now.
func (m *modelBucket) wait(s limit.BucketSpec, missing *big.Rat, now, at int64) time.Duration {
	w := new(big.Rat).Quo(missing, rate(s))
	n := new(big.Int).Sub(w.Num(), big.NewInt(1))
	n.Div(n, w.Denom()) // Div rounds down
	return time.Duration(n.Int64() + 1 + at - now)
}

func (m *modelBucket) take(s limit.BucketSpec, now, cost int64) (ok bool, left int64, wait time.Duration) {
	tokens, at := m.refill(s, now)
	c, burst := big.NewRat(cost, 1), big.NewRat(s.Burst.Num, s.Burst.Den)
	switch {
	case c.Cmp(burst) > 0:
		wait = limit.Never
	case tokens.Cmp(c) >= 0:
		ok, tokens = true, new(big.Rat).Sub(tokens, c)
	default:
		wait = m.wait(s, new(big.Rat).Sub(c, tokens), now, at)
	}
	m.tokens, m.last = tokens, at
	return ok, new(big.Int).Div(tokens.Num(), tokens.Denom()).Int64(), wait
}

// FuzzBucket asks one bucket under changing rules beside the rational one. A
// call is four bytes: which rule, how far the clock moves and in which unit,
// the cost.
func FuzzBucket(f *testing.F) {
	f.Add(int64(10), int64(time.Second), int64(20), int64(1), int64(20), int64(time.Second), int64(40), int64(0), []byte{0, 0, 0, 20, 0, 10, 1, 1, 1, 25, 1, 1, 2, 200, 1, 1, 3, 1, 2, 1, 0, 131, 1, 1})
	f.Add(int64(5), int64(time.Minute), int64(3), int64(2), int64(7), int64(1001*time.Millisecond), int64(40), int64(time.Second), []byte{0, 1, 3, 1, 1, 1, 3, 1, 2, 1, 3, 2, 3, 1, 3, 1, 0, 130, 3, 1})
	f.Fuzz(func(t *testing.T, u1, p1, num, den, u2, p2, b2, ttl int64, calls []byte) {
		specs := []limit.BucketSpec{
			{Rate: limit.Rate{Units: u1, Per: time.Duration(p1)}, Burst: limit.Fraction{Num: num, Den: den}},
			{Rate: limit.Rate{Units: u2, Per: time.Duration(p2)}, Burst: limit.Whole(b2), TTL: time.Duration(ttl)},
		}
		for _, s := range specs[:2] {
			s.Follow = true
			specs = append(specs, s)
		}
		g, err := limit.GrainFor(specs...)
		if err != nil {
			return
		}
		rules := make([]limit.BucketRule, len(specs))
		for i, s := range specs {
			if rules[i], err = s.In(g); err != nil {
				return
			}
		}
		var b limit.Bucket
		var m modelBucket
		now := int64(0)
		for ; len(calls) >= 4; calls = calls[4:] {
			step := int64(int8(calls[1])) << (calls[2] % 48)
			if now+step > 1<<60 || now+step < -1<<60 {
				continue
			}
			now += step
			i, cost := calls[0]%4, int64(calls[3])
			if cost == 0 {
				continue // peeks have no place in the model
			}
			d := b.Take(&rules[i], now, cost)
			ok, left, wait := m.take(specs[i], now, cost)
			if d.OK != ok || d.Remaining != left || d.RetryAfter != wait {
				t.Fatalf("%+v at %d cost %d: %+v, want %v, %d left, wait %v", specs[i], now, cost, d, ok, left, wait)
			}
		}
	})
}

func BenchmarkBucket(b *testing.B) {
	rules := in(b, bucketSpec(10, time.Second, 20), bucketSpec(20, time.Second, 40))
	b.Run("refused", func(b *testing.B) {
		var k limit.Bucket
		now := int64(0)
		b.ReportAllocs()
		for i := range b.N {
			now += 2500
			k.Take(&rules[i&1], now, 1)
		}
	})
	b.Run("admitted", func(b *testing.B) {
		var k limit.Bucket
		now := int64(0)
		b.ReportAllocs()
		for i := range b.N {
			now += 1e8
			k.Take(&rules[i&1], now, 1)
		}
	})
}
