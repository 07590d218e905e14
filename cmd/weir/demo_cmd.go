package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// demoOptions are the flags of weir demo.
type demoOptions struct {
	app     *app
	length  time.Duration
	plain   bool
	seed    *seed
	console *console
	out     *output
	repeat  string
}

func newDemoCmd(a *app) *cobra.Command {
	o := demoOptions{app: a}
	var names, about []string
	for _, t := range tours() {
		names = append(names, t.name)
		about = append(about, fmt.Sprintf("  %-7s %s", t.name, t.about))
	}
	cmd := &cobra.Command{
		Use:   "demo [TOUR]",
		Short: "Watch a storm and a herd meet a limiter, with nothing to set up",
		Long: `Starts gateways and clients in this process, on loopback, and tells a story in
four acts: a retry storm against gateways that each count for themselves, the
same storm against one shared bucket, and a herd of refused clients that come
back together, without and with jitter. Every number is measured.

A TOUR takes a minute and goes into one thing:
` + strings.Join(about, "\n") + `

On a terminal it is played on the dashboard, with captions that say what to look
at. The acts change by themselves, n goes to the next one, J switches the
clients' jitter, b their behaviour, d what the gateways do; ? lists the rest.
Without a terminal, or with --plain, the same is told in text. --json gives the
result of a tour's run, whose marks are where its acts begin.`,
		Example: `  weir demo
  weir demo herd
  weir demo outage --plain --for 20s --seed 7`,
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return argNames("TOUR")(cmd, args)
		},
	}
	fs := cmd.Flags()
	fs.DurationVar(&o.length, "for", 0, "how long all of it takes (default: a minute for a tour, about half of one for the story)")
	fs.BoolVar(&o.plain, "plain", false, "text, also on a terminal")
	o.seed = newSeed(fs)
	o.console = newConsole(fs)
	o.out = newOutput(fs, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.repeat = repeatLine(cmd, args...)(o.seed.resolve(a))
		return o.run(cmd.Context(), args)
	}
	return cmd
}

// What a demo takes: a tour, and the story on a dashboard. An act may not be
// shorter than it takes to measure anything, nor the whole longer than anybody
// looks.
const (
	tourLength  = time.Minute
	storyLength = 40 * time.Second
	actLeast    = 500 * time.Millisecond
	demoMost    = time.Hour
)

func (o *demoOptions) run(ctx context.Context, args []string) error {
	seed := o.seed.resolve(o.app)
	if err := o.out.check(); err != nil {
		return err
	}
	t, length := storyTour(), storyLength
	if len(args) > 0 {
		found := false
		var names []string
		for _, each := range tours() {
			names = append(names, each.name)
			if each.name == args[0] {
				t, length, found = each, tourLength, true
			}
		}
		if !found {
			return usagef("weir demo herd", "%q is none of the tours %s", args[0], strings.Join(names, ", "))
		}
	} else if o.out.format == "json" {
		return usagef("weir demo herd --json", "--json is the result of one tour")
	}
	least := actLeast * time.Duration(t.acts())
	if o.length != 0 && (o.length < least || o.length > demoMost) {
		return usagef(fmt.Sprintf("--for %v", max(least, 10*time.Second)), "--for %v is not between %v and %v", o.length, least, demoMost)
	}
	dashboard := !o.plain && o.console.screen(o.app)
	if len(args) == 0 && !dashboard {
		return runDemo(ctx, o.app, o.console, seed, o.length)
	}
	if o.length > 0 {
		length = o.length
	}
	return o.give(ctx, &t, length, seed, dashboard)
}
