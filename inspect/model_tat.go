package inspect

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// The model "tat": one instant, the theoretical arrival time of the next call
// under GCRA. A call of n passes when TAT + n×T − burst×T is not in the future,
// T being the time that one call takes. arithmetic says whether the writer
// computes in doubles, of seconds, or in whole ns.

func checkTAT(l *Layout) string {
	switch {
	case l.Decode.Unit == "":
		return "needs unit"
	case l.Keys[0].Type != "string":
		return "needs a string"
	}
	return ""
}

func decodeTAT(f *frame) *verdict {
	f.r.Algorithm = limit.GCRA.String()
	m := &f.layout.Decode
	tat := f.now
	text, there := f.text(f.layout.Keys[0].Role)
	if there {
		at, ok := f.instant(text, "The arrival time")
		if !ok {
			return nil
		}
		tat = at
		full := max(at, f.now)
		f.r.FullAt = &full
	}
	rate, burst, ok := f.bucket()
	if !ok {
		return nil
	}
	v := &verdict{most: burst}
	if m.Arithmetic == "doubles" {
		v.passes = tatInDoubles(text, there, m, rate, burst)
	} else {
		each := int64(rate.Per) / rate.Units
		each = max(each, 1)
		if burst > math.MaxInt64/2/each {
			f.r.problem("too-large", "The burst takes longer than can be counted to refill.")
			return nil
		}
		v.passes = func(at, cost int64) bool {
			t := at
			if there {
				t = max(tat, at)
			}
			return t-at <= (burst-cost)*each
		}
	}
	if most := burst; tat > f.now && v.wait(f.now, most) > time.Duration(fillTime(rate, burst))+time.Second {
		f.r.problem("future", fmt.Sprintf("The arrival time is further ahead than a burst of %d can put it: a clock ran ahead, or callers with other limits share the key.", burst))
	}
	f.held(v, float64(burst)-float64(max(tat-f.now, 0))*float64(rate.Units)/float64(rate.Per))
	return v
}

// tatInDoubles computes as scripts do that keep seconds in doubles: in their
// order, so that what is lost to rounding is the same.
func tatInDoubles(text string, there bool, m *Model, rate limit.Rate, burst int64) func(at, cost int64) bool {
	n, _ := parseNumber(text)
	each := rate.Per.Seconds() / float64(rate.Units)
	offset := each * float64(burst)
	return func(at, cost int64) bool {
		us := at / 1000
		now := float64(us/1e6-m.Epoch) + float64(us%1e6)/1e6
		tat := now
		if there {
			tat = math.Max(n.double, now)
		}
		allowAt := tat + each*float64(cost) - offset
		return (now-allowAt)/each >= 0
	}
}

// fillTime is how long an empty bucket takes to fill, in ns.
func fillTime(rate limit.Rate, burst int64) int64 {
	return floorInt(float64(burst) * float64(rate.Per) / float64(rate.Units))
}

// held fills in tokens and what is used of them.
func (f *frame) held(v *verdict, tokens float64) {
	// What is lost to rounding in the writer's arithmetic is no fraction.
	if left := float64(v.remaining(f.now)); math.Abs(left-tokens) < 1e-6 {
		tokens = left
	}
	f.r.Held = &tokens
	used := v.most - floorInt(tokens)
	f.r.Used = &used
}
