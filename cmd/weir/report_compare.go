package main

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/sim"
)

// comparedFigures are what a comparison shows as text, with their units; JSON
// and CSV have every figure. --check takes the same names.
var comparedFigures = []struct{ name, unit string }{
	{"duration_s", "s"},
	{"totals.offered", "attempts"}, {"totals.admitted", "attempts"}, {"totals.refused", "attempts"},
	{"totals.failed", "attempts"}, {"totals.dropped", "attempts"}, {"totals.retries", "attempts"},
	{"admitted_share", ""}, {"refused_share", ""}, {"failed_share", ""},
	{"ratio", "of what is allowed"}, {"worst_excess", "units"}, {"max_in.1s", "on one key"}, {"max_in.10s", "on one key"},
	{"retry_after.missing", "refusals"}, {"herd.peak_10ms", "returns"}, {"fairness.jain", ""},
	{"latency_ms.from_due.p50", "ms"}, {"latency_ms.from_due.p99", "ms"}, {"latency_ms.admitted.p99", "ms"},
	{"findings", ""},
}

// savedRun is one file of a comparison.
type savedRun struct {
	File    string             `json:"file"`
	Name    string             `json:"name"`
	Verdict string             `json:"verdict"`
	Answer  string             `json:"answer"`
	Figures map[string]float64 `json:"figures"`
}

// savedRuns are several of them side by side.
type savedRuns []savedRun

func (c savedRuns) write(w io.Writer, format string, width int) error {
	switch format {
	case "json":
		return writeJSON(w, struct {
			Schema string    `json:"schema"`
			Runs   savedRuns `json:"runs"`
		}{compareSchema, c})
	case "csv":
		names := map[string]float64{}
		for _, r := range c {
			for name, v := range r.Figures {
				names[name] = v
			}
		}
		table := csv.NewWriter(w)
		if err := table.WriteAll(c.rows(report.FigureNames(names), "", func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) })); err != nil {
			return err
		}
		return table.Error()
	}
	var b strings.Builder
	var answers [][]string
	for _, r := range c {
		answers = append(answers, []string{report.Clean(r.File), r.Answer})
	}
	writeColumns(&b, answers, width)
	b.WriteByte('\n')
	var names []string
	for _, f := range comparedFigures {
		if slices.ContainsFunc(c, func(r savedRun) bool { return r.Figures[f.name] != 0 }) {
			names = append(names, f.name)
		}
	}
	sideBySide(&b, c.rows(names, "-", sim.ShortNumber), c.unit, width)
	_, err := io.WriteString(w, b.String())
	return err
}

// rows are a head and a row per figure; none stands for one that a run lacks.
func (c savedRuns) rows(names []string, none string, show func(float64) string) [][]string {
	head := []string{"figure"}
	for _, r := range c {
		head = append(head, report.Clean(r.File))
	}
	rows := [][]string{head}
	for _, name := range names {
		row := []string{name}
		for _, r := range c {
			cell := none
			if v, ok := r.Figures[name]; ok {
				cell = show(v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

func (c savedRuns) unit(name string, from, to int) (string, bool) {
	for _, r := range c[from:to] {
		if _, ok := r.Figures[name]; !ok {
			continue
		}
		for _, f := range comparedFigures {
			if f.name == name {
				return f.unit, true
			}
		}
	}
	return "", false
}
