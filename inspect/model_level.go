package inspect

import (
	"fmt"
	"math"

	"github.com/weir-cli/weir/limit"
)

// The model "level": what is in a bucket and the whole second of the last
// write, kept as those of the model "bucket". counts says whether that is the
// water that is "used" or the tokens "remaining"; refill is "whole-units" where
// what has come or gone since then is rounded down. Of "level-any-cost" the
// cost is added and not asked for: any passes while the bucket is not full.

func checkLevel(l *Layout) string {
	if l.Decode.Counts == "" {
		return "needs counts"
	}
	return checkBucket(l)
}

func decodeLevel(f *frame) *verdict {
	held, last, ok := f.tokensAndLast()
	rate, burst, known := f.bucket()
	water := f.layout.Decode.Counts == "used"
	f.r.Algorithm = limit.TokenBucket.String()
	if water {
		f.r.Algorithm = limit.LeakyMeter.String()
		if known {
			f.setLimit(limit.Spec{Algorithm: limit.LeakyMeter, Rate: rate, Burst: burst}, "told")
		}
	}
	if !ok {
		return nil
	}
	if !known {
		if held != nil {
			f.r.stored = "had " + amount(*held) + map[bool]string{true: " used", false: " left"}[water]
		}
		return nil
	}
	if held != nil && *held > float64(burst) {
		f.r.problem("above-capacity", fmt.Sprintf("It holds %g, more than a capacity of %d: another limit wrote it, or the limit has changed.", *held, burst))
	}
	free := leveler(&f.layout.Decode, held, last, rate, burst)
	v := &verdict{most: burst, passes: func(at, cost int64) bool { return free(at) >= float64(cost) }}
	if f.layout.Decode.Name == "level-any-cost" {
		v.any, v.passes = true, func(at, _ int64) bool { return free(at) > 0 }
	}
	f.held(v, free(f.now))
	return v
}

// leveler gives what is free at a time in unix ns.
func leveler(d *Model, held *float64, last float64, rate limit.Rate, burst int64) func(at int64) float64 {
	most := float64(burst)
	if held == nil {
		return func(int64) float64 { return most }
	}
	perUnit := float64(rate.Units) / (float64(rate.Per) / float64(units[d.Unit]))
	return func(at int64) float64 {
		moved := math.Max(0, float64(at/units[d.Unit])-last) * perUnit
		if d.Refill == "whole-units" {
			moved = math.Floor(moved)
		}
		if d.Counts == "used" {
			return most - math.Max(0, *held-moved)
		}
		return math.Min(most, *held+moved)
	}
}

// prorate: a level of water, and a key that is there while the caller is
// blocked.

func checkProrate(l *Layout) string { return needRoles(l, "tokens", "last", "block") }

func decodeProrate(f *frame) *verdict {
	block := f.keys["block"]
	v := decodeLevel(f)
	if block == nil {
		return v
	}
	until := f.alive(block)
	if until == math.MaxInt64 {
		f.r.problem("no-ttl", "The block has no time to live: the caller stays blocked for ever.")
	}
	f.r.BlockedUntil = &until
	return blockedUntil(f, "block", v, until)
}

// blockedUntil is v, which answers for the state without the block whose key
// has that role, with the block.
func blockedUntil(f *frame, role string, v *verdict, until int64) *verdict {
	if v == nil {
		return nil
	}
	delete(f.keys, role) // the state does not end with it
	f.expiry(v)
	free, gone := v.passes, v.gone
	return &verdict{most: v.most, gone: math.MaxInt64, passes: func(at, cost int64) bool {
		return at >= until && (gone != 0 && at >= gone || free(at, cost))
	}}
}

// The model "apisix-req": the excess over the rate in thousandths of a call,
// and the ms of the last call, as nginx's limit_req counts.

func checkExcess(l *Layout) string {
	if l.Keys[0].Type == "string" {
		return needRoles(l, "tokens", "last")
	}
	return checkBucket(l)
}

func decodeExcess(f *frame) *verdict {
	excess, last, ok := f.tokensAndLast()
	rate, most, known := f.bucket()
	f.r.Algorithm = limit.LeakyQueue.String()
	if !ok {
		return nil
	}
	if !known {
		if excess != nil {
			f.r.stored = "was " + amount(*excess/1000) + " calls over the rate"
		}
		return nil
	}
	f.setLimit(limit.Spec{Algorithm: limit.LeakyQueue, Rate: rate, Queue: most - 1}, "told")
	perMilli := float64(rate.Units) / (float64(rate.Per) / 1e6) * 1000
	over := func(at int64) float64 { // after one more call
		if excess == nil {
			return 0
		}
		return math.Max(0, *excess-perMilli*math.Abs(float64(at)/1e6-last)+1000)
	}
	if queued := over(f.now); queued > 0 {
		f.r.note(fmt.Sprintf("A call that passes now is held back for %s.", shownWait(int64(queued/perMilli*1e6))))
	}
	used := floorInt(math.Ceil(math.Max(0, over(f.now)-1000) / 1000))
	f.r.Used = &used
	return &verdict{most: most, passes: func(at, cost int64) bool {
		return over(at)+float64(cost-1)*1000 <= float64(most-1)*1000
	}}
}
