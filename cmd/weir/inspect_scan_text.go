package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/inspect/survey"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// scanText is what scan says to people at an instant of the local clock. file is where it can be gone on from.
func scanText(s *survey.Survey, now time.Time, width int, file string) string {
	var b strings.Builder
	t := s.Tally()
	para := func(format string, args ...any) { b.WriteString(fold(fmt.Sprintf(format, args...), "", width) + "\n") }
	servers := "one server"
	if n := len(s.Nodes); n > 1 {
		servers = fmt.Sprintf("%d servers", n)
	}
	limits := plural(int(t.All.States), "limit") + " of customers"
	if t.All.States == 1 {
		limits = "1 limit of a customer"
	}
	if own := t.Own.Keys(); own > 0 {
		limits += fmt.Sprintf(", %s of weir's own", plural(int(own), "key"))
	}
	para("%s on %s, %s: %s, %s that no layout fits. %s", plural(int(t.All.Keys), "key"), servers, memory(t.All.Bytes), limits, plural(int(t.Unknown.Keys), "key"), scanLeft(t))
	switch s.Stopped {
	case "interrupted":
		para("Interrupted, so these are not all. %s", scanGoesOn(file))
	case "max-keys":
		para("Stopped at --max-keys, so these are not all. %s", scanGoesOn(file))
	case "failed":
		para("Ended by an error, so these are not all. %s", scanGoesOn(file))
	}
	scanGroups(&b, t)
	for i, r := range t.Known() {
		if i == 0 {
			b.WriteByte('\n')
		}
		para("%s", strings.Join(r.Sentences(now.UnixNano()), " "))
	}
	for _, order := range survey.Orders {
		if rows := t.Tops[order].Sorted(); len(rows) > 0 {
			fmt.Fprintf(&b, "\n%s\n", scanTitles[order])
			for i := range rows {
				b.WriteString(fold(scanRow(&rows[i]), "  ", width) + "\n")
			}
		}
	}
	if len(t.Problems) > 0 {
		fmt.Fprintf(&b, "\nOdd, which weir inspect doctor explains\n")
		for _, id := range slices.Sorted(maps.Keys(t.Problems)) {
			p := t.Problems[id]
			b.WriteString(fold(fmt.Sprintf("%s: %s, such as %s. %s", id, report.Count(p.States), report.Clean(p.Key), p.Text), "  ", width) + "\n")
		}
	}
	b.WriteByte('\n')
	para("%s", scanCost(s))
	for _, n := range s.Notes {
		para("%s", n)
	}
	for _, x := range s.Blind {
		para("Not allowed: %s, so it is not known %s. redis-cli ACL SETUSER NAME %s", x.Command, x.Lost, x.Rule)
	}
	return b.String()
}

var scanTitles = map[string]string{
	"out": "Nothing left, the longest wait first", "used": "Used the most", "hottest": "Hottest, by last use or the server's own count",
	"biggest": "Biggest", "oldest": "Longest unused", "no-ttl": "Without a time to live, the biggest first",
}

func scanLeft(t *survey.Tally) string {
	switch {
	case t.All.States == 0:
		return ""
	case t.All.Known == 0:
		return "No limit is known, so it cannot be told who has nothing left; --limit says it."
	}
	text := fmt.Sprintf("%s have nothing left", report.Count(t.All.Out))
	if other := t.All.States - t.All.Known; other > 0 {
		text += fmt.Sprintf("; of %s the limit is not known", report.Count(other))
	}
	return text + "."
}

func scanGoesOn(file string) string {
	if file == "" {
		return "With --resume FILE such a scan can be gone on with."
	}
	return "The same command goes on with it: it is in " + report.Clean(file) + "."
}

// scanGroups are the tables by layout, by rule and of what is not known.
func scanGroups(b *strings.Builder, t *survey.Tally) {
	const rows = 12
	table := func(title string, groups []scanGroupJSON, name func(g *scanGroupJSON) string) {
		if len(groups) == 0 {
			return
		}
		fmt.Fprintf(b, "\n%-36s %10s %10s %9s %9s %9s\n", title, "keys", "limits", "memory", "out", "no TTL")
		for i := range groups {
			g := &groups[i]
			text := g.Name
			if !g.Other {
				text = name(g)
			}
			out := report.Count(g.Out)
			if g.Known == 0 {
				out = "-"
			}
			if columns(text) > 36 {
				text += "\n" + strings.Repeat(" ", 36)
			}
			fmt.Fprintf(b, "%-36s %10s %10s %9s %9s %9s\n", text, report.Count(g.Keys), report.Count(g.States), memory(g.Bytes), out, report.Count(g.NoTTL))
		}
	}
	table("By layout", groupsOf(&t.Layouts, rows, func(g *scanGroupJSON, name string) { g.Name = report.Clean(name) }), func(g *scanGroupJSON) string { return g.Name })
	table("By rule", groupsOf(&t.Rules, rows, func(g *scanGroupJSON, name string) {
		layout, rule, _ := strings.Cut(name, "\x00")
		g.Name, g.Rule = report.Clean(layout), report.Clean(rule)
	}), func(g *scanGroupJSON) string { return g.Name + " " + g.Rule })
	table("Weir's own, no limits", groupsOf(&t.Own, rows, func(g *scanGroupJSON, name string) { g.Name = ownNames[name] }), func(g *scanGroupJSON) string { return g.Name })
	table("Of no layout, by name", groupsOf(&t.Stems, rows, func(g *scanGroupJSON, name string) {
		kind, stem, _ := strings.Cut(name, "\x00")
		g.Name, g.Type = report.Clean(stem), report.Clean(kind)
	}), func(g *scanGroupJSON) string { return g.Type + " " + g.Name + "…" })
}

// ownNames are what weir keeps beside limits, by kind.
var ownNames = map[string]string{
	inspect.RecordRules: "the rules", inspect.RecordHistory: "the rules' history", inspect.RecordMeter: "what gateways metered",
}

// scanRow is one key in a line.
func scanRow(r *survey.Row) string {
	facts := []string{}
	if r.Layout != "" {
		facts = append(facts, report.Clean(r.Layout))
	}
	if r.Own != "" {
		facts = append(facts, ownNames[r.Own])
	}
	switch {
	case r.Used != nil && r.Capacity != nil:
		facts = append(facts, fmt.Sprintf("used %d of %d", *r.Used, *r.Capacity))
	case r.Used != nil:
		facts = append(facts, fmt.Sprintf("used %d", *r.Used))
	}
	if r.Wait != nil {
		switch wait := time.Duration(*r.Wait); wait {
		case 0:
		case limit.Never:
			facts = append(facts, "never passes")
		case limit.Unknown:
			facts = append(facts, "passes when a slot is given back")
		default:
			facts = append(facts, "passes in "+limit.ShortDuration(roundWait(wait)))
		}
	}
	if r.Bytes >= 0 {
		facts = append(facts, memory(r.Bytes))
	}
	switch {
	case r.Frequency >= 0:
		facts = append(facts, fmt.Sprintf("frequency %d", r.Frequency))
	case r.Idle >= 0:
		facts = append(facts, "idle "+limit.ShortDuration(time.Duration(r.Idle)))
	}
	if r.TTL == int64(inspect.NoTTL) {
		facts = append(facts, "no TTL")
	}
	if r.Node != "" {
		facts = append(facts, "on "+report.Clean(r.Node))
	}
	return report.Clean(r.Key) + "  " + strings.Join(facts, ", ")
}

func roundWait(d time.Duration) time.Duration {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Microsecond)
}

func scanCost(s *survey.Survey) string {
	c := s.Cost()
	took := time.Duration(c.Took)
	text := fmt.Sprintf("It took %s and sent %s commands, all reads; %s went there and %s came back.", limit.ShortDuration(took.Round(time.Millisecond)), report.Count(c.Commands), memory(c.Sent), memory(c.Received))
	if c.CPUKnown {
		share := 0.0
		if took > 0 {
			share = c.CPU / took.Seconds() * 100
		}
		text += fmt.Sprintf(" Meanwhile the server used %.2f s of CPU, %.0f%% of a core, in which it also served %s commands of others.", c.CPU, share, report.Count(c.Others))
	}
	return text
}

// memory is a number of bytes in the unit that fits.
func memory(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
