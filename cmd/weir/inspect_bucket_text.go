package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/report"
)

// maxSteps is how many single writes are listed.
const maxSteps = 20

// bucketDone is what came of an order.
type bucketDone struct {
	change  *inspect.Change
	now     *inspect.Reading // as it is read after the write, or would be
	dryRun  bool
	written bool
	audit   string // where it is recorded; "" when it is not
}

// bucketJSON is weir.inspect.change/v1; docs/inspect.md describes each field.
type bucketJSON struct {
	Schema  string         `json:"schema"`
	Action  inspect.Action `json:"action"`
	Units   int64          `json:"units,omitempty"`
	InMS    int64          `json:"in_ms,omitempty"`
	Layout  string         `json:"layout"`
	DryRun  bool           `json:"dry_run"`
	Written bool           `json:"written"`
	Audit   string         `json:"audit,omitempty"`
	Before  readingJSON    `json:"before"`
	After   readingJSON    `json:"after"`
	Steps   []stepJSON     `json:"steps"`
}

type stepJSON struct {
	Key  string `json:"key"`
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
}

func stepsOf(c *inspect.Change) []stepJSON {
	out := []stepJSON{}
	for _, s := range c.Steps() {
		out = append(out, stepJSON{exact(s.Key), exact(s.What), exact(s.From), exact(s.To)})
	}
	return out
}

func (d *bucketDone) print(format string, width int) func(w io.Writer) error {
	return func(w io.Writer) error {
		if format == "json" {
			c := d.change
			return writeJSON(w, bucketJSON{"weir.inspect.change/v1", c.Order.Action, c.Order.Units, c.Order.In.Milliseconds(), c.Before.Layout.Name,
				d.dryRun, d.written, d.audit, readingOf(&c.Before, 1), readingOf(d.now, 1), stepsOf(c)})
		}
		_, err := io.WriteString(w, d.text(width))
		return err
	}
}

func (d *bucketDone) text(width int) string {
	var b strings.Builder
	para := func(text string) { b.WriteString(fold(text, "", width) + "\n") }
	para("Before: " + strings.Join(d.change.Before.Sentences(1), " "))
	b.WriteByte('\n')
	if d.change.Nothing() {
		para("There is nothing to " + string(d.change.Order.Action) + ": it is so already. Nothing was written.")
		return b.String()
	}
	steps := d.change.Steps()
	for _, s := range steps[:min(len(steps), maxSteps)] {
		b.WriteString(fold(fmt.Sprintf("%s  %s: %s → %s", report.Clean(s.Key), report.Clean(s.What), shownSide(s.From), shownSide(s.To)), "  ", width) + "\n")
	}
	if more := len(steps) - maxSteps; more > 0 {
		fmt.Fprintf(&b, "  and %d more; --json has them all\n", more)
	}
	b.WriteByte('\n')
	after := strings.Join(d.now.Sentences(1), " ")
	if !d.written {
		para("Then: " + after)
		b.WriteByte('\n')
		b.WriteString(d.drained(width))
		para("Nothing was written. --yes --reason \"what it is for\" does it.")
		return b.String()
	}
	para("Now: " + after)
	b.WriteByte('\n')
	b.WriteString(d.drained(width))
	para("Written, and recorded in " + report.Clean(d.audit) + ".")
	return b.String()
}

// drained is what an operator who wants a caller out must know of a drain: it
// lasts no longer than the limit takes to let somebody in again.
func (d *bucketDone) drained(width int) string {
	if d.change.Order.Action != inspect.Drain {
		return ""
	}
	return fold("A drain keeps nobody out for long: the limit goes on to refill. Who is to stay out needs a lower limit for a while (an override, where weir serves rules), or to lose the key.", "", width) + "\n"
}

// shownSide is one side of a step.
func shownSide(s string) string {
	if s == "" {
		return "nothing"
	}
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return report.Clean(s)
}
