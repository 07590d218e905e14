package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/sim"
)

func newSimShowCmd(a *app) *cobra.Command {
	var (
		out  *output
		sets []string
	)
	cmd := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Show what a scenario takes and what it reports",
		Long: `Lists the parameters of a scenario with their values, the rules of the model that
it goes by, and the figures that a run reports, each with its unit and meaning.
With --format yaml it prints the file itself, as a start for one of your own.`,
		Example: `  weir sim show freshbox/store-outage
  weir sim show freshbox/central-bucket --format yaml --out mine.yaml`,
		Args:              argNames("NAME|FILE"),
		ValidArgsFunction: completeScenarios(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := openScenario(args[0], sets, nil)
			if err != nil {
				return err
			}
			return out.write(a, func(w io.Writer) error {
				switch out.format {
				case "json":
					return writeJSON(w, describeScenario(s))
				case "yaml":
					_, err := io.WriteString(w, s.YAML())
					return err
				}
				_, err := io.WriteString(w, showScenario(s, a.width()))
				return err
			})
		},
	}
	cmd.Flags().StringArrayVar(&sets, "set", nil, "change a parameter: `path=value` (repeatable)")
	out = newOutput(cmd.Flags(), "text", "json", "yaml")
	return cmd
}

// scenarioText is a scenario in JSON; the names are a contract.
type scenarioText struct {
	Name       string          `json:"name"`
	Kind       string          `json:"kind"`
	About      string          `json:"about"`
	Parameters []sim.Parameter `json:"parameters"`
	Rules      []string        `json:"rules"`
	Figures    []figureText    `json:"figures"`
}

type figureText struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"`
	Meaning string `json:"meaning"`
}

func describeScenario(s *sim.Scenario) scenarioText {
	t := scenarioText{s.Name, s.Kind.Name, s.About, s.Parameters(), s.Kind.Rules, nil}
	for _, f := range s.Kind.Figures {
		t.Figures = append(t.Figures, figureText(f))
	}
	return t
}

func showScenario(s *sim.Scenario, width int) string {
	var b strings.Builder
	writeColumns(&b, [][]string{{s.Name, s.About}}, width)
	writeColumns(&b, [][]string{{"kind " + s.Kind.Name, s.Kind.About}}, width)
	b.WriteString("\nparameters, as --set takes them\n")
	var rows [][]string
	for _, p := range s.Parameters() {
		rows = append(rows, []string{"  " + p.Path, p.Value, p.About})
	}
	writeColumns(&b, rows, width)
	b.WriteString("\nrules\n")
	for _, r := range s.Kind.Rules {
		writeColumns(&b, [][]string{{"  -", r}}, width)
	}
	b.WriteString("\nfigures, as --check takes them; N is a number\n")
	rows = nil
	for _, f := range s.Kind.Figures {
		rows = append(rows, []string{"  " + f.Name, f.Unit, f.Meaning})
	}
	writeColumns(&b, rows, width)
	return b.String()
}

// writeColumns writes rows whose last column is folded at the width.
func writeColumns(b *strings.Builder, rows [][]string, width int) {
	wide := make([]int, 8)
	for _, r := range rows {
		for i, c := range r[:len(r)-1] {
			wide[i] = max(wide[i], columns(c))
		}
	}
	for _, r := range rows {
		left := 0
		for i, c := range r[:len(r)-1] {
			b.WriteString(c + strings.Repeat(" ", wide[i]-columns(c)+2)) // escapes take no columns
			left += wide[i] + 2
		}
		last := r[len(r)-1]
		if left > width*2/3 {
			trimmed := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(trimmed + "\n")
			left = 6
			b.WriteString(strings.Repeat(" ", left))
		}
		indent := strings.Repeat(" ", left)
		b.WriteString(strings.TrimPrefix(fold(last, indent, width), indent))
		b.WriteByte('\n')
	}
}
