package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/report"
)

func newInspectBucketCmd(a *app) *cobra.Command {
	var verbs []*cobra.Command
	for i := range bucketVerbs {
		verbs = append(verbs, newBucketVerb(a, &bucketVerbs[i]))
	}
	return group("bucket", "Change what one customer has left: grant, drain, reset, expire",
		`Writes to the state of one limit of one customer, where it is certain what that
means, in one script that first compares what is there with what was shown.
Without --yes nothing is written, and what would be is shown. Each write goes
into a local file, before it is done and with what came of it.`,
		`  weir inspect bucket grant k-7 20 --redis redis://localhost:6379
  weir inspect bucket reset k-7 --yes --reason "ticket 4711" --redis redis://localhost:6379`,
		verbs...)
}

// bucketVerb is what there is to say of one action.
type bucketVerb struct {
	action         inspect.Action
	args           string // of the Use line
	short, long    string
	example        string // what comes after KEY
	least, most    int    // how many arguments
	argument, hint string // the one after KEY
}

var bucketVerbs = []bucketVerb{
	{action: inspect.Grant, args: " N", short: "Let N units more pass now", example: " 20", least: 2, most: 2, argument: "N", hint: "20",
		long: `N units more pass at once than would have, up to the whole allowance; what comes
back with time is as before. A bucket gets tokens; a count goes down; of a log
the oldest calls are forgotten.`},
	{action: inspect.Drain, args: " [N]", short: "Take N units away, or all that is left", example: " 5", least: 1, most: 2, argument: "N", hint: "5",
		long: `N units fewer pass at once than would have, or none without N, as if they had
been used just now. They come back as used ones do.`},
	{action: inspect.Reset, short: "Forget what was used: all is there again", least: 1, most: 1,
		long: `The customer's keys under this limit are deleted, as if there had been no call.`},
	{action: inspect.Expire, args: " D", short: "Let the state end by itself after D", example: " 30s", least: 2, most: 2, argument: "D", hint: "30s",
		long: `The keys get a time to live of D, after which everything is there again. The
writer's next call may set another one.`},
}

type bucketOptions struct {
	flags       *inspectFlags
	names       *nameFlags
	reason, who string
	audit       string
	dryRun, yes bool
	out         *output
}

func newBucketVerb(a *app, v *bucketVerb) *cobra.Command {
	o := bucketOptions{}
	name := string(v.action)
	cmd := &cobra.Command{
		Use:   name + " KEY" + v.args,
		Short: v.short,
		Long: v.long + `

A KEY that is not there is taken for a customer's id, as by weir inspect get.
Nothing is written without --yes and --reason, nor to state whose writer is not
certain, unless --layout names it and fits, nor when the state has changed since
it was shown.

Exit codes: 0 shown or written, 1 it is not there, not certain or has changed
and so nothing was written, 2 usage, 3 Redis or the file is out of reach.`,
		Example: fmt.Sprintf(`  weir inspect bucket %s k-7%s --redis redis://localhost:6379
  weir inspect bucket %s 'rl:{k-7}:requests'%s --yes --reason "ticket 4711" --redis redis://localhost:6379`, name, v.example, name, v.example),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef(usageLine(cmd), "missing KEY")
			case len(args) < v.least:
				return usagef(usageLine(cmd), "missing %s", v.argument)
			case len(args) > v.most:
				return usagef(usageLine(cmd), "unexpected argument %q", report.Clean(args[v.most]))
			}
			return nil
		},
	}
	fs := cmd.Flags()
	o.flags = newInspectFlags(cmd)
	o.names = newNameFlags(fs)
	fs.StringVar(&o.reason, "reason", "", "why, for the audit file")
	fs.StringVar(&o.who, "who", "", "who does it, for the audit file (default: you, on this machine)")
	fs.StringVar(&o.audit, "audit", "", "append what is done to this `FILE` (default $XDG_STATE_HOME/weir/audit.ndjson)")
	fs.BoolVar(&o.dryRun, "dry-run", false, "show what would be written, and write nothing; so it is without --yes, too")
	fs.BoolVar(&o.yes, "yes", false, "do write")
	o.out = newOutput(fs, "text", "json")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		order := inspect.Order{Action: v.action}
		if len(args) > 1 {
			if err := v.parse(&order, args[1]); err != nil {
				return err
			}
		}
		return runBucket(cmd.Context(), a, &o, order, args[0])
	}
	return cmd
}

// parse reads the argument after KEY.
func (v *bucketVerb) parse(o *inspect.Order, text string) error {
	hint := "weir inspect bucket " + string(v.action) + " k-7 " + v.hint
	if v.action == inspect.Expire {
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Millisecond || d > inspect.MaxLife {
			return usagef(hint, "D is %q, and has to be a time from 1ms to ten years", report.Clean(text))
		}
		o.In = d.Truncate(time.Millisecond)
		return nil
	}
	if _, err := fmt.Sscanf(text, "%d", &o.Units); err != nil || fmt.Sprint(o.Units) != text || o.Units < 1 || o.Units > maxUnits {
		return usagef(hint, "N is %q, and has to be a whole number from 1 to %d", report.Clean(text), int64(maxUnits))
	}
	return nil
}

const (
	maxUnits  = 1 << 50
	maxReason = 500 // bytes
	maxWho    = 100
)

func runBucket(ctx context.Context, a *app, o *bucketOptions, order inspect.Order, key string) error {
	o.reason = strings.TrimSpace(o.reason)
	switch {
	case key == "":
		return usagef("weir inspect bucket "+string(order.Action)+" k-7", "the KEY is empty")
	case o.yes && o.reason == "":
		return usagef(`--yes --reason "what it is for"`, "--reason is missing: whoever reads the audit file will ask why")
	case len(o.reason) > maxReason || len(o.who) > maxWho:
		return usagef("a shorter one", "--reason may have %d bytes, and --who %d", maxReason, maxWho)
	}
	q := inspect.Query{Keys: []string{key}}
	return o.flags.look(ctx, a, o.names, o.out, q, func(ctx context.Context, t *inspectTarget, reader *inspect.Reader, sight *inspect.Sight) error {
		reading, err := theOne(sight, key)
		if err != nil {
			return err
		}
		change, err := inspect.NewChange(reading, order, t.only != nil)
		if err != nil {
			return orderError(err)
		}
		done := bucketDone{change: &change, now: &change.After, dryRun: !o.yes}
		if o.yes && !change.Nothing() {
			if err := o.write(ctx, a, t.client, &done); err != nil {
				return err
			}
			done.now = readAgain(ctx, reader, &change)
		}
		return o.out.write(a, done.print(o.out.format, a.width()))
	})
}

// theOne is the state that is meant, of which there may be only one.
func theOne(s *inspect.Sight, key string) (*inspect.Reading, error) {
	list := inspect.Present(s.Readings, s.Now)
	switch {
	case len(list) == 1:
		return list[0], nil
	case len(list) > 1:
		return nil, &failure{code: exitCheck, err: fmt.Errorf("%s has %d states: %s", report.Clean(key), len(list), keysOf(list)), hint: "name the key of one of them"}
	case len(s.Own) > 0:
		return nil, &failure{code: exitCheck, err: fmt.Errorf("%s is no limit: weir keeps its %s there", report.Clean(key), s.Own[0].Kind), hint: "weir inspect get KEY"}
	case len(s.Strangers) > 0:
		return nil, &failure{code: exitCheck, err: fmt.Errorf("no layout fits %s, so nothing is written to it", report.Clean(key)), hint: "weir inspect layouts"}
	}
	hint := "weir inspect get KEY says what was looked for"
	if len(s.Nearest) > 0 {
		hint = "close to that, and there: " + strings.Join(cleaned(s.Nearest), ", ")
	}
	return nil, &failure{code: exitCheck, err: fmt.Errorf("there is nothing of %s: everything is there already", report.Clean(key)), hint: hint}
}

func keysOf(list []*inspect.Reading) string {
	var keys []string
	for _, r := range list {
		keys = append(keys, report.Clean(r.Entries[0].Key))
	}
	return strings.Join(keys, ", ")
}

// orderError types why an order is not carried out.
func orderError(err error) error {
	var refused *inspect.RefusedError
	switch {
	case errors.As(err, &refused):
		return &failure{code: exitCheck, err: err, hint: refused.Hint}
	case errors.Is(err, inspect.ErrChanged):
		return &failure{code: exitCheck, err: err, hint: "the same command again looks anew"}
	}
	return inspectError(err)
}

// write does what was shown, and records it: first that it is about to be done,
// without which it is not, and then what came of it.
func (o *bucketOptions) write(ctx context.Context, a *app, c redis.UniversalClient, d *bucketDone) error {
	log, err := openAudit(a, o.audit)
	if err != nil {
		return err
	}
	defer log.Close()
	d.audit = log.path
	line := auditOf(a, o, d.change)
	if err := log.append(line); err != nil {
		return reachError(fmt.Errorf("nothing was written, since the audit file cannot be: %w", err), "--audit FILE, one that can be written")
	}
	err = inspect.Write(ctx, c, d.change)
	outcome, problem := "written", ""
	if err == nil {
		d.written = true
	} else {
		outcome, err = outcomeOf(err)
		problem = oneLine(err.Error())
	}
	if failed := log.append(line.outcome(a.now(), outcome, problem)); failed != nil && err == nil {
		return reachError(fmt.Errorf("it was written to Redis, and that could not be added to the audit file: %w", failed), "weir inspect get KEY shows it")
	}
	return err
}

// outcomeOf names how a write failed, and types its error.
func outcomeOf(err error) (outcome string, typed error) {
	var refused *inspect.RefusedError
	var reply redis.Error
	switch {
	case errors.Is(err, inspect.ErrChanged):
		return "changed", orderError(err)
	case errors.As(err, &refused), errors.As(err, &reply):
		return "failed", orderError(err)
	}
	// A connection that breaks may do so after the script has run.
	return "unknown", reachError(fmt.Errorf("%w; it may have been written all the same", inspectError(err)), "weir inspect get KEY shows whether it was")
}

// readAgain is what the keys hold after a write; what was planned where that
// cannot be read.
func readAgain(ctx context.Context, r *inspect.Reader, c *inspect.Change) *inspect.Reading {
	var keys []string
	for i := range c.After.Entries {
		keys = append(keys, c.After.Entries[i].Key)
	}
	snap, err := r.Get(ctx, keys...)
	if err != nil {
		return &c.After
	}
	now, err := c.After.With(snap.Entries, snap.Now)
	if err != nil {
		return &c.After
	}
	return &now
}
