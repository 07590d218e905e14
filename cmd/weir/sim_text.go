package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/sim"
)

// shownFigures bounds how many figures of one documented name the text shows.
const shownFigures = 12

// columnFigures is from how many on the figures of one documented name are a
// column over time, which the text leaves to the JSON.
const columnFigures = 60

// columnsOf counts the figures of each documented name that has so many.
func columnsOf(k *sim.Kind, names []string) map[*sim.FigureInfo]int {
	count := map[*sim.FigureInfo]int{}
	for _, name := range names {
		count[k.Explain(name)]++
	}
	for info, n := range count {
		if info == nil || n < columnFigures {
			delete(count, info)
		}
	}
	return count
}

// shownSeries bounds how many series the text draws.
const shownSeries = 6

// orderedFigures lists the names of a result's figures in the order of the
// kind's documentation, numbered ones by number.
func orderedFigures(k *sim.Kind, figures map[string]float64) []string {
	at := func(name string) int {
		for i := range k.Figures {
			if k.Explain(name) == &k.Figures[i] {
				return i
			}
		}
		return len(k.Figures)
	}
	var names []string
	for n := range figures {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if x, y := at(a), at(b); x != y {
			return x - y
		}
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}

// writeSimText answers first: what the run came to in words, its figures, and
// then what every result says.
func writeSimText(w io.Writer, s *sim.Scenario, r *report.Result, t report.TextOptions) error {
	style := newStyle(t.Color)
	var b strings.Builder
	writeColumns(&b, [][]string{{style.bold(s.Name), s.About}}, t.Width)
	b.WriteByte('\n')
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	t.Figures = figureTable(s, r)
	t.Series = plotted(&s.Kind, r.Series)
	return report.WriteText(w, r, t)
}

// plotted are the series that the kind draws, in its order.
func plotted(k *sim.Kind, all []report.Series) []report.Series {
	var list []report.Series
	for _, pattern := range k.Plots {
		prefix, open := strings.CutSuffix(pattern, "*")
		for _, x := range all {
			if len(list) < shownSeries && (x.Name == pattern || open && strings.HasPrefix(x.Name, prefix)) {
				list = append(list, x)
			}
		}
	}
	return list
}

// figureTable is the figures with their units; weir sim show has their
// meanings. Long runs of numbered ones are cut; the JSON has all.
func figureTable(s *sim.Scenario, r *report.Result) string {
	var rows [][3]string
	var last *sim.FigureInfo
	run := 0
	names := orderedFigures(&s.Kind, r.Figures)
	columns := columnsOf(&s.Kind, names)
	for _, name := range names {
		info := s.Kind.Explain(name)
		if info == nil {
			info = &sim.FigureInfo{}
		}
		if info == last {
			run++
		} else {
			last, run = info, 1
		}
		switch {
		case columns[info] > 0 && run == 1:
			rows = append(rows, [3]string{info.Name, "…", fmt.Sprintf("%d in --json", columns[info])})
		case columns[info] > 0:
		case run <= shownFigures:
			rows = append(rows, [3]string{name, sim.ShortNumber(r.Figures[name]), info.Unit})
		case run == shownFigures+1:
			rows = append(rows, [3]string{info.Name, "…", "more in --json"})
		}
	}
	wide := [3]int{} // name, before the point, from the point on
	for _, row := range rows {
		whole, part := splitPoint(row[1])
		wide = [3]int{max(wide[0], len(row[0])), max(wide[1], whole), max(wide[2], part)}
	}
	var b strings.Builder
	for _, row := range rows {
		whole, part := splitPoint(row[1])
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%-*s  %s%s%s  %s", wide[0], row[0],
			strings.Repeat(" ", wide[1]-whole), row[1], strings.Repeat(" ", wide[2]-part), row[2]), " "))
	}
	return b.String()
}

// splitPoint counts the runes of a number before its point, and from it on.
func splitPoint(number string) (whole, part int) {
	before, _, _ := strings.Cut(number, ".")
	whole = utf8.RuneCountInString(before)
	return whole, utf8.RuneCountInString(number) - whole
}

// writeFiguresCSV writes one table: a row per figure, a row per value of each
// series, and where single requests are decided a row per count and second.
func writeFiguresCSV(w io.Writer, s *sim.Scenario, r *report.Result) error {
	c := csv.NewWriter(w)
	put := func(row, name, at string, v float64, unit string) {
		// Errors stay in the writer and come out of Error below.
		_ = c.Write([]string{row, name, at, strconv.FormatFloat(v, 'f', -1, 64), unit})
	}
	_ = c.Write([]string{"row", "name", "t", "value", "unit"})
	for _, name := range orderedFigures(&s.Kind, r.Figures) {
		unit := ""
		if info := s.Kind.Explain(name); info != nil {
			unit = info.Unit
		}
		put("figure", name, "", r.Figures[name], unit)
	}
	for _, x := range r.Series {
		for i, v := range x.Values {
			put("series", x.Name, strconv.FormatFloat(x.FromS+float64(i)*x.StepS, 'f', -1, 64), v, "")
		}
	}
	for _, x := range r.PerSecond {
		at := strconv.FormatInt(x.T, 10)
		for _, n := range []struct {
			name string
			v    int64
		}{{"offered", x.Offered}, {"admitted", x.Admitted}, {"refused", x.Refused}, {"failed", x.Failed}} {
			_ = c.Write([]string{"second", n.name, at, strconv.FormatInt(n.v, 10), "requests"})
		}
	}
	c.Flush()
	return c.Error()
}
