package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

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

// writeSimText answers first: what the scenario is about, its figures, and
// then what every result says.
func writeSimText(w io.Writer, s *sim.Scenario, r *report.Result, t report.TextOptions) error {
	style := newStyle(t.Color)
	head := fmt.Sprintf("%s  %s\n\n", style.bold(s.Name), s.About)
	if _, documented := s.Params.(sim.Documented); documented {
		if _, err := io.WriteString(w, head); err != nil {
			return err
		}
		t.Figures = figureTable(s, r)
		return report.WriteText(w, r, t)
	}
	var b strings.Builder
	b.WriteString(head)
	if r.Interrupted {
		b.WriteString("interrupted; this is what it had come to\n\n")
	}
	b.WriteString(figureTable(s, r) + "\n")
	for _, c := range r.Checks {
		word := "pass"
		if !c.Pass {
			word = "FAIL"
		}
		fmt.Fprintf(&b, "%s  %s: %s\n", word, report.Clean(c.Name), report.Clean(c.Detail))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s.\n", n)
	}
	if r.Repeat != "" {
		b.WriteString(report.RepeatLine(r))
	}
	_, err := io.WriteString(w, b.String())
	return err
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
			rows = append(rows, [3]string{name, numberText(r.Figures[name]), info.Unit})
		case run == shownFigures+1:
			rows = append(rows, [3]string{info.Name, "…", "more in --json"})
		}
	}
	wide := [2]int{}
	for _, row := range rows {
		wide = [2]int{max(wide[0], len(row[0])), max(wide[1], len([]rune(row[1])))}
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%-*s  %*s  %s", wide[0], row[0], wide[1], row[1], row[2]), " "))
	}
	return b.String()
}

// numberText is a figure with thousands set off and at most six decimals.
func numberText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return report.Count(int64(v))
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

// writeFiguresCSV writes one table: a row per figure, and a row per value of
// each series.
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
	c.Flush()
	return c.Error()
}
