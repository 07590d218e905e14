package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/report"
)

// servedRows bounds the table of keys.
const servedRows = 10

// writeServed is the server's own view of a run: the verdict, the books, the
// gateways and the keys that fared worst.
func writeServed(w io.Writer, r *report.Result, c gateway.Snapshot, width int) error {
	t := r.Totals
	say := func(format string, args ...any) { fmt.Fprintln(w, fold(fmt.Sprintf(format, args...), "", width)) }
	say("%s: %s offered, %s admitted, %s refused in %.1f s",
		report.Clean(r.Name), plural(int(t.Offered), "request"), report.Count(t.Admitted), report.Count(t.Refused), r.DurationS)
	switch b := r.Bound; {
	case b == nil || t.Offered == 0:
	case r.Verdict == report.Broken:
		say("The promise was broken: key %s got %s between %.3f s and %.3f s, where %s allows %.1f.",
			report.Clean(b.Key), report.Count(b.WorstAdmitted), b.WorstInterval.FromS, b.WorstInterval.ToS, report.Clean(b.Promise), b.WorstAllows)
		if c.StoodIn() != (gateway.SourceCounts{}) {
			say("The store did not answer all the time; what passed without it is in the first note.")
		}
	case b.Tested:
		say("The promise held: %s, on %s.", report.Clean(b.Promise), plural(int(b.KeysJudged), "key"))
	default:
		say("The promise held, but nobody asked for more than %s.", report.Clean(b.Promise))
	}
	if c.Store != nil && t.Offered > 0 {
		say("The store was asked %s.", plural(int(c.Store.Calls), "time"))
	}
	if len(c.PerGateway) > 1 {
		fmt.Fprintln(w)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(table, "gateway\toffered\tadmitted\trefused\t")
		for _, g := range c.PerGateway {
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t\n", g.Gateway, report.Count(g.Offered), report.Count(g.Admitted), report.Count(g.Refused))
		}
		table.Flush()
	}
	if len(r.PerKey) > 1 {
		fmt.Fprintln(w)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		head, excess := "key\toffered\tadmitted\trefused", func(report.KeyRow) string { return "" }
		if r.Bound != nil { // judged by one promise
			head, excess = head+"\tworst excess", func(k report.KeyRow) string { return fmt.Sprintf("\t%.1f", k.WorstExcess) }
		}
		fmt.Fprintln(table, head)
		for i, k := range r.PerKey {
			if i == servedRows || k.Keys > 0 {
				rest := int64(len(r.PerKey) - i)
				if last := r.PerKey[len(r.PerKey)-1]; last.Keys > 0 {
					rest += last.Keys - 1 // the last row sums up the others
				}
				fmt.Fprintf(table, "… and %s more\n", report.Count(rest))
				break
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s%s\n", report.Clean(k.Key), report.Count(k.Offered), report.Count(k.Admitted), report.Count(k.Refused), excess(k))
		}
		table.Flush()
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "\n%s %s\n%s\n", f.Severity, f.ID, fold(f.Text, "  ", width))
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range r.Notes {
		say("note: %s", report.CleanLong(n))
	}
	if r.Repeat != "" {
		fmt.Fprint(w, report.RepeatLine(r))
	}
	return nil
}
