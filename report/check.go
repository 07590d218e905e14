package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// CheckExpr is a parsed expectation on one figure, such as "refused_share<5%"
// or "p99<200ms".
type CheckExpr struct {
	Text   string
	Figure string // full path
	Op     string
	Value  float64 // in the figure's own unit
}

// CheckError says what is wrong with an expectation and what to type instead.
type CheckError struct {
	Text, Problem string
	Near          []string // figures with a similar name
}

func (e *CheckError) Error() string {
	s := fmt.Sprintf("check %q: %s", e.Text, e.Problem)
	if len(e.Near) > 0 {
		s += "; did you mean " + strings.Join(e.Near, ", ") + "?"
	}
	return s
}

// ops in the order in which they must be looked for.
var ops = []string{"<=", ">=", "==", "!=", "<", ">"}

// ParseCheck reads FIGURE OP VALUE. The figure is any name of [Figures] or a
// short form; the value a number with %, k or M, or a duration where the
// figure is a time. Whatever is wrong is a *CheckError.
func ParseCheck(text string) (CheckExpr, error) { return ParseCheckOn(text, nil, nil) }

// ParseCheckOn is ParseCheck for a result that will have figures of its own
// (Result.Figures): own tells which names are, names is a choice of them for
// when one is misspelt. An own figure goes before one of the same name that
// every result has.
func ParseCheckOn(text string, own func(name string) bool, names []string) (CheckExpr, error) {
	c := CheckExpr{Text: strings.TrimSpace(text)}
	fail := func(format string, a ...any) (CheckExpr, error) {
		return c, &CheckError{Text: text, Problem: fmt.Sprintf(format, a...)}
	}
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return fail("no comparison; use one of < <= > >= == !=")
	}
	for _, op := range ops {
		if strings.HasPrefix(text[at:], op) {
			c.Op = op
			break
		}
	}
	if c.Op == "" {
		return fail("%q is no comparison; use one of < <= > >= == !=", text[at:at+1])
	}
	name := strings.TrimSpace(text[:at])
	c.Figure = name
	if own == nil || !own(name) {
		if full, ok := shortFigures[name]; ok {
			c.Figure = full
		}
		if !knownFigure(c.Figure) {
			return c, &CheckError{text, fmt.Sprintf("unknown figure %q", name), nearFigures(name, names)}
		}
	}
	v, problem := parseValue(strings.TrimSpace(text[at+len(c.Op):]), unitOf(c.Figure))
	if problem != "" {
		return fail("%s", problem)
	}
	c.Value = v
	return c, nil
}

// parseValue reads a number or, for a figure with a unit, a duration.
func parseValue(s string, unit float64) (float64, string) {
	if s == "" {
		return 0, "no value to compare with"
	}
	scale := 1.0
	num := s
	switch {
	case strings.HasSuffix(s, "%"):
		num, scale = s[:len(s)-1], 0.01
	case strings.HasSuffix(s, "k"):
		num, scale = s[:len(s)-1], 1e3
	case strings.HasSuffix(s, "M"):
		num, scale = s[:len(s)-1], 1e6
	}
	if v, err := strconv.ParseFloat(num, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v * scale, ""
	}
	if d, err := time.ParseDuration(s); err == nil {
		if unit == 0 {
			return 0, fmt.Sprintf("%q is a duration and the figure is not a time", s)
		}
		return float64(d) / unit, ""
	}
	return 0, fmt.Sprintf("%q is not a number", s)
}

// blankFigures are the names that every result has.
var blankFigures = allFigures(&Result{Bound: &Bound{}})

func knownFigure(name string) bool {
	if _, ok := blankFigures[name]; ok || open(name) {
		return true
	}
	if length, ok := strings.CutPrefix(name, "max_in."); ok {
		d, err := time.ParseDuration(length)
		return err == nil && d > 0
	}
	return false
}

// nearFigures finds up to five names that share a part with name or are a few
// letters away.
func nearFigures(name string, own []string) []string {
	type scored struct {
		name string
		d    int
	}
	var all []scored
	names := append(FigureNames(blankFigures), own...)
	for short := range shortFigures {
		names = append(names, short)
	}
	sort.Strings(names)
	for _, n := range slices.Compact(names) { // an own figure may be called as one of every result
		last := n[strings.LastIndexByte(n, '.')+1:]
		d := min(editDistance(name, n), editDistance(name, last))
		if d > max(2, len(name)/3) {
			if len(name) < 3 || !strings.Contains(n, name) {
				continue
			}
			d = 2
		}
		all = append(all, scored{n, d})
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].d < all[j].d })
	var out []string
	for i := 0; i < len(all) && i < 5; i++ {
		out = append(out, all[i].name)
	}
	return out
}

// editDistance is Levenshtein's, over bytes of at most 64.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost++
			}
			diag = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// Eval compares the expectation with a result's figures (see [Figures]). A
// figure that the run did not measure fails the check.
func (c CheckExpr) Eval(figures map[string]float64) Check {
	out := Check{Name: c.Text}
	v, ok := figures[c.Figure]
	if !ok && !open(c.Figure) {
		out.Detail = c.Figure + " was not measured in this run"
		if c.Figure == "worst_excess" || c.Figure == "ratio" || strings.HasPrefix(c.Figure, "bound.") {
			out.Detail += ": no limit was given to judge by"
		}
		return out
	}
	switch c.Op {
	case "<":
		out.Pass = v < c.Value
	case "<=":
		out.Pass = v <= c.Value
	case ">":
		out.Pass = v > c.Value
	case ">=":
		out.Pass = v >= c.Value
	case "==":
		out.Pass = v == c.Value
	case "!=":
		out.Pass = v != c.Value
	}
	out.Detail = fmt.Sprintf("%s is %s", c.Figure, figure(c.Figure, v))
	return out
}

// figure writes a value in the unit that its name implies.
func figure(name string, v float64) string {
	if strings.HasSuffix(name, "_share") {
		return strconv.FormatFloat(v*100, 'f', 2, 64) + "%"
	}
	s := strconv.FormatFloat(round(v, 6), 'f', -1, 64)
	switch unitOf(name) {
	case 1e6:
		return s + " ms"
	case 1e9:
		return s + " s"
	}
	return s
}

// AddChecks evaluates expectations and adds them to the result.
func (r *Result) AddChecks(checks []CheckExpr) {
	if len(checks) == 0 {
		return
	}
	f := Figures(r)
	for _, c := range checks {
		r.Checks = append(r.Checks, c.Eval(f))
	}
}

// Passed reports that every check held.
func (r *Result) Passed() bool {
	for _, c := range r.Checks {
		if !c.Pass {
			return false
		}
	}
	return true
}
