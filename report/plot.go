package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Admitted is drawn in solid blocks, refused in dots, so that the two differ
// without colour. Each has its own scale: next to a storm of refusals the
// admissions would not show.
var (
	solid  = []rune(" ▁▂▃▄▅▆▇█")
	dotted = []rune(" ⣀⣤⣶⣿")
)

const plotRows = 3

func (t *text) plot(r *Result) {
	if len(r.PerSecond) < 2 || r.Totals.Admitted+r.Totals.Refused == 0 {
		return
	}
	admitted := make([]int64, len(r.PerSecond))
	refused := make([]int64, len(r.PerSecond))
	for i, s := range r.PerSecond {
		admitted[i], refused[i] = s.Admitted, s.Refused
	}
	if slices.Max(admitted) == 0 && slices.Max(refused) == 0 {
		return
	}
	t.band("admitted", green, floats(admitted), solid)
	t.band("refused", red, floats(refused), dotted)
	t.axis(len(r.PerSecond), 0, 1)
}

// axis is the line below the bands of n values, step seconds apart.
func (t *text) axis(n int, from, step float64) {
	per := (n + t.columns() - 1) / t.columns()
	cols := (n + per - 1) / per * t.stretch(n)
	begin, end := secondsText(from)+" s", secondsText(from+float64(n)*step)+" s"
	gap := max(cols-len(begin)-len(end), 1)
	fmt.Fprintf(&t.b, "%s%s%s%s", strings.Repeat(" ", plotLabel), begin, strings.Repeat(" ", gap), end)
	if per > 1 {
		fmt.Fprintf(&t.b, "\n%s(a column is %s s and shows its mean)", strings.Repeat(" ", plotLabel), secondsText(float64(per)*step))
	}
	t.b.WriteString("\n\n")
}

// series draws columns of values a second, each to its own scale. They begin
// at one time and have one step.
func (t *text) series(list []Series) {
	longest := 0
	for _, s := range list {
		if len(s.Values) > 1 {
			t.band(s.Name, green, s.Values, solid)
			longest = max(longest, len(s.Values))
		}
	}
	if longest > 0 {
		t.axis(longest, list[0].FromS, list[0].StepS)
	}
}

func floats(n []int64) []float64 {
	out := make([]float64, len(n))
	for i, v := range n {
		out[i] = float64(v)
	}
	return out
}

// plotLabel is the width of what stands left of the columns.
const plotLabel = 20

func (t *text) columns() int { return t.o.Width - plotLabel }

// stretch is how many columns a second takes when there are more than enough.
func (t *text) stretch(seconds int) int {
	return min(max(t.columns()/max(seconds, 1), 1), stretchMax)
}

const stretchMax = 4

// band draws one series; a value above 0 always shows.
func (t *text) band(name, color string, values []float64, levels []rune) {
	cols := shrink(values, t.columns())
	var top float64
	for _, v := range cols {
		top = max(top, v)
	}
	if top == 0 {
		return
	}
	steps, wide := len(levels)-1, t.stretch(len(values))
	for row := plotRows - 1; row >= 0; row-- {
		label := ""
		switch row {
		case plotRows - 1:
			label = fmt.Sprintf("%17s/s", amount(top))
			if utf8.RuneCountInString(name) <= 9 {
				label = fmt.Sprintf("%-9s%8s/s", name, amount(top))
			}
		case 1:
			if utf8.RuneCountInString(name) > 9 {
				label = short(name, plotLabel-1)
			}
		case 0:
			label = fmt.Sprintf("%17s/s", "0")
		}
		var b strings.Builder
		for _, v := range cols {
			level := int(v/top*float64(plotRows*steps) + 0.5)
			if v > 0 && level == 0 {
				level = 1
			}
			for range wide {
				b.WriteRune(levels[min(max(level-row*steps, 0), steps)])
			}
		}
		pad := strings.Repeat(" ", max(plotLabel-utf8.RuneCountInString(label), 0))
		line := strings.TrimRight(b.String(), " ")
		if line == "" {
			pad = ""
		}
		t.b.WriteString(strings.TrimRight(label+pad+t.paint(color, line), " ") + "\n")
	}
}

// shrink averages values so that they fit into width columns.
func shrink(values []float64, width int) []float64 {
	per := max((len(values)+width-1)/width, 1)
	out := make([]float64, 0, len(values)/per+1)
	for i := 0; i < len(values); i += per {
		part := values[i:min(i+per, len(values))]
		var sum float64
		for _, v := range part {
			sum += v
		}
		out = append(out, sum/float64(len(part)))
	}
	return out
}
