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
	t.band("admitted", green, admitted, solid)
	t.band("refused", red, refused, dotted)
	per := (len(r.PerSecond) + t.columns() - 1) / t.columns()
	cols := (len(r.PerSecond) + per - 1) / per * t.stretch(len(r.PerSecond))
	end := fmt.Sprintf("%d s", len(r.PerSecond))
	gap := max(cols-len("0 s")-len(end), 1)
	fmt.Fprintf(&t.b, "%s0 s%s%s", strings.Repeat(" ", plotLabel), strings.Repeat(" ", gap), end)
	if per > 1 {
		fmt.Fprintf(&t.b, "\n%s(a column is %d s and shows its mean)", strings.Repeat(" ", plotLabel), per)
	}
	t.b.WriteString("\n\n")
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
func (t *text) band(name, color string, values []int64, levels []rune) {
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
			label = fmt.Sprintf("%-9s%8s/s", name, amount(top))
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
func shrink(values []int64, width int) []float64 {
	per := max((len(values)+width-1)/width, 1)
	out := make([]float64, 0, len(values)/per+1)
	for i := 0; i < len(values); i += per {
		part := values[i:min(i+per, len(values))]
		var sum int64
		for _, v := range part {
			sum += v
		}
		out = append(out, float64(sum)/float64(len(part)))
	}
	return out
}
