package replay

import (
	"github.com/weir-cli/weir/report"
)

const (
	workEarly = 50   // calls until the first look
	workLate  = 1000 // and until the second
	workRuns  = 20   // calls that each look takes the mean of
	dearCost  = 200
)

// checkWork compares what a call costs on a small and on a large state.
func checkWork(l *lab) outcome {
	u := l.fresh(l.run.sample[0].call, 0)
	mean := func(until int) (float64, error) {
		for int(u.number) < until-workRuns {
			if t := u.try(0); t.err != nil {
				return 0, t.err
			}
		}
		sum := int64(0)
		for range workRuns {
			t := u.try(0)
			if t.err != nil {
				return 0, t.err
			}
			sum += t.work()
		}
		return float64(sum) / workRuns, nil
	}
	early, err := mean(workEarly)
	if err != nil {
		return unmade("the script failed: %v", err)
	}
	late, err := mean(workLate)
	if err != nil {
		return unmade("the script failed: %v", err)
	}
	if late > 2*early+8 {
		return found(report.Medium, map[string]any{"early": early, "late": late, "calls": workLate},
			"a call costs more the more calls there were: %.0f commands, arguments and values after %d calls, %.0f after %d, all for one key at once. A caller that keeps knocking makes the server slow for everybody. Count instead of listing, or bound what is read.",
			early, workEarly, late, workLate)
	}
	if l.costed() {
		cheap, dear := l.fresh(l.run.sample[0].call, 0), l.fresh(l.run.sample[0].call, 0)
		cheap.call.Cost, dear.call.Cost = 1, dearCost
		a, b := cheap.try(0), dear.try(0)
		if a.err == nil && b.err == nil && b.work() > 4*a.work()+16 {
			return found(report.Medium, map[string]any{"cost_1": a.work(), "cost_200": b.work()},
				"a call of cost %d costs %d commands, arguments and values, and one of cost 1 costs %d: the script loops over what its caller asks for. Bound the cost, or count it at once.", dearCost, b.work(), a.work())
		}
	}
	return held("a call costs %.0f commands, arguments and values after %d calls and %.0f after %d", early, workEarly, late, workLate)
}

func (t *tried) work() (sum int64) {
	for _, o := range t.obs {
		sum += o.work
	}
	return sum
}

func (l *lab) costed() bool {
	for _, h := range l.run.Halves {
		if h.Map.costed() {
			return true
		}
	}
	return false
}

// racers is how many callers read before the first of them writes.
const racers = 15

// checkHalves lets callers come between the halves of each other's checks.
func checkHalves(l *lab) outcome {
	if len(l.run.Halves) < 2 {
		return held("the check is one script, and nothing comes between its commands")
	}
	call := l.run.sample[0].call
	_, alone := l.fresh(call, 0).drain()
	if alone == drainMost {
		return unmade("%d calls at once were not refused", alone)
	}
	if alone == 0 {
		return unmade("the first call is refused already")
	}
	// Until few are left, one after another; then all at once.
	left := min(alone, 5)
	u := l.fresh(call, 0)
	for range alone - left {
		u.try(0)
	}
	reads := make([]tried, left+racers)
	for i := range reads {
		reads[i] = u.begin(0)
	}
	together := 0
	for i := range reads {
		if reads[i].err == nil {
			u.end(&reads[i], 0)
		}
		if t := u.read(reads[i]); t.err == nil && t.ok {
			together++
		}
	}
	if together > left {
		return found(report.High, map[string]any{"callers": len(reads), "left": left, "passed": together},
			"the check is made of two calls, and others come between them: of %d callers at once %d passed where %d were left. Read and write in one script.",
			len(reads), together, left)
	}
	return held("%d callers at once passed where %d were left", together, left)
}
