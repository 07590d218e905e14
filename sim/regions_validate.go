package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	maxRegions       = 26
	maxRegionSeconds = 1_000_000  // columns over time have an entry a second
	maxRebalances    = 10_000_000 // of all Regions together
)

// Validate refuses what cannot be simulated.
func (p *regionsParams) Validate() error {
	if err := p.regionWorld.validate(); err != nil {
		return err
	}
	n := len(p.Demands)
	if p.Design != designGrants && p.Design != designJump {
		return &ParamError{"design", fmt.Sprintf("%q is not a design", p.Design), "grants or jump"}
	}
	if len(p.Offsets) != n {
		return &ParamError{"offsets", fmt.Sprintf("has %d entries for %d Regions", len(p.Offsets), n), "one for each of demands"}
	}
	for i, at := range p.Offsets {
		if err := p.onStep(indexPath("offsets", i), at, 0); err != nil {
			return err
		}
	}
	if err := p.changes("changes", p.Changes); err != nil {
		return err
	}
	return cmp.Or(p.fault(), p.reclaim())
}

func (w *regionWorld) validate() error {
	n := len(w.Demands)
	switch {
	case n < 1 || n > maxRegions:
		return &ParamError{"demands", fmt.Sprintf("has %d entries; there are 1 to %d Regions", n, maxRegions), "demands: [7200, 3600, 1200]"}
	case w.Limit.Units <= 0:
		return &ParamError{"limit", "must be above zero", "limit: 10000"}
	case w.MaxRaise.Units <= 0:
		return &ParamError{"max_raise", "must be above zero", "max_raise: 1000"}
	}
	floors := w.Floor.rat()
	if floors.Mul(floors, wholeRat(n)).Cmp(w.Limit.rat()) > 0 {
		most := w.Limit.rat()
		most.Quo(most, wholeRat(n))
		f, _ := most.Float64()
		return &ParamError{"floor", fmt.Sprintf("%s for each of %d Regions is above the limit, %s", w.Floor, n, w.Limit), fmt.Sprintf("at most %.6g", f)}
	}
	switch {
	case w.Step <= 0 || Second%w.Step != 0:
		return &ParamError{"step", fmt.Sprintf("%s does not divide a second into whole steps", w.Step), "step: 10ms"}
	case w.Bucket < 0:
		return &ParamError{"bucket", fmt.Sprintf("%s is below zero", w.Bucket), "bucket: 2s"}
	case w.ReadDelay < 0:
		return &ParamError{"read_delay", fmt.Sprintf("%s is below zero", w.ReadDelay), "read_delay: 1s"}
	case w.Averaging <= 0:
		return &ParamError{"averaging", fmt.Sprintf("%s is not above zero", w.Averaging), "averaging: 5s"}
	case w.Within.of == nil:
		return &ParamError{"within", "is not given", "within: 1%"}
	case w.Margin < 0:
		return &ParamError{"bound_margin", fmt.Sprintf("%d is below zero", w.Margin), "bound_margin: 20000"}
	}
	if err := cmp.Or(w.onStep("duration", w.Duration, Second), w.onStep("rebalance", w.Rebalance, w.Step), w.onStep("bound_from", w.BoundFrom, 0)); err != nil {
		return err
	}
	switch {
	case w.Duration > maxRegionSeconds*Second:
		return &ParamError{"duration", fmt.Sprintf("%s is more than %d seconds", w.Duration, maxRegionSeconds), "duration: 300s"}
	case int64(w.Duration/w.Rebalance)*int64(n) > maxRebalances:
		return &ParamError{"rebalance", fmt.Sprintf("every %s over %s is more than %d rebalances", w.Rebalance, w.Duration, maxRebalances), "rebalance: 5s"}
	case w.BoundFrom >= w.Duration:
		return &ParamError{"bound_from", fmt.Sprintf("%s is not before the end, %s", w.BoundFrom, w.Duration), "bound_from: 0s"}
	}
	return nil
}

// onStep refuses a time that is too early or falls between two steps.
func (w *regionWorld) onStep(path string, at, least Micros) error {
	switch {
	case at < least:
		return &ParamError{path, fmt.Sprintf("%s is less than %s", at, least), path + ": " + max(least, w.Step).String()}
	case at%w.Step != 0:
		return &ParamError{path, fmt.Sprintf("%s is not a whole number of steps of %s", at, w.Step), path + ": " + max(least, at-at%w.Step).String()}
	}
	return nil
}

func (w *regionWorld) changes(path string, list []regionChange) error {
	for i, c := range list {
		at := indexPath(path, i)
		if regionIndex(c.Region, len(w.Demands)) < 0 {
			return &ParamError{at + ".region", fmt.Sprintf("%q is no Region", c.Region), regionList(len(w.Demands))}
		}
		if err := w.onStep(at+".at", c.At, 0); err != nil {
			return err
		}
	}
	return nil
}

func (p *regionsParams) fault() error {
	f, n := p.Fault, len(p.Demands)
	switch f.Kind {
	case faultNone:
		if len(f.Regions) > 0 {
			return &ParamError{"fault.kind", "is none, but fault.regions names " + strings.Join(f.Regions, ", "), "fault.kind: lost"}
		}
		return nil
	case faultLost, faultCutOff:
	default:
		return &ParamError{"fault.kind", fmt.Sprintf("%q is not a fault", f.Kind), "none, lost or cut-off"}
	}
	for i, name := range f.Regions {
		switch {
		case regionIndex(name, n) < 0:
			return &ParamError{indexPath("fault.regions", i), fmt.Sprintf("%q is no Region", name), regionList(n)}
		case slices.Contains(f.Regions[:i], name):
			return &ParamError{indexPath("fault.regions", i), name + " is named twice", ""}
		}
	}
	if len(f.Regions) == 0 || len(f.Regions) == n {
		return &ParamError{"fault.regions", fmt.Sprintf("names %d of %d Regions; some must be in the fault and some not", len(f.Regions), n), "fault.regions: [B]"}
	}
	return p.onStep("fault.at", f.At, 0)
}

func (p *regionsParams) reclaim() error {
	r := p.Reclaim
	if _, ok := reclaimRules[r.Rule]; !ok {
		return &ParamError{"reclaim.rule", fmt.Sprintf("%q is not a rule", r.Rule), "freeze, two-signals or silence"}
	}
	switch {
	case r.Silent < 1:
		return &ParamError{"reclaim.silent", fmt.Sprintf("%d is less than 1", r.Silent), "reclaim.silent: 3"}
	case r.HealthDelay < 0:
		return &ParamError{"reclaim.health_delay", fmt.Sprintf("%s is below zero", r.HealthDelay), "reclaim.health_delay: 30s"}
	}
	return nil
}

func regionList(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = regionName(i)
	}
	return strings.Join(names, ", ")
}
