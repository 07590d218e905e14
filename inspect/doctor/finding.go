package doctor

import (
	"slices"

	"github.com/weir-cli/weir/report"
)

// Finding is what one check found.
type Finding struct {
	Check
	Count    int64 // of states, customers or servers that it is about
	Examples []Example
}

// Example is one of them.
type Example struct {
	Subject string // a key, a customer or a server, as it is
	Text    string // what was seen, a sentence
}

// maxExamples bounds those of a finding.
const maxExamples = 5

// findings are by the id of their check.
type findings map[string]*Finding

func (f findings) add(id, subject, text string) {
	one := f[id]
	if one == nil {
		check, ok := Find(id)
		if !ok {
			panic("doctor: no check is called " + id)
		}
		one = &Finding{Check: check}
		f[id] = one
	}
	one.Count++
	if len(one.Examples) < maxExamples {
		one.Examples = append(one.Examples, Example{subject, text})
	}
}

// plus adds what was found elsewhere.
func (f findings) plus(o *Finding) {
	one := f[o.ID]
	if one == nil {
		c := *o
		f[o.ID] = &c
		return
	}
	one.Count += o.Count
	one.Examples = append(one.Examples[:len(one.Examples):len(one.Examples)], o.Examples...)
	one.Examples = one.Examples[:min(len(one.Examples), maxExamples)]
}

// sorted are the findings in the order of the checks.
func (f findings) sorted() []Finding {
	out := []Finding{}
	for _, c := range checks {
		if one := f[c.ID]; one != nil {
			out = append(out, *one)
		}
	}
	rank := map[report.Severity]int{report.High: 0, report.Medium: 1, report.Low: 2}
	slices.SortStableFunc(out, func(a, b Finding) int { return rank[a.Severity] - rank[b.Severity] })
	return out
}

// Grave reports whether a finding is of high severity.
func Grave(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Severity == report.High })
}
