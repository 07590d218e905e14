package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/journal"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// whySpells bounds how many spells are told one by one.
const whySpells = 10

// refusedBy puts a source into words.
var refusedBy = map[string]string{
	"store":       "the store",
	"memory":      "the gateways' memory",
	"lease":       "gateways whose lease was spent",
	"deny-cache":  "refusals of the store that were still in force",
	"local-share": "gateways' own shares, because the store did not answer",
	"closed":      "the rule's failing closed, because the store did not answer",
}

// writeWhy answers in sentences, about the caller by the name that was asked
// for: who typed it knows it, whatever the log hides.
func writeWhy(w io.Writer, asked string, a *journal.Answer, bad, width int) error {
	say := func(indent, format string, args ...any) {
		fmt.Fprintln(w, fold(fmt.Sprintf(format, args...), indent, width))
	}
	clock := clockOf(a.From, a.To)
	who := who(asked, a.Plan)
	switch {
	case a.Lines == 0:
		say("", "The log says nothing about that time.")
	case a.Name == "":
		say("", "No line names that caller, %s, between %s and %s: it was not refused then, and none of its requests was drawn for the log.", who, clock(a.From), clock(a.To))
	case len(a.Spells) == 0 && a.Sampled.Refused == 0:
		say("", "%s was not refused between %s and %s. %s", who, clock(a.From), clock(a.To), sampled(a))
	case len(a.Spells) == 0:
		say("", "%s was refused between %s and %s, but its counts are not in the log yet. %s", who, clock(a.From), clock(a.To), sampled(a))
	default:
		whySpellsText(say, who, a, clock)
	}
	if n := len(a.Versions); n > 1 {
		parts := make([]string, 0, whySpells)
		for _, v := range a.Versions[max(0, n-whySpells):] {
			parts = append(parts, fmt.Sprintf("version %d from %s", v.Version, clock(v.At)))
		}
		say("", "The rules changed: %s.", strings.Join(parts, ", "))
	}
	whyBreakers(say, a, clock)
	switch {
	case a.Name == "" || a.Name == asked:
	case slices.Contains(gateway.ShownNames(asked), a.Name):
		say("", "The log hides %s as %s.", report.Clean(asked), report.Clean(a.Name))
	default: // asked by the address
		say("", "Who called from there last is %s in the log.", report.Clean(a.Name))
	}
	if m := a.Missing; m.Lines > 0 || m.Refusals > 0 {
		say("", "note: %s and %s of callers are missing from the log: too many at once.", plural(int(m.Lines), "line"), plural(int(m.Refusals), "refusal"))
	}
	if bad > 0 {
		say("", "note: %s could not be read.", plural(bad, "line"))
	}
	return nil
}

func whySpellsText(say func(indent, format string, args ...any), who string, a *journal.Answer, clock func(time.Time) string) {
	// The worst first: a caller wants to know what held it most.
	spells := slices.Clone(a.Spells)
	slices.SortStableFunc(spells, func(x, y journal.Spell) int { return cmp.Compare(y.Refused, x.Refused) })
	worst := &spells[0]
	rule := fmt.Sprintf("rule %s", report.Clean(worst.Rule.Name))
	if worst.Limit != "" {
		rule += fmt.Sprintf(" (%s, from %s)", report.Clean(worst.Limit), report.Clean(worst.Rule.From))
	}
	say("", "%s was held at %s a second by %s.%s", who, rate(worst.AdmittedUnits, worst.Seconds()), rule, aboveRate(worst))
	for i, s := range spells {
		if i == whySpells {
			say("  ", "… and %s more.", plural(len(spells)-whySpells, "such time"))
			break
		}
		version := ""
		if s.Version > 0 {
			version = fmt.Sprintf(" under version %d", s.Version)
		}
		say("  ", "%s to %s, %s%s: %s passed (%s a second) and %s refused (%s a second). Who refused: %s.",
			clock(s.Since), clock(s.Until), strings.TrimSpace(report.Clean(s.Rule.Name)+" "+report.Clean(s.Limit)), version,
			plural(int(s.AdmittedUnits), "unit"), rate(s.AdmittedUnits, s.Seconds()),
			was(s.Refused, "request"), rate(s.Refused, s.Seconds()), sourcesText(s.RefusedBy, s.Refused))
	}
	if a.Sampled.Admitted+a.Sampled.Refused > 0 {
		say("", "%s", sampled(a))
	}
}

// aboveRate says how more than a limit's rate came to pass: a customer who was
// held at 96 a second by a limit of 80 asks.
func aboveRate(s *journal.Spell) string {
	spec, err := limit.ParseSpec(s.Limit)
	if err != nil || spec.Rate.Units == 0 || s.Seconds() <= 0 {
		return ""
	}
	steady := float64(spec.Rate.Units) * s.Seconds() / spec.Rate.Per.Seconds()
	most := float64(spec.Burst) + steady
	switch got := float64(s.AdmittedUnits); {
	case got < 1.01*steady+1:
		return ""
	case got <= most+1:
		return fmt.Sprintf(" More than the rate passed since the burst, up to %s, passes on top of it.", report.Count(spec.Burst))
	case s.RefusedBy["local-share"]+s.RefusedBy["closed"] > 0:
		return fmt.Sprintf(" That is more than its rate and its burst allow in that time, %s: meanwhile gateways decided without the store.", plural(int(most), "unit"))
	}
	return fmt.Sprintf(" That is more than its rate and its burst allow in that time, %s.", plural(int(most), "unit"))
}

func whyBreakers(say func(indent, format string, args ...any), a *journal.Answer, clock func(time.Time) string) {
	var openings int
	var first, last time.Time
	for _, t := range a.Breakers {
		if !t.Open {
			continue
		}
		if openings == 0 {
			first = t.At
		}
		openings, last = openings+1, t.At
	}
	switch {
	case openings == 1:
		say("", "Meanwhile a gateway's breaker opened at %s: the store did not answer it, and each rule decided as it is told to for that.", clock(first))
	case openings > 1:
		say("", "Meanwhile gateways' breakers opened %s, from %s to %s: the store did not answer, and each rule decided as it is told to for that.",
			plural(openings, "time"), clock(first), clock(last))
	}
}

func who(name, plan string) string {
	name = report.Clean(name)
	if plan != "" {
		name += " (plan " + report.Clean(plan) + ")"
	}
	return name
}

func sampled(a *journal.Answer) string {
	s := a.Sampled
	return fmt.Sprintf("The log shows %s one by one: %s passed, %s refused.",
		plural(int(s.Admitted+s.Refused), "decision"), report.Count(s.Admitted), report.Count(s.Refused))
}

func was(n int64, noun string) string {
	verb := " were"
	if n == 1 {
		verb = " was"
	}
	return plural(int(n), noun) + verb
}

func rate(n int64, seconds float64) string {
	if seconds <= 0 {
		return "?"
	}
	if r := float64(n) / seconds; r >= 1000 {
		return report.Count(int64(math.Round(r)))
	}
	return fmt.Sprintf("%.1f", float64(n)/seconds)
}

// sourcesText lists who refused, most first.
func sourcesText(by map[string]int64, all int64) string {
	names := slices.SortedFunc(maps.Keys(by), func(x, y string) int {
		return cmp.Or(cmp.Compare(by[y], by[x]), cmp.Compare(x, y))
	})
	parts := make([]string, 0, len(names))
	for _, name := range names {
		text := refusedBy[name]
		if text == "" {
			text = report.Clean(name)
		}
		parts = append(parts, fmt.Sprintf("%s %.0f%%", text, 100*float64(by[name])/float64(max(1, all))))
	}
	return strings.Join(parts, ", ")
}

// clockOf writes instants as briefly as the span between two allows, in UTC.
func clockOf(from, to time.Time) func(time.Time) string {
	layout := "15:04:05"
	if from.UTC().Format(time.DateOnly) != to.UTC().Format(time.DateOnly) || to.Sub(from) > 12*time.Hour {
		layout = "2006-01-02 15:04:05"
	}
	return func(t time.Time) string { return t.UTC().Format(layout) }
}
