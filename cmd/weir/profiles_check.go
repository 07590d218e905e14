package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
)

type profilesCheckOptions struct {
	file string
	out  *output
}

func newProfilesCheckCmd(a *app) *cobra.Command {
	opts := profilesCheckOptions{}
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a profile and say what it would send",
		Long: `Reads a profile as a run would, with the files and behaviours that it names, and
says what it plans. Every mistake is printed with its line; the exit code is
then 2.`,
		Example: `  weir profiles check mine.yaml
  weir profiles check mine.yaml --json`,
		Args:              argNames("FILE"),
		ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			opts.file = args[0]
			return runProfilesCheck(a, opts)
		},
	}
	opts.out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

// profileCheck is what `profiles check --json` prints; the names are a
// contract.
type profileCheck struct {
	File        string  `json:"file"`
	OK          bool    `json:"ok"`
	Name        string  `json:"name,omitempty"`
	DurationS   float64 `json:"duration_s,omitempty"`
	Populations int     `json:"populations,omitempty"`
	// Callers and Keys are how many the plan can number; Planned counts the
	// first attempts of open-loop arrivals, which a closed loop has none of.
	Callers  uint32    `json:"callers,omitempty"`
	Keys     int       `json:"keys,omitempty"`
	Planned  uint64    `json:"planned,omitempty"`
	Exact    bool      `json:"planned_exact,omitempty"`
	Problems []problem `json:"problems,omitempty"`
}

func runProfilesCheck(a *app, opts profilesCheckOptions) error {
	c, err := checkProfile(a, opts.file)
	if err != nil {
		return err
	}
	if err := opts.out.write(a, func(w io.Writer) error {
		if opts.out.format == "json" {
			return json.NewEncoder(w).Encode(c)
		}
		_, err := fmt.Fprint(w, c)
		return err
	}); err != nil {
		return err
	}
	if c.OK {
		return nil
	}
	first := c.Problems[0]
	return usagef(first.edit(opts.file), "%s: %s", opts.file, plural(len(c.Problems), "mistake"))
}

// checkProfile reads and plans a profile. Only a file that cannot be read is
// an error; mistakes in it are the answer.
func checkProfile(a *app, file string) (profileCheck, error) {
	c := profileCheck{File: file}
	p, err := profiles.Open(file)
	if err != nil {
		c.Problems = problemsOf(err)
		if len(c.Problems) == 0 || c.Problems[0].File == "" {
			return c, inputError(err) // nothing was read
		}
		return c, nil
	}
	for _, q := range p.Populations {
		if q.Behaviour == "" {
			continue
		}
		if _, err := load.ParseBehaviour(q.Behaviour); err != nil {
			for _, pr := range problemsOf(err) {
				pr.Message = fmt.Sprintf("population %q: %s", q.Name, pr.Message)
				c.Problems = append(c.Problems, pr)
			}
		}
	}
	plan, err := load.Compile(p, load.Options{Start: a.now().UnixNano(), ReadFile: readInput})
	if err != nil {
		found := problemsOf(err)
		if found == nil {
			return c, inputError(err)
		}
		c.Problems = append(c.Problems, found...)
	}
	if c.OK = len(c.Problems) == 0; c.OK {
		c.Name, c.DurationS = p.Name, plan.Duration.Seconds()
		c.Populations, c.Callers, c.Keys = len(plan.Populations), plan.Clients, plan.NKeys()
		c.Planned, c.Exact = plan.Planned(), plan.PlannedExact()
	}
	return c, nil
}

func (c profileCheck) String() string {
	if !c.OK {
		s := ""
		for _, p := range c.Problems {
			s += p.String() + "\n"
		}
		return s
	}
	s := fmt.Sprintf("%s: good\n%s, %s, up to %s, for %gs\n", c.File,
		plural(c.Populations, "population"), plural(int(c.Callers), "caller"), plural(c.Keys, "key"), c.DurationS)
	if c.Planned > 0 {
		about := ""
		if !c.Exact {
			about = "about "
		}
		s += fmt.Sprintf("%s%s by schedule\n", about, plural(int(c.Planned), "first attempt"))
	}
	return s
}
