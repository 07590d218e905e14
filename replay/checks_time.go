package replay

import (
	"time"

	"github.com/weir-cli/weir/report"
)

// checkClock asks whether a caller whose clock is ahead gets more.
func checkClock(l *lab) outcome {
	clocked := false
	for _, h := range l.run.Halves {
		if h.Map.recorded {
			return unmade("the arguments are those of the capture, so no other clock can be given")
		}
		clocked = clocked || h.Map.clocked()
	}
	if !clocked {
		return held("the script is given no time by its caller")
	}
	u := l.fresh(l.run.sample[0].call, 0)
	last, passed := u.drain()
	if last.err != nil {
		return unmade("the script failed: %v", last.err)
	}
	if last.ok {
		return unmade("%d calls at once were not refused", passed)
	}
	const ahead = time.Hour
	again := u.try(ahead)
	if again.err == nil && again.ok {
		return found(report.High, map[string]any{"passed_before": passed, "ahead_s": ahead.Seconds()},
			"the caller's clock decides: after %d calls the next was refused, and passed at the same moment for a caller whose clock is %v ahead. Callers' clocks differ, so some get more than the limit and others are held up. Use redis.call('TIME').",
			passed, ahead)
	}
	return held("a refused call is refused to a caller whose clock is %v ahead, too", ahead)
}

// checkNoTTL looks at the keys after a call that passed and one that did not.
func checkNoTTL(l *lab) outcome {
	u := l.fresh(l.run.sample[0].call, 0)
	first := u.try(0)
	if first.err != nil {
		return unmade("the script failed: %v", first.err)
	}
	_, without, _ := l.ttls(first.touched())
	if without == "" {
		last, _ := u.drain()
		longest, still, some := l.ttls(append(first.touched(), last.touched()...))
		if without = still; without == "" {
			if !some {
				return unmade("the script kept no key")
			}
			return held("every key has a TTL, the longest %v", longest)
		}
	}
	// For ever? A year later, the same caller asks again.
	last, passed := u.drain()
	l.at(l.clock + int64(366*24*time.Hour))
	later := u.try(0)
	key := l.run.show(without[len(u.prefix):])
	if last.err == nil && !last.ok && later.err == nil && !later.ok {
		return found(report.High, map[string]any{"key": key, "passed": passed, "after_days": 366},
			"the key %q has no TTL and the script does not count by time: a caller who was refused is still refused a year later. Set a TTL with the first count, in the same script.", key)
	}
	return found(report.Medium, map[string]any{"key": key},
		"the key %q has no TTL, so every key that ever asked stays in memory. Set a TTL of at least the time until the state no longer matters, on every write.", key)
}

// checkShortTTL waits for the keys to expire and sees whether somebody gains.
func checkShortTTL(l *lab) outcome {
	if l.run.Limit == nil {
		return unmade("no --limit says how long a key must be kept")
	}
	p, err := newPure(*l.run.Limit)
	if err != nil {
		return unmade("%v", err)
	}
	u := l.fresh(l.run.sample[0].call, 0)
	var last tried
	for range drainMost {
		last = u.try(0)
		p.take(0, nil, l.clock, u.call.Cost)
		if last.err != nil || !last.ok {
			break
		}
	}
	if last.err != nil || last.ok {
		return unmade("the script refused nothing in %d calls at once", drainMost)
	}
	longest, _, some := l.ttls(last.touched())
	if !some {
		return unmade("the script kept no key with a TTL")
	}
	peek := p.take(0, nil, l.clock, 0)
	need := peek.ResetAfter
	if longest+time.Millisecond >= need {
		return held("the keys of a used-up limit live for %v, and %v are needed", longest, need)
	}
	// It is short of what is needed; does that let anybody through?
	l.at(l.clock + int64(longest) + int64(time.Millisecond))
	_, passed := u.drain()
	allowed := 0
	for range drainMost {
		if d := p.take(0, nil, l.clock, u.call.Cost); !d.OK {
			break
		}
		allowed++
	}
	if passed <= allowed {
		return held("the keys live for %v of the %v that are needed, and nobody gains by it", longest, need)
	}
	return found(report.High, map[string]any{"ttl_s": longest.Seconds(), "needed_s": need.Seconds(), "passed": passed, "allowed": allowed},
		"the keys expire after %v, before %v, when the limit is whole again: then %d calls pass at once where %s allows %d. Set the TTL to at least the time to fill.",
		longest, need, passed, l.run.Limit, allowed)
}

// grace is how much later than told a caller comes back, since clocks and
// doubles are not exact below it.
const grace = time.Millisecond

// phases are where in a second the waits are tried.
var phases = []time.Duration{0, 130 * time.Millisecond, 370 * time.Millisecond, 730 * time.Millisecond, 990 * time.Millisecond}

// checkWait comes back when told to, and well before.
func checkWait(l *lab) outcome {
	unit := l.run.Meaning.waitUnit
	if unit == 0 {
		return unmade("the reply tells no wait that is known; --wait says where it is")
	}
	tried, long := 0, 0
	var told, early time.Duration
	for _, phase := range phases {
		u := l.fresh(l.run.sample[0].call, phase)
		last, passed := u.drain()
		if last.err != nil || last.ok {
			return unmade("the script refused nothing in %d calls at once", passed)
		}
		if last.wait <= 0 {
			continue
		}
		tried++
		l.at(l.clock + int64(last.wait+grace))
		if again := u.try(0); again.err == nil && !again.ok {
			return found(report.High, map[string]any{"told_s": last.wait.Seconds(), "then_told_s": again.wait.Seconds()},
				"the told wait is too short: a caller was told to wait %v, came back then, and was refused again. Round the wait up, and count it from what is missing.", last.wait)
		}
		// A wait in whole units may be up to one longer than it must.
		if before := (last.wait - unit) * 8 / 10; before > 0 {
			u := l.fresh(l.run.sample[0].call, phase)
			u.drain()
			l.at(l.clock + int64(before))
			if t := u.try(0); t.err == nil && t.ok {
				long++
				told, early = last.wait, before
			}
		}
	}
	switch {
	case tried == 0:
		return unmade("no refusal told a wait above zero")
	case long > 0:
		return found(report.Low, map[string]any{"told_s": told.Seconds(), "passed_after_s": early.Seconds(), "of": tried, "too_long": long},
			"the told wait is too long: a caller was told to wait %v and would have passed after %v.", told, early)
	}
	return held("%d waits were as told", tried)
}
