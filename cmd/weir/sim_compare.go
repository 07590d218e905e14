package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/sim"
)

func newSimCompareCmd(a *app) *cobra.Command {
	var (
		sets    []string
		seed    *seed
		console *console
		out     *output
	)
	cmd := &cobra.Command{
		Use:   "compare NAME|FILE NAME|FILE...",
		Short: "Run scenarios and put their figures side by side",
		Long: `Runs several scenarios and prints what each came to, and then their figures as
columns of a table. A --set goes to each of them that has such a parameter, so
that all see the same traffic.`,
		Example: `  weir sim compare freshbox/central-bucket freshbox/local-counters freshbox/exact-shares
  weir sim compare freshbox/sliding-log freshbox/sliding-counter --set storm_rate=1000/s --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return argNames("NAME|FILE", "NAME|FILE")(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: completeScenarios(100),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openAll(args, sets, seed)
			if err != nil {
				return err
			}
			if err := out.check(); err != nil {
				return err
			}
			interrupted := false
			for _, s := range c.scenarios {
				r, err := simulate(cmd.Context(), a, console, s, sim.Options{})
				if err != nil {
					return err
				}
				c.results = append(c.results, r)
				if interrupted = r.Interrupted; interrupted {
					break
				}
			}
			if err := out.write(a, func(w io.Writer) error { return c.write(w, out.format, a.width()) }); err != nil {
				return err
			}
			if interrupted {
				return errInterrupted
			}
			return nil
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&sets, "set", nil, "change a parameter of each scenario that has it: `path=value` (repeatable)")
	seed = newSeed(fs)
	fs.Lookup("seed").Usage = "seed of the random draws (default: each scenario's)"
	console = newConsole(fs)
	out = newOutput(fs, "text", "json", "csv")
	return cmd
}

// compareSchema names the document of several runs side by side.
const compareSchema = "weir.compare/v1"

// comparison is several runs side by side.
type comparison struct {
	scenarios []*sim.Scenario
	results   []*report.Result
	notes     []string
}

// openAll opens every scenario with those sets that it takes. A set that none
// takes is an error.
func openAll(names, sets []string, seed *seed) (*comparison, error) {
	c := &comparison{}
	taken := make([]bool, len(sets))
	var refused error
	for _, name := range names {
		var own []string
		for i, set := range sets {
			// Each is tried alone: it may mean nothing to this one.
			if _, err := openScenario(name, []string{set}, nil); err != nil && !sim.IsMisfit(err) {
				own = append(own, set) // it may be right beside the others
			} else if err != nil {
				refused = err
				path, _, _ := strings.Cut(set, "=")
				c.notes = append(c.notes, fmt.Sprintf("%s has no %s", name, path))
				continue
			} else {
				own = append(own, set)
			}
			taken[i] = true
		}
		s, err := openScenario(name, own, seed)
		if err != nil {
			return nil, err
		}
		c.scenarios = append(c.scenarios, s)
	}
	if slices.Contains(taken, false) {
		return nil, refused
	}
	return c, nil
}

// names are the documented and numbered figures of all runs, in order; without
// columns over time unless they are wanted.
func (c *comparison) names(columns bool) []string {
	all := map[string]float64{}
	kind := sim.Kind{}
	for i, r := range c.results {
		maps.Copy(all, r.Figures)
		kind.Figures = append(kind.Figures, c.scenarios[i].Kind.Figures...)
	}
	names := orderedFigures(&kind, all)
	if !columns {
		long := columnsOf(&kind, names)
		names = slices.DeleteFunc(names, func(name string) bool { return long[kind.Explain(name)] > 0 })
	}
	return names
}

func (c *comparison) write(w io.Writer, format string, width int) error {
	switch format {
	case "json":
		type run struct {
			Name       string             `json:"name"`
			About      string             `json:"about"`
			Parameters map[string]string  `json:"parameters"`
			Figures    map[string]float64 `json:"figures"`
		}
		doc := struct {
			Schema string   `json:"schema"`
			Runs   []run    `json:"runs"`
			Notes  []string `json:"notes,omitempty"`
		}{Schema: compareSchema, Notes: c.notes}
		for _, r := range c.results {
			doc.Runs = append(doc.Runs, run{r.Name, r.Model.About, r.Model.Parameters, r.Figures})
		}
		return writeJSON(w, doc)
	case "csv":
		table := csv.NewWriter(w)
		for _, row := range c.rows(true, func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }) {
			if err := table.Write(row); err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	}
	var b strings.Builder
	var answers [][]string
	for _, r := range c.results {
		answers = append(answers, []string{r.Name, report.Headline(r)})
	}
	writeColumns(&b, answers, width)
	b.WriteByte('\n')
	sideBySide(&b, c.rows(false, sim.ShortNumber), c.unit, width)
	for _, n := range c.notes {
		fmt.Fprintf(&b, "note: %s.\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unit is that of a figure in the first of some runs that reports it.
func (c *comparison) unit(name string, from, to int) (string, bool) {
	for i := from; i < min(to, len(c.results)); i++ {
		if _, ok := c.results[i].Figures[name]; ok {
			if info := c.scenarios[i].Kind.Explain(name); info != nil {
				return info.Unit, true
			}
			return "", true
		}
	}
	return "", false
}

// rows are a head and a row per figure; a figure that a run does not report is
// a dash.
func (c *comparison) rows(columns bool, show func(float64) string) [][]string {
	head := []string{"figure"}
	for _, r := range c.results {
		head = append(head, r.Name)
	}
	rows := [][]string{head}
	for _, name := range c.names(columns) {
		row := []string{name}
		for _, r := range c.results {
			cell := "-"
			if v, ok := r.Figures[name]; ok {
				cell = show(v)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}
