package report

import (
	"encoding/json"
	"maps"
	"sort"
	"strings"
)

// Figures lists every number of a result under its JSON path, such as
// "totals.refused" or "latency_ms.from_due.p99", without the rows of its
// tables. Beside them stand the shares ("refused_share", of what was offered;
// "dropped_share", of what was planned), "worst_excess", "ratio" and
// "max_in.1s" and the like, the most of any key. The result's own Figures stand
// under their plain names. What was not measured is not there: a share of
// nothing, the quantiles of no attempt.
func Figures(r *Result) map[string]float64 {
	f := allFigures(r)
	if r.Totals.Offered == 0 {
		delete(f, "admitted_share")
		delete(f, "refused_share")
		delete(f, "failed_share")
	}
	if r.Totals.Planned == 0 {
		delete(f, "dropped_share")
	}
	for name, n := range f {
		if group, ok := strings.CutSuffix(name, ".count"); ok && n == 0 {
			for _, q := range []string{"mean", "p50", "p90", "p99", "p99.9", "max"} {
				delete(f, group+"."+q)
			}
		}
	}
	return f
}

// allFigures has zeros for what was not measured.
func allFigures(r *Result) map[string]float64 {
	f := map[string]float64{}
	raw, err := json.Marshal(r)
	if err != nil {
		return f // a number that JSON cannot hold; builders never make one
	}
	var tree map[string]any
	if json.Unmarshal(raw, &tree) != nil {
		return f
	}
	flatten("", tree, f)
	t := &r.Totals
	offered := float64(t.Offered)
	f["admitted_share"] = ratio(float64(t.Admitted), offered)
	f["refused_share"] = ratio(float64(t.Refused), offered)
	f["failed_share"] = ratio(float64(t.Failed), offered)
	f["dropped_share"] = ratio(float64(t.Dropped), float64(t.Planned))
	f["findings"] = float64(len(r.Findings))
	if r.Bound != nil {
		f["worst_excess"] = r.Bound.WorstExcess
		f["ratio"] = r.Bound.Ratio
	}
	maps.Copy(f, r.Figures)
	for _, k := range r.PerKey {
		for length, n := range k.MaxIn {
			name := "max_in." + length
			f[name] = max(f[name], float64(n))
		}
	}
	return f
}

func flatten(path string, v any, into map[string]float64) {
	switch v := v.(type) {
	case float64:
		into[path] = v
	case map[string]any:
		for name, x := range v {
			p := name
			if path != "" {
				p = path + "." + name
			}
			flatten(p, x, into)
		}
	}
}

// FigureNames lists the names in order.
func FigureNames(f map[string]float64) []string {
	names := make([]string, 0, len(f))
	for n := range f {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// openFigures are the prefixes under which any name may appear; one that did
// not is 0.
var openFigures = []string{"status.", "refused_statuses.", "errors.", "retry_after.values."}

func open(name string) bool {
	for _, p := range openFigures {
		if strings.HasPrefix(name, p) && len(name) > len(p) {
			return true
		}
	}
	return false
}

// shortFigures are what people type for the figures they ask for most.
var shortFigures = map[string]string{
	"p50": "latency_ms.from_due.p50", "p90": "latency_ms.from_due.p90",
	"p99": "latency_ms.from_due.p99", "p99.9": "latency_ms.from_due.p99.9",
	"max": "latency_ms.from_due.max", "mean": "latency_ms.from_due.mean",
	"late_p99": "sender.late_ms.p99", "jain": "fairness.jain",
	"planned": "totals.planned", "offered": "totals.offered", "admitted": "totals.admitted",
	"refused": "totals.refused", "failed": "totals.failed", "dropped": "totals.dropped",
	"retries": "totals.retries", "abandoned": "totals.abandoned", "in_flight": "totals.in_flight",
}

// unitOf is the unit in which a figure stands, for comparing it with a
// duration: nanoseconds per unit, or 0 when it is not a time.
func unitOf(name string) float64 {
	switch {
	case strings.HasPrefix(name, "latency_ms.") && !strings.HasSuffix(name, ".count"),
		strings.HasPrefix(name, "sender.late_ms.") && !strings.HasSuffix(name, ".count"):
		return 1e6
	case strings.HasSuffix(name, "_s"):
		return 1e9
	}
	return 0
}
