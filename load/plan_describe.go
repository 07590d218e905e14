package load

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weir-cli/weir/report"
)

// describedCalls is how many first calls [Plan.Describe] lists.
const describedCalls = 20

// Describe writes the plan as text: who calls, when, with what, the first
// calls and the totals.
func (p *Plan) Describe(w io.Writer) error {
	o := p.Outline(describedCalls)
	var b bytes.Buffer
	fmt.Fprintf(&b, "plan %s: %v, seed %d\n", o.Name, p.Duration, o.Seed)
	if o.About != "" {
		fmt.Fprintln(&b, o.About)
	}
	upTo := ""
	for i := range o.Populations {
		o.Populations[i].describe(&b)
		if o.Populations[i].NewCallers {
			upTo = "at most "
		}
	}
	fmt.Fprintln(&b)
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "planned\t%s\n", o.total())
	if o.Planned > 0 {
		fmt.Fprintf(t, "peak\t%s\n", o.peak())
	}
	fmt.Fprintf(t, "clients\t%s%s\n", upTo, report.Count(int64(o.Clients)))
	fmt.Fprintf(t, "keys\t%s\n", report.Count(int64(o.Keys)))
	t.Flush()
	fmt.Fprintf(&b, "\nthe first %d calls\n", len(o.First))
	t = tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "  due\tclient\tpopulation\tkey\tcost\troute")
	for _, c := range o.First {
		fmt.Fprintf(t, "  %.6fs\t%d\t%s\t%s\t%d\t%s\n", time.Duration(c.DueNS).Seconds(), c.Client, c.Population, c.Key, c.Cost, c.Route)
	}
	t.Flush()
	for line := range strings.Lines(b.String()) {
		// A column that is empty to the end of the line leaves blanks behind.
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// total counts the open loops' calls and names what cannot be counted.
func (o *Outline) total() string {
	open, closed := 0, 0
	for _, p := range o.Populations {
		if p.Open {
			open++
		} else {
			closed++
		}
	}
	text := report.Count(int64(o.Planned)) + " calls"
	switch {
	case open == 0:
		return "as many calls as answers allow (closed loop)"
	case !o.PlannedExact:
		text = "about " + text
	}
	if closed > 0 {
		text += ", and as many as answers allow in the closed loops"
	}
	return text
}

func (o *Outline) peak() string {
	text := fmt.Sprintf("%s calls in the second from %ds", report.Count(int64(o.PeakPerSecond)), o.PeakAtS)
	if o.PlannedExact && o.PeakOf < o.Planned || !o.PlannedExact && o.PeakOf == walked {
		text += fmt.Sprintf(" (of the first %s calls)", report.Count(int64(o.PeakOf)))
	}
	return text
}

func (p *OutlinePopulation) describe(w io.Writer) {
	fmt.Fprintf(w, "\npopulation %s\n", p.Name)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	clients := fmt.Sprintf("%s, numbers %d to %d", report.Count(int64(p.Clients)), p.FirstClient, p.FirstClient+p.Clients-1)
	if p.NewCallers {
		clients = fmt.Sprintf("a new one for every call, numbers from %d", p.FirstClient)
	}
	behaviour := p.Behaviour
	if p.MaxAttempts > 0 {
		behaviour += fmt.Sprintf(", at most %d attempts a call", p.MaxAttempts)
	}
	fmt.Fprintf(t, "  clients\t%s\n  arrivals\t%s\n  keys\t%s\n  behaviour\t%s\n", clients, p.Arrivals, p.Keys, behaviour)
	if len(p.Costs) > 0 {
		fmt.Fprintf(t, "  cost\t%s\n", strings.Join(p.Costs, ", "))
	}
	for i, r := range p.Routes {
		label := "routes"
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(t, "  %s\t%s\n", label, r)
	}
	t.Flush()
}
