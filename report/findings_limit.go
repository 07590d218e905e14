package report

import (
	"fmt"
	"math"
)

// Findings about how much was let through.

func findBroken(e *evidence) *Finding {
	b := e.r.Bound
	if b == nil || e.r.Verdict != Broken {
		return nil
	}
	length := int64((b.WorstInterval.ToS - b.WorstInterval.FromS) * 1e9)
	text := fmt.Sprintf("key %s got %s in %s, from %s s to %s s, where %s allows %s: %s too many.",
		Clean(b.Key), Count(b.WorstAdmitted), span(length), secondsText(b.WorstInterval.FromS),
		secondsText(b.WorstInterval.ToS), Clean(b.Promise), amount(b.WorstAllows), amount(b.WorstExcess))
	if b.KeysJudged > 1 {
		text += fmt.Sprintf(" %s of %s keys broke the promise.", Count(b.KeysBroken), Count(b.KeysJudged))
	}
	switch {
	case findLocal(e) != nil || e.edge() != nil || findNever(e) != nil: // those say it better
	case e.oneMore():
		more := e.judge.bucket
		text += fmt.Sprintf(" One more than the burst is what limiters allow that do not count the first call, such as nginx's limit_req with nodelay and redis-cell: burst=%d there lets %d through at once. If that is what was meant, judge by burst=%d; if not, look for a check and its update that are not one step.",
			more.burst, more.burst+1, more.burst+1)
	default:
		text += " Usual causes: counters that are not shared, a check and its update that are not one step, a clock that runs ahead, or a limit that is set higher than promised. Decide in one atomic step on one shared store, with one clock."
	}
	return &Finding{Severity: High, Text: text, Evidence: map[string]any{
		"key": b.Key, "ratio": b.Ratio, "worst_excess": b.WorstExcess, "admitted": b.WorstAdmitted,
		"allows": b.WorstAllows, "from_s": b.WorstInterval.FromS, "to_s": b.WorstInterval.ToS,
		"keys_broken": b.KeysBroken}}
}

// oneMore reports that the limiter kept a bucket's rate and at most one call
// more than its burst, with refusals to show that it counts. A quarter is for
// clocks of whole milliseconds.
func (e *evidence) oneMore() bool {
	return e.judge.kind == bucketPromise && e.refused > 0 && e.r.Bound.WorstExcess < 1.25 && e.r.Bound.KeysBroken >= 1
}

// findLocal looks for N counters that each grant the whole promise: N times
// the burst and N times the rate, with refusals to show that N is where it
// ends. Where targets are known, each must have let a full limit through.
func findLocal(e *evidence) *Finding {
	b := e.r.Bound
	if b == nil || e.r.Verdict != Broken || e.refused == 0 || e.edge() != nil {
		return nil
	}
	if n := e.fullTargets(); n >= 2 {
		return localFinding(e, n, "per-target", fmt.Sprintf(
			"each of the %d targets let about one full limit of %s through, %s in all",
			n, amount(b.Allows), Count(b.Admitted)))
	}
	n := e.multiple()
	if n < 2 {
		return nil
	}
	return localFinding(e, n, "burst-and-rate", fmt.Sprintf(
		"both the burst and the rate that came through are %d times the promise", n))
}

func localFinding(e *evidence, n int, how, seen string) *Finding {
	return &Finding{Severity: High,
		Text: fmt.Sprintf("%s: this is what %d separate local counters do. Every process counts on its own, so the fleet allows %d times the limit. Count in one shared store, or give each process its share of the limit, or send a key always to the same process. (One limiter that is set %d times too high would look the same from outside.)",
			seen, n, n, n),
		Evidence: map[string]any{"n": n, "ratio": e.r.Bound.Ratio, "by": how, "admitted": e.r.Bound.Admitted, "allows": e.r.Bound.Allows}}
}

// fullTargets is how many targets there are if each admitted about what the
// whole promise allows, else 0. Only sums per target are kept, so it takes a
// run with one key.
func (e *evidence) fullTargets() int {
	if !e.single {
		return 0
	}
	n := 0
	for _, t := range e.targets {
		if t.offered == 0 {
			continue
		}
		if share := float64(t.cost) / e.r.Bound.Allows; share < 0.85 || share > 1.15 {
			return 0
		}
		n++
	}
	return n
}

// multiple is the whole number N such that burst and rate are both N times the
// promise, else 0. A limiter whose clock runs fast multiplies the rate only, a
// race mostly the burst.
func (e *evidence) multiple() int {
	end := e.last
	if e.judge.kind == windowPromise {
		for _, p := range e.points {
			if p.t != e.judge.window {
				continue
			}
			n := whole(float64(p.n) / float64(e.judge.limit))
			// Two windows or more must show it, or an edge would do.
			if n >= 2 && end.t >= 2*p.t && near(e.r.Bound.Ratio, n) {
				return n
			}
		}
		return 0
	}
	if e.judge.kind != bucketPromise {
		return 0
	}
	rate, burst := 1/e.judge.tokenNs, float64(e.judge.bucket.burst)
	for _, p := range e.points {
		if p.t > end.t/2 {
			break
		}
		slope := float64(end.n-p.n) / float64(end.t-p.t)
		n := whole(slope / rate)
		jump := float64(p.n) - slope*float64(p.t)
		if n >= 2 && math.Abs(jump-float64(n)*burst) <= 0.2*float64(n)*burst+2 && near(e.r.Bound.Ratio, n) {
			return n
		}
	}
	return 0
}

// whole is the whole number that v is close to, else 0.
func whole(v float64) int {
	n := math.Round(v)
	if n < 2 || n > 100_000 || math.Abs(v-n) > math.Min(0.1*n, 0.3) {
		return 0
	}
	return int(n)
}

func near(v float64, n int) bool { return math.Abs(v-float64(n)) <= 0.1*float64(n) }

// findNever looks for a key that met no limit at all: far beyond its promise,
// and not one refusal nor a failure that might have been one.
func findNever(e *evidence) *Finding {
	b := e.r.Bound
	if b == nil || e.r.Verdict != Broken || e.refused > 0 || e.failed > 0 ||
		float64(b.WorstAdmitted) < 1.5*b.WorstAllows {
		return nil
	}
	return &Finding{Severity: High,
		Text: fmt.Sprintf("not one attempt on key %s was refused, although %s were let through where %s are promised. Usual causes: the limiter is switched off or not on this route; it counts by something else than the key that was sent, which each caller may choose anew; its state is lost between requests; a clock that runs ahead fills it up each time. See what a limited answer looks like with curl -i, and count by what the caller cannot choose.",
			Clean(b.Key), Count(b.WorstAdmitted), amount(b.WorstAllows)),
		Evidence: map[string]any{"key": b.Key, "admitted": b.WorstAdmitted, "allows": b.WorstAllows}}
}

// edgeInfo is a window edge around which nearly two limits came through.
type edgeInfo struct {
	at     int64 // ns
	length int64
	n      int64
	clock  string
}

// edge looks for a limiter that holds its limit in every aligned window and
// lets nearly two of them through around an edge.
func (e *evidence) edge() *edgeInfo {
	j := e.judge
	if j.kind != windowPromise || !e.tracked || float64(e.short.best) < 1.5*float64(j.limit) {
		return nil
	}
	for i, clock := range []string{"the start of the run", "the wall clock"} {
		if i == 1 && j.offset[1] == 0 {
			continue // unknown, or the same as the first
		}
		if e.most[i] == 0 || float64(e.most[i]) > 1.05*float64(j.limit)+2 {
			continue
		}
		// The last multiple of the window at or before the interval's end.
		at := (e.short.to+j.offset[i])/j.window*j.window - j.offset[i]
		if at < e.short.from || at <= 0 {
			continue
		}
		return &edgeInfo{at, e.short.length, e.short.best, clock}
	}
	return nil
}

func findEdge(e *evidence) *Finding {
	g := e.edge()
	if g == nil {
		return nil
	}
	return &Finding{Severity: High,
		Text: fmt.Sprintf("%s were let through inside %s around the edge at %s s, %.2f times the limit of %s per %s, while no window aligned to %s holds more than the limit. A fixed window starts afresh at its edge, so two limits fit around it. Use a token bucket, GCRA or a sliding window, or promise no more than that.",
			Count(g.n), span(g.length), secondsText(seconds(g.at)), float64(g.n)/float64(e.judge.limit),
			Count(e.judge.limit), span(e.judge.window), g.clock),
		Evidence: map[string]any{"edge_s": seconds(g.at), "admitted": g.n, "within_s": seconds(g.length),
			"limit": e.judge.limit, "window_s": seconds(e.judge.window), "aligned_to": g.clock,
			"from_s": seconds(e.short.from), "to_s": seconds(e.short.to)}}
}

func findUnder(e *evidence) *Finding {
	if e.shortKeys == 0 {
		return nil
	}
	return &Finding{Severity: Medium,
		Text: fmt.Sprintf("%s got less than promised: %s admitted of %s offered, where a limiter that keeps the promise lets %s of the same attempts through (worst: key %s). Usual causes: refusals that use up the limit, a limit divided over processes that do not get equal traffic, a second and lower limit behind the first, or state kept longer than needed.",
			many(e.shortKeys, "key"), Count(e.shortGot), Count(e.shortOffered), Count(e.shortModel), Clean(e.shortWorst)),
		Evidence: map[string]any{"keys": e.shortKeys, "admitted": e.shortGot, "would_admit": e.shortModel,
			"offered": e.shortOffered, "worst_key": e.shortWorst}}
}

// findCounted needs both sides: stretches of refusals longer than the limit
// takes to refill, and recovery only where the knocking had stopped.
func findCounted(e *evidence) *Finding {
	if e.paused == 0 || e.knocking > 0 || e.stretchRefused < 50 {
		return nil
	}
	return &Finding{Severity: High,
		Text: fmt.Sprintf("whoever kept knocking was never let in again: %s stretches of refusals lasted longer than the limit takes to refill (%s), and every one of them that ended did so after a pause, not while attempts went on. Refused attempts seem to use up the limit. Charge a key only for what it is granted.",
			Count(e.paused+e.stuck), span(e.judge.recover)),
		Evidence: map[string]any{"recovered_after_pause": e.paused, "recovered_while_knocking": e.knocking,
			"never_recovered": e.stuck, "refused": e.stretchRefused, "refill_s": seconds(e.judge.recover)}}
}

func findStarved(e *evidence) *Finding {
	if e.starved < 3 || e.starved < 3*e.starvedExpected+3 || e.starved < 0.01*float64(e.starvedOf) {
		return nil
	}
	return &Finding{Severity: Medium,
		Text: fmt.Sprintf("%s of %s clients made at least %d attempts and never got in, although their keys did; even odds would leave out about %s. Usual causes: whoever retries fastest takes every token, or one process never has any left. Queue fairly, or limit per client beside the shared limit.",
			Count(int64(e.starved)), Count(e.starvedOf), starvedAfter, amount(math.Round(e.starvedExpected))),
		Evidence: map[string]any{"starved": int64(e.starved), "expected": round(e.starvedExpected, 2),
			"clients": e.starvedOf, "jain": e.r.Fairness.Jain}}
}
