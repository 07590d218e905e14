package report

import "sort"

// finders are all findings that events alone can prove. Each is pure and
// returns nil when it has no evidence.
var finders = []struct {
	id   string
	find func(*evidence) *Finding
}{
	{"bound-broken", findBroken},
	{"local-counters", findLocal},
	{"window-edge", findEdge},
	{"never-refused", findNever},
	{"under-admits", findUnder},
	{"refusals-counted", findCounted},
	{"starvation", findStarved},
	{"reduced-capacity", findReduced},
	{"herd", findHerd},
	{"retry-after-dishonest", findDishonest},
	{"retry-after-missing", findMissing},
	{"retry-after-unparseable", findUnparseable},
	{"retry-after-suspect", findSuspect},
	{"retry-after-too-long", findTooLong},
	{"status-not-429", findStatus},
	{"refusals-as-failures", findHidden},
	{"sender-late", findLate},
}

// FindingIDs lists every finding there is, sorted.
func FindingIDs() []string {
	ids := make([]string, len(finders))
	for i, f := range finders {
		ids[i] = f.id
	}
	sort.Strings(ids)
	return ids
}

var severityRank = map[Severity]int{High: 0, Medium: 1, Low: 2}

// findings runs them all; the gravest come first.
func findings(e *evidence) []Finding {
	out := []Finding{}
	for _, f := range finders {
		if got := f.find(e); got != nil {
			got.ID = f.id
			out = append(out, *got)
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		return severityRank[out[i].Severity] < severityRank[out[j].Severity]
	})
	return out
}
