package sim

// lastSpan is how much of a run's end is looked at.
const lastSpan = 30

// healthy is the share of the rate before an outage that counts as recovered.
const healthy = 0.95

func (r *backendRun) report() {
	o, p := r.o, r.p
	ends := int((p.Duration + Second - 1) / Second)
	r.second(p.Duration - 1)
	r.sec = r.sec[:ends]
	o.Set("calls", float64(r.n.calls))
	o.Set("succeeded", float64(r.n.ok))
	o.Set("failed", float64(r.n.failed))
	o.Set("attempts", float64(r.n.attempts))
	o.Set("retries", float64(r.n.retries))
	o.Set("timeouts", float64(r.n.timeouts))
	o.Set("turned_away", float64(r.n.away))
	o.Set("shed", float64(r.n.shed))
	o.Set("wasted_work", float64(r.n.wasted))
	from, to := int(p.OutageAt/Second), int((p.OutageAt+p.OutageFor)/Second)
	before := r.mean(from-10, from)
	during := r.mean(from, to)
	last := r.mean(ends-lastSpan, ends)
	o.Set("success_before_per_s", before.ok)
	o.Set("success_during_per_s", during.ok)
	o.Set("success_at_end_per_s", last.ok)
	o.Set("attempts_at_end_per_s", last.attempts)
	o.Set("amplification_in_outage", ratioOf(during.attempts, during.calls))
	o.Set("amplification_at_end", ratioOf(last.attempts, last.calls))
	recovered := 0.0
	if before.ok > 0 && last.ok >= healthy*before.ok {
		recovered = 1
	}
	o.Set("recovered", recovered)
	o.Set("recovery_s", r.recovery(to, before.ok))
	o.Set("most_waiting", float64(r.mostQueue))
	o.Set("longest_wait_s", r.longest.Seconds())
	series := []Series{{Name: "calls", Step: 1}, {Name: "attempts", Step: 1}, {Name: "succeeded", Step: 1}}
	for _, s := range r.sec {
		series[0].Values = append(series[0].Values, float64(s.calls))
		series[1].Values = append(series[1].Values, float64(s.attempts))
		series[2].Values = append(series[2].Values, float64(s.ok))
	}
	o.Series = append(o.Series, series...)
}

type backendMean struct{ calls, attempts, ok float64 }

// mean is per second over [from, to), as far as the run has it.
func (r *backendRun) mean(from, to int) backendMean {
	from, to = max(from, 0), min(to, len(r.sec))
	var m backendMean
	for i := from; i < to; i++ {
		m.calls += float64(r.sec[i].calls)
		m.attempts += float64(r.sec[i].attempts)
		m.ok += float64(r.sec[i].ok)
	}
	if n := float64(to - from); n > 0 {
		m.calls, m.attempts, m.ok = m.calls/n, m.attempts/n, m.ok/n
	}
	return m
}

// recovery looks from the end of the run for the first second from which all
// are healthy.
func (r *backendRun) recovery(outageEnds int, before float64) float64 {
	i := len(r.sec)
	for i > outageEnds && float64(r.sec[i-1].ok) >= healthy*before {
		i--
	}
	if i == len(r.sec) || before == 0 {
		return -1
	}
	return float64(i - outageEnds)
}

func ratioOf(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
