package inspect

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// The model "bucket": tokens and the time of the last refill, in two fields of
// a hash (tokens and last name them) or in two strings, whose roles are tokens
// and last. refill says in what steps tokens come back. Writers compute in
// doubles.

func checkBucket(l *Layout) string {
	switch d := &l.Decode; {
	case d.Unit == "":
		return "needs unit"
	case d.Refill == "":
		return "needs refill"
	case l.Keys[0].Type == "hash" && (d.Tokens == "" || d.Last == ""):
		return "needs tokens and last, the fields' names"
	case l.Keys[0].Type == "string":
		return needRoles(l, "tokens", "last")
	}
	return ""
}

func decodeBucket(f *frame) *verdict {
	f.r.Algorithm = limit.TokenBucket.String()
	tokens, last, ok := f.tokensAndLast()
	if !ok {
		return nil
	}
	rate, burst, known := f.bucket()
	if !known {
		if tokens != nil {
			f.r.stored = "held " + amount(*tokens) + " tokens"
		}
		return nil
	}
	level := filler(&f.layout.Decode, tokens, last, rate, burst)
	if tokens != nil && *tokens > float64(burst) {
		f.r.problem("above-capacity", fmt.Sprintf("It holds %g tokens, more than a burst of %d: another limit wrote it, or the limit has changed.", *tokens, burst))
	}
	v := &verdict{most: burst, passes: func(at, cost int64) bool { return level(at) >= float64(cost) }}
	f.held(v, level(f.now))
	return v
}

// tokensAndLast are what was left at the last write, nil for none written, and
// when that was, in the layout's unit. ok is false when they are unreadable.
func (f *frame) tokensAndLast() (tokens *float64, last float64, ok bool) {
	d := &f.layout.Decode
	var left, at string
	var hasLeft, hasAt bool
	if f.layout.Keys[0].Type == "hash" {
		e := f.keys[f.layout.Keys[0].Role]
		if e == nil || e.Type != "hash" {
			return nil, 0, e == nil
		}
		left, hasLeft = e.Fields[d.Tokens]
		at, hasAt = e.Fields[d.Last]
	} else {
		left, hasLeft = f.text("tokens")
		at, hasAt = f.text("last")
	}
	if hasLeft != hasAt {
		f.r.problem("half-missing", "One half of the state is missing, the tokens or their time: the next call finds a full bucket.")
	}
	if hasAt {
		ns, ok := f.instant(at, "The time of the last write")
		if !ok {
			return nil, 0, false
		}
		n, _ := parseNumber(at)
		last = n.double
		f.r.LastUse = &ns
		if ns > f.now+int64(time.Second)+units[d.Unit] {
			f.r.problem("future", fmt.Sprintf("The last write is %s ahead of the server's clock: the clock of who wrote it runs ahead, and nothing is refilled until then.", shownWait(ns-f.now)))
		}
	}
	if hasLeft {
		n, ok := f.number(left, "The number of tokens")
		if !ok {
			return nil, 0, false
		}
		tokens = &n.double
		if n.double < 0 {
			f.r.problem("negative", fmt.Sprintf("It holds %g tokens: more was taken than was there.", n.double))
		}
	}
	return tokens, last, true
}

// filler gives the tokens at a time in unix ns. Without tokens, or without the
// time of their write, the bucket is full.
func filler(d *Model, tokens *float64, last float64, rate limit.Rate, burst int64) func(at int64) float64 {
	most := float64(burst)
	if tokens == nil {
		return func(int64) float64 { return most }
	}
	each := float64(units[d.Unit])
	perUnit := float64(rate.Units) / (float64(rate.Per) / each)
	return func(at int64) float64 {
		now := float64(at/units[d.Unit]-d.Epoch*int64(1e9)/units[d.Unit]) + fraction(d, at)
		elapsed := math.Max(0, now-last)
		gained := elapsed * perUnit
		switch d.Refill {
		case "whole-units":
			gained = math.Floor(gained)
		case "intervals":
			gained = math.Floor(elapsed/(float64(rate.Per)/each)) * float64(rate.Units)
		}
		return math.Min(most, *tokens+gained)
	}
}

// fraction is the part of a unit that at is into it, for refills that see it.
func fraction(d *Model, at int64) float64 {
	if d.Refill == "whole-seconds" || d.Unit != "s" {
		return 0
	}
	return float64(at%1e9/1000) / 1e6
}

// decodeTraefik is the bucket of Traefik, which holds a call back for up to
// half of the time that a token takes, and so lets it owe half a token.
func decodeTraefik(f *frame) *verdict {
	f.r.Algorithm = limit.TokenBucket.String()
	tokens, last, ok := f.tokensAndLast()
	if !ok {
		return nil
	}
	rate, burst, known := f.bucket()
	if !known {
		if tokens != nil {
			f.r.stored = "held " + amount(*tokens) + " tokens"
		}
		return nil
	}
	perSecond := float64(rate.Units) / rate.Per.Seconds()
	longest := 500e3 // µs
	if perSecond >= 1 {
		longest = 1e6 / (2 * math.Floor(perSecond))
	}
	perMicro := perSecond / 1e6
	level := func(at int64) float64 {
		if tokens == nil {
			return float64(burst)
		}
		now := float64(at / 1000)
		return math.Min(float64(burst), *tokens+perMicro*(now-math.Min(now, last)))
	}
	v := &verdict{most: burst, passes: func(at, cost int64) bool {
		left := level(at) - float64(cost)
		return left >= 0 || -left/perMicro <= longest
	}}
	f.held(v, level(f.now))
	if left := level(f.now) - 1; left < 0 && v.passes(f.now, 1) {
		f.r.note(fmt.Sprintf("The next call is held back for %s and then let through.", shownWait(int64(-left/perMicro*1000))))
	}
	return v
}
