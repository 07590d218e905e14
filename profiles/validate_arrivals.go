package profiles

import (
	"fmt"
	"time"
)

// set says which fields of a are not zero.
func (a *Arrivals) set() map[string]bool {
	return map[string]bool{
		"think": a.Think != 0, "think_jitter": a.ThinkJitter != 0, "stagger": a.Stagger != 0,
		"rate": a.Rate != 0, "to": a.To != 0, "steps": len(a.Steps) > 0,
		"at": a.At != 0, "for": a.For != 0,
		"amplitude": a.Amplitude != 0, "period": a.Period != 0,
		"min": a.Min != 0, "max": a.Max != 0, "count": a.Count != 0,
		"spread": a.Spread != 0, "lead": a.Lead != 0, "file": a.File != "", "aligned": a.Aligned,
	}
}

func (c *checker) arrivals(path string, a *Arrivals) {
	takes, known := fieldsOf[a.Kind]
	switch {
	case a.Kind == "" && len(a.Steps) == 0 && a.Rate == 0:
		c.add(path, "", "is missing", "write arrivals: {kind: constant, rate: 10/s} or another kind")
		return
	case a.Kind == "":
		c.add(path+".kind", "", "is missing", OneOf("", arrivalKinds))
		return
	case !known:
		c.add(path+".kind", string(a.Kind), "is not a kind of arrivals", OneOf(string(a.Kind), arrivalKinds))
		return
	}
	c.only(path, string(a.Kind), a.set(), takes)
	const tick = time.Microsecond // the shortest period that means anything
	switch a.Kind {
	case Closed:
		c.duration(path+".think", a.Think, 0)
		if j := a.ThinkJitter; !(j >= 0 && j <= 1) {
			c.add(path+".think_jitter", formatNumber(j), "is not between 0 and 1", "write a fraction of think, such as 20%")
		}
		c.duration(path+".stagger", a.Stagger, 0)
	case Constant, Poisson:
		c.rate(path+".rate", a.Rate, false)
	case Ramp:
		c.rate(path+".rate", a.Rate, true)
		c.rate(path+".to", a.To, true)
		if a.Rate == 0 && a.To == 0 {
			c.add(path+".to", "", "is 0 and so is rate: nothing is sent", "set the rate to reach, such as to: 500/s")
		}
	case Step:
		c.steps(path, a.Steps)
	case Spike:
		c.rate(path+".rate", a.Rate, true)
		c.rate(path+".to", a.To, false)
		c.duration(path+".at", a.At, 0)
		c.duration(path+".for", a.For, tick)
	case Sine:
		c.rate(path+".rate", a.Rate, false)
		c.rate(path+".amplitude", a.Amplitude, false)
		if a.Amplitude > a.Rate {
			c.add(path+".amplitude", formatRate(a.Amplitude), "is above the rate it swings around: the rate would fall below 0",
				"at most "+formatRate(a.Rate))
		}
		c.duration(path+".period", a.Period, tick)
	case Burst:
		c.count(path+".min", a.Min, 1, MaxCalls)
		c.count(path+".max", a.Max, 1, MaxCalls)
		if a.Max < a.Min && a.Max > 0 {
			c.add(path+".max", fmt.Sprint(a.Max), fmt.Sprintf("is below min %d", a.Min), "")
		}
		c.duration(path+".period", a.Period, tick)
	case Edge:
		c.count(path+".count", a.Count, 1, MaxCalls)
		c.duration(path+".period", a.Period, tick)
		c.duration(path+".spread", a.Spread, time.Nanosecond)
		if a.Spread > a.Period/2 {
			c.add(path+".spread", a.Spread.String(), "is more than half the period: the edges would overlap",
				fmt.Sprintf("at most %v", a.Period/2))
		}
	case Expiry:
		c.duration(path+".period", a.Period, tick)
		c.duration(path+".lead", a.Lead, 0)
		c.duration(path+".stagger", a.Stagger, 0)
		if a.Lead >= a.Period && a.Period > 0 {
			c.add(path+".lead", a.Lead.String(), "is not shorter than the period", "")
		} else if a.Stagger+a.Lead > a.Period && a.Stagger <= MaxDuration {
			c.add(path+".stagger", a.Stagger.String(), "and lead together are more than the period: rounds would overlap",
				fmt.Sprintf("at most %v", a.Period-a.Lead))
		}
	case Trace:
		c.text(path+".file", a.File, MaxText, true)
	}
}

func (c *checker) steps(path string, steps []StepOf) {
	switch n := len(steps); {
	case n == 0:
		c.add(path+".steps", "", "is missing", "write steps: [{rate: 10/s, for: 10s}, {rate: 20/s, for: 10s}]")
		return
	case n > MaxSteps:
		c.add(path+".steps", "", fmt.Sprintf("has %d entries; the most is %d", n, MaxSteps), "")
		return
	}
	sends := false
	for i, s := range steps {
		at := fmt.Sprintf("%s.steps[%d]", path, i)
		c.rate(at+".rate", s.Rate, true)
		c.duration(at+".for", s.For, time.Microsecond)
		sends = sends || s.Rate != 0
	}
	if !sends {
		c.add(path+".steps", "", "have no rate above 0: nothing is sent", "")
	}
}
