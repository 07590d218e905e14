package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/sim"
)

// simOptions are the flags of `weir sim`.
type simOptions struct {
	app     *app
	sets    []string
	seed    *seed
	checks  *[]string
	events  string
	console *console
	out     *output
	tui     bool
}

func newSimCmd(a *app) *cobra.Command {
	o := simOptions{app: a}
	cmd := group("sim",
		"Simulate whole fleets in virtual time, exactly",
		`Runs a scenario: a fleet of gateways, a store, clients and what goes wrong with
them, in virtual time and exact to the request. NAME is one of the library
(weir sim list); FILE is one of your own, ending in .yaml (docs/simulator.md).

Every parameter of a scenario can be changed with --set path=value, and weir sim
show NAME lists them beside the figures that a run reports. Any figure may stand
in a --check. A broken promise is what many scenarios are there to show, so only
a --check that fails makes the exit code 1.`,
		`  weir sim freshbox/local-counters
  weir sim freshbox/central-bucket --set rate=20/s --set burst=40 --check 'max_in_1s<=60'
  weir sim compare freshbox/central-bucket freshbox/local-counters
  weir sim freshbox/local-counters --tui`,
		newSimListCmd(a),
		newSimShowCmd(a),
		newSimCompareCmd(a),
	)
	cmd.Use = "sim NAME|FILE"
	cmd.Args = argNames("NAME|FILE")
	cmd.Annotations = map[string]string{takesArguments: "yes"}
	cmd.ValidArgsFunction = completeScenarios(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runSim(cmd, &o, args[0]) }
	fs := cmd.Flags()
	fs.StringArrayVar(&o.sets, "set", nil, "change a parameter: `path=value`, such as rate=20/s (repeatable)")
	fs.StringVar(&o.events, "events", "", "write one NDJSON record per attempt to this `FILE`")
	fs.BoolVar(&o.tui, "tui", false, "play the run on a dashboard, with pause, single steps and speed, before the report; without a terminal it is as if left out")
	o.checks = newChecks(fs)
	o.seed = newSeed(fs)
	fs.Lookup("seed").Usage = "seed of the random draws; the same as --set seed=N (default: the scenario's)"
	o.console = newConsole(fs)
	o.out = newOutput(fs, "text", "json", "csv", "junit")
	return cmd
}

// openScenario reads a scenario with what the command line changes.
func openScenario(name string, sets []string, seed *seed) (*sim.Scenario, error) {
	s, err := sim.Open(name, sets...)
	if err != nil || seed == nil || !seed.flag.Changed {
		return s, scenarioError(err)
	}
	if _, ok := s.Seed(); !ok {
		return s, nil // without random draws it is the same for every seed
	}
	s, err = sim.Open(name, append(sets[:len(sets):len(sets)], fmt.Sprintf("seed=%d", seed.value))...)
	return s, scenarioError(err)
}

// scenarioError types an error about a scenario: exit 2 for a mistake in it, 3
// for a file that cannot be read.
func scenarioError(err error) error {
	if err == nil {
		return nil
	}
	var pe *sim.ParamError
	if errors.As(err, &pe) {
		return usageError(err, pe.Hint)
	}
	err = inputError(err)
	var f *failure
	if errors.As(err, &f) && f.code == exitReach {
		f.hint = "weir sim list"
	}
	return err
}

func runSim(cmd *cobra.Command, o *simOptions, name string) error {
	s, err := openScenario(name, o.sets, o.seed)
	if err != nil {
		return err
	}
	checks, err := simChecks(&s.Kind, *o.checks)
	if err != nil {
		return err
	}
	if err := o.out.check(); err != nil {
		return err
	}
	if err := checkApart(o.events, o.out); err != nil {
		return err
	}
	opt := sim.Options{}
	if _, ok := s.Params.(sim.Documented); !ok && o.events != "" {
		return usagef("weir sim "+name+" --json", "--events: %s decides no single requests, so it has no events", s.Name)
	}
	film, err := o.film(s)
	if err != nil {
		return err
	}
	if film != nil {
		opt.Tap = film.Add
	}
	if o.events != "" {
		f, err := createEvents(o.events)
		if err != nil {
			return err
		}
		defer f.Close()
		opt.Events = f
	}
	seed, _ := s.Seed()
	opt.Repeat = repeatLine(cmd, name)(seed)
	if _, ok := s.Seed(); !ok {
		opt.Repeat, _, _ = strings.Cut(opt.Repeat, " --seed=")
	}
	r, err := simulate(cmd.Context(), o.app, o.console, s, opt)
	if err != nil {
		if r != nil { // all but the events is well
			_ = o.write(s, r)
			return reachError(fmt.Errorf("the events file is cut short: %w", err), "free some space, or give --events on another disk")
		}
		return err
	}
	if film != nil && !r.Interrupted {
		if err := o.play(cmd.Context(), s, film, r); err != nil {
			return err
		}
	}
	before := len(r.Checks)
	r.AddChecks(checks)
	if err := o.write(s, r); err != nil {
		return err
	}
	if r.Interrupted {
		return errInterrupted
	}
	for _, c := range r.Checks[before:] {
		if !c.Pass {
			return errCheckFailed
		}
	}
	return nil
}

// simulate runs a scenario under a progress bar.
func simulate(ctx context.Context, a *app, c *console, s *sim.Scenario, opt sim.Options) (*report.Result, error) {
	if c.progress(a) {
		p := newProgress(a)
		p.beginShare(s.Name)
		defer p.end()
		opt.Progress = p.share
	}
	return s.Result(ctx, opt)
}

func (o *simOptions) write(s *sim.Scenario, r *report.Result) error {
	return o.out.write(o.app, func(w io.Writer) error {
		switch o.out.format {
		case "json":
			return report.WriteJSON(w, r)
		case "csv":
			return writeFiguresCSV(w, s, r)
		case "junit":
			return report.WriteJUnit(w, r)
		}
		return writeSimText(w, s, r, report.TextOptions{Width: o.app.width(), Color: o.console.color(o.app) && o.out.toStdout(), Plot: true})
	})
}

// simChecks reads --check, whose names may be those of the scenario's figures.
func simChecks(k *sim.Kind, exprs []string) ([]report.CheckExpr, error) {
	return eachCheck(exprs, func(e string) (report.CheckExpr, error) {
		return report.ParseCheckOn(e, k.Reports, k.FigureNames())
	}, "weir sim show NAME lists the figures")
}

// completeScenarios offers the names of the library for the first most
// arguments; files are the shell's to offer.
func completeScenarios(most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, s := range sim.List() {
			names = append(names, s.Name+"\t"+s.About)
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}
