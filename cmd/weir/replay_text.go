package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
)

// replayFigures are the figures that a replay has beside every result's.
var replayFigures = []string{"broken_lines", "backwards", "keys_refused", "against_differs", "recorded_differs", "script_failed"}

func replayFigure(name string) bool { return slices.Contains(replayFigures, name) }

// replayValues fills them in; what was not compared is not there.
func replayValues(r *report.Result) map[string]float64 {
	p := r.Replay
	f := map[string]float64{"broken_lines": float64(p.Trace.Broken), "backwards": float64(p.Trace.Backwards), "keys_refused": float64(p.RefusedKeys)}
	if p.Against != nil {
		f["against_differs"] = float64(p.Against.Differing())
	}
	if p.Recorded != nil {
		f["recorded_differs"] = float64(p.Recorded.Differing())
	}
	if p.Script != nil {
		f["script_failed"] = float64(p.Script.Failed)
	}
	return f
}

func (o *replayOptions) render(w io.Writer, r *report.Result) error {
	switch o.out.format {
	case "json":
		return report.WriteJSON(w, r)
	case "csv":
		return report.WriteCSV(w, r)
	case "junit":
		return report.WriteJUnit(w, r)
	}
	return report.WriteText(w, r, report.TextOptions{Width: o.app.width(), Color: o.console.color(o.app) && o.out.toStdout(), Plot: true, Figures: replayText(r.Replay)})
}

// replayText is what a replay says before the figures of every result.
func replayText(p *report.Replay) string {
	var b bytes.Buffer
	t := &p.Trace
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", label, fmt.Sprintf(format, args...))
	}
	line("trace", "%s (%s): %s over %s", report.Clean(t.Name), t.Format, plural(int(t.Calls), "call"), spanText(t.SpanS))
	if t.Passed > 0 {
		line("", "%s passed over, which are no calls", plural(int(t.Passed), "line"))
	}
	if t.Broken > 0 {
		line("broken", "%s", plural(int(t.Broken), "line"))
		for _, l := range t.FirstBroken {
			line("", "line %d: %s", l.Line, strings.TrimSuffix(l.Why+": "+l.Text, ": "))
		}
	}
	if t.Backwards > 0 {
		line("backwards", "%s with a time before the newest so far, by %s at most; they count as of the newest", plural(int(t.Backwards), "call"), spanText(t.MostBackS))
	}
	if p.RefusedKeys > 0 {
		line("refused", "%s", plural(int(p.RefusedKeys), "key"))
		for i, k := range p.Refused {
			if i == 5 {
				break
			}
			line("", "%s: %s of %s, from %s s to %s s", k.Key, report.Count(k.Refused), report.Count(k.Offered), secondsOf(k.FirstS), secondsOf(k.LastS))
		}
	}
	for _, r := range replay.ByRefusals(p.Rules) {
		verb := "refuses"
		if r.Shadow {
			verb = "is in shadow mode and would refuse"
		}
		line("rule", "%s %s %s of %s", report.Clean(r.Rule), verb, report.Count(r.Refused), report.Count(r.Offered))
	}
	for _, d := range []struct {
		label string
		d     *report.ReplayDifference
	}{{"recorded", p.Recorded}, {"against", p.Against}} {
		if d.d != nil {
			writeDifference(line, d.label, d.d)
		}
	}
	return b.String()
}

func writeDifference(line func(label, format string, args ...any), label string, d *report.ReplayDifference) {
	if d.Differing() == 0 {
		line(label, "%s decides the same on all of %s", d.With, plural(int(d.Calls), "call"))
		return
	}
	line(label, "%s decides otherwise on %s of %s, on %s", d.With, report.Count(d.Differing()), plural(int(d.Calls), "call"), plural(int(d.KeysDiffering), "key"))
	line("", "admitted here only %s, there only %s, by both %s, by neither %s", report.Count(d.OnlyHere), report.Count(d.OnlyThere), report.Count(d.BothAdmitted), report.Count(d.BothRefused))
	f := d.First
	if f == nil {
		return
	}
	at := ""
	if f.Line > 0 {
		at = fmt.Sprintf("line %d, ", f.Line)
	}
	line("", "first at %s%s s, key %s, cost %d: %s here, %s there", at, secondsOf(f.AtS), f.Key, f.Cost, f.Here, f.There)
	for _, s := range []struct{ who, before, after string }{{"here", f.Before, f.After}, {"there", f.ThereBefore, f.ThereAfter}} {
		switch {
		case s.before != "":
			line("", "  %s: %s; then %s", s.who, s.before, s.after)
		case s.after != "":
			line("", "  %s: %s", s.who, s.after)
		}
	}
}

func secondsOf(s float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", s), "0"), ".")
}

// spanText is a time in words short enough for a line.
func spanText(s float64) string {
	switch {
	case s >= 2*86400:
		return fmt.Sprintf("%.1f days", s/86400)
	case s >= 2*3600:
		return fmt.Sprintf("%.1f hours", s/3600)
	case s >= 600:
		return fmt.Sprintf("%.1f minutes", s/60)
	}
	return secondsOf(float64(int64(s*1000+0.5))/1000) + " s"
}
