package redislimit

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// mulDiv is a*b/c rounded down.
func mulDiv(a, b, c int64) int64 {
	n := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return n.Div(n, big.NewInt(c)).Int64()
}

func TestBucketNumbers(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want string // gain, grain, most, tokens, follow
	}{
		{"10/s,burst=20", "10 1000000 20000000 20 0"},
		{"20/s,burst=40", "20 1000000 40000000 40 0"},
		{"7/m,burst=3", "7 60000000 180000000 3 0"},
		{"100000/d,burst=5", "125 108000000 540000000 5 0"},
		{"2M/s,burst=1", "2000000 1000000 1000000 1 0"},
		{"2M/s,burst=1000M", "2000000 1000000 1000000000000000 1000000000 0"},
		// Too many for the common grain, not for their own.
		{"1M/s,burst=100000M", "1 1 100000000000 100000000000 0"},
		{"3/7ns,burst=1", "3000000000 7000000 7000000 1 0"},
		{"gcra:rate=3/s,burst=2", "3 1000000 2000000 2 0"},
		{"leaky-meter:rate=3/s,burst=2", "3 1000000 2000000 2 0"},
		{"leaky-queue:rate=3/s,queue=2", "3 1000000 3000000 3 0"},
	} {
		r := compile(t, tt.spec)
		if got := strings.Join(r.numbers[:], " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.spec, got, tt.want)
		}
	}
	follow, err := Compile(limit.Spec{Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: 1, Follow: true})
	if err != nil || follow.numbers[4] != "1" {
		t.Errorf("follow: %v, %v", follow, err)
	}
}

func TestSpecsThatRedisCannotKeep(t *testing.T) {
	second := limit.Rate{Units: 1, Per: time.Second}
	for _, tt := range []struct {
		name, field string
		spec        limit.Spec
	}{
		{"nothing", "rate", limit.Spec{}},
		{"burst of 2^53", "burst", limit.Spec{Rate: limit.Rate{Units: 1e6, Per: time.Second}, Burst: 1 << 53}},
		{"prime rate and a long burst", "burst", limit.Spec{Rate: limit.Rate{Units: 1, Per: 1_000_000_007}, Burst: 1 << 24}},
		{"too fast", "rate", limit.Spec{Rate: limit.Rate{Units: 1 << 50, Per: 1}, Burst: 1}},
		{"a token in 40 years", "rate", limit.Spec{Rate: limit.Rate{Units: 1, Per: 40 * 365 * 24 * time.Hour}, Burst: 1}},
		{"seventy-three years to fill", "burst", limit.Spec{Rate: limit.Rate{Units: 1, Per: time.Hour}, Burst: 640_513}},
		{"long queue", "queue", limit.Spec{Algorithm: limit.LeakyQueue, Rate: limit.Rate{Units: 1e6, Per: time.Second}, Queue: 1 << 52}},
		{"milliseconds", "millis", limit.Spec{Algorithm: limit.LeakyMeter, Rate: second, Burst: 1, Millis: true}},
	} {
		_, err := Compile(tt.spec)
		var e *limit.SpecError
		if !errors.As(err, &e) || e.Field != tt.field || e.Hint == "" {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
