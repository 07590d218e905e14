package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
)

// replayOptions are the flags of `weir replay`.
type replayOptions struct {
	app     *app
	trace   *traceFlags
	script  *scriptFlags
	redis   *redisFlags
	limit   string
	rules   string
	plan    string
	against string
	checks  *[]string
	console *console
	out     *output
	tui     bool
	film    *report.Film // of --tui, once the replay has begun
}

func newReplayCmd(a *app) *cobra.Command {
	o := &replayOptions{app: a}
	cmd := group("replay",
		"Run recorded traffic through a limit or a limiter script",
		`Reads a trace and sends its calls through a limit in memory: what would it have
refused, whom and when? TRACE is a file, or - for stdin: CSV or NDJSON with the
fields t, key and cost, an access log of nginx or Apache, one in JSON, what
redis-cli MONITOR printed, or what weir load --events wrote, any of them packed
with gzip. --profile makes the trace instead. docs/replay.md has the forms.

Where the trace says what became of its calls, as a log does with its statuses,
both are compared line by line. --against compares with a second limit. --rules
decides by a rule file of weir serve instead of one limit.

Lines that cannot be read are counted and the first of them shown. A call with a
time before the newest so far counts as of that one.

A SCRIPT, which is a file that ends in .lua, is run for each call of --trace: by
EVALSHA on an embedded store in virtual time, or with --redis on a server, under
scratch keys that are removed afterwards. --redis start starts a redis-server
for the run. --map says what its KEYS and ARGV are, unless it is one that weir
knows; own is weir's own script for the --limit. Then it is looked at for what
would go wrong in production: keys outside of KEYS, missing TTLs, a caller's
clock, waits that are not true, work that grows.`,
		`  weir replay access.log --limit 10/s,burst=20
  weir replay access.log --limit 10/s,burst=20 --against fixed-window:limit=600,window=60s
  weir replay --profile retry-storm --limit 10/s,burst=20 --duration 30s
  weir replay access.log --rules rules.yaml
  weir replay access.log --limit 10/s,burst=20 --tui
  weir replay limiter.lua --trace storm.csv --limit 10/s,burst=20 --map 'KEYS[1]={key}'
  weir replay own --profile retry-storm --limit 10/s,burst=20 --against 10/s,burst=20`,
		newReplayConvertCmd(a),
		newReplayStatsCmd(a),
		newReplayBenchCmd(a),
	)
	cmd.Use = "replay [TRACE|SCRIPT]"
	cmd.Args = atMost("TRACE|SCRIPT")
	cmd.Annotations = map[string]string{takesArguments: "yes"}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault // a file, which the verbs below would rule out
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) }
	fs := cmd.Flags()
	fs.StringVar(&o.limit, "limit", "", "the limit that decides, such as `10/s,burst=20`")
	fs.StringVar(&o.rules, "rules", "", "a rule `FILE` that decides instead of --limit (docs/rules.md)")
	fs.StringVar(&o.plan, "plan-field", "", "with --rules, the `NAME` of the field with the caller's plan")
	fs.StringVar(&o.against, "against", "", "compare with this `LIMIT`, call by call")
	o.script = newScriptFlags(fs)
	o.redis = newRedisFlags(fs)
	o.trace = newTraceFlags(fs)
	o.trace.newProfileFlags(fs)
	o.trace.newKeyNames(fs)
	fs.BoolVar(&o.tui, "tui", false, "play the replay on a dashboard, in the trace's time, once it is computed; without a terminal it is as if left out")
	o.checks = newChecks(fs)
	o.console = newConsole(fs)
	o.out = newOutput(fs, "text", "json", "csv", "junit")
	return cmd
}

// atMost allows the named argument to be left out.
func atMost(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return argNames(name)(cmd, args)
		}
		return nil
	}
}

func (o *replayOptions) run(cmd *cobra.Command, args []string) error {
	path := strings.Join(args, "")
	scripted := isScript(path) || o.script.sha != ""
	switch {
	case scripted:
	case path == "" && o.trace.profile == "":
		return usagef(usageLine(cmd), "%smissing TRACE or --profile", about(cmd))
	case path != "" && o.trace.profile != "":
		return usagef("weir replay --profile "+o.trace.profile+" --limit 10/s,burst=20", "a trace and --profile are two sources; give one")
	}
	checks, err := o.parseChecks()
	if err != nil {
		return err
	}
	if err := o.out.check(); err != nil {
		return err
	}
	if scripted {
		return o.runScript(cmd, args, path, checks)
	}
	if err := o.script.unused(); err != nil {
		return err
	}
	if cmd.Flags().Changed("redis") {
		return usagef("weir replay limiter.lua --trace "+orTrace(path)+" --redis URL", "--redis is for a script: a limit is decided in memory")
	}
	if o.rules != "" {
		return o.ruled(cmd, args, path, checks)
	}
	if o.plan != "" {
		return usagef("weir replay access.log --rules rules.yaml --plan-field "+o.plan, "--plan-field is for --rules")
	}
	return o.shadow(cmd, args, path, checks)
}

// parseChecks reads --check.
func (o *replayOptions) parseChecks() ([]report.CheckExpr, error) {
	return eachCheck(*o.checks, func(e string) (report.CheckExpr, error) {
		return report.ParseCheckOn(e, replayFigure, replayFigures)
	}, "--check 'refused_share<5%'")
}

// shadow runs a limit over the trace.
func (o *replayOptions) shadow(cmd *cobra.Command, args []string, path string, checks []report.CheckExpr) error {
	spec, promise, err := parseLimit(o.limit)
	if err != nil {
		return err
	}
	if promise == nil {
		return usagef("weir replay "+orTrace(path)+" --limit 10/s,burst=20", "--limit is missing: which limit is to decide?")
	}
	if promise.Concurrent > 0 {
		return usagef("--limit 10/s,burst=20", "--limit %s cannot be replayed: a trace does not say when its calls ended", o.limit)
	}
	s := replay.Shadow{Limit: spec, Promise: promise, Watch: o.watch()}
	if o.against != "" {
		other, p, err := parseLimit(o.against)
		if err != nil {
			return err
		}
		if p.Concurrent > 0 {
			return usagef("--against 20/s,burst=40", "--against %s cannot be replayed: a trace does not say when its calls ended", o.against)
		}
		s.Against = &other
	}
	t, err := o.trace.open(cmd.Context(), o.app, path, &spec)
	if err != nil {
		return err
	}
	defer t.close()
	s.Name, s.Hidden = t.name, t.hidden
	s.Repeat = o.repeat(cmd, args)
	var p *progress
	if o.console.progress(o.app) {
		p = newProgress(o.app)
		p.beginShare(t.name)
		s.Progress = func(int64) { p.share(t.share()) }
	}
	result, err := s.Run(cmd.Context(), t.Source)
	p.end()
	return o.conclude(path, result, err, checks)
}

// share is how much of the trace has been read.
func (t *trace) share() float64 {
	if t.size == 0 || t.pos == nil {
		return 0
	}
	return min(1, float64(t.pos())/float64(t.size))
}

func orTrace(path string) string {
	if path == "" {
		return "access.log"
	}
	return path
}

// repeat is the command that does it again. Only a profile draws anything.
func (o *replayOptions) repeat(cmd *cobra.Command, args []string) string {
	if o.trace.profile == "" {
		line, _, _ := strings.Cut(repeatLine(cmd, args...)(0), " --seed=")
		return line
	}
	return repeatLine(cmd, args...)(o.trace.seed.resolve(o.app))
}

// conclude writes the result and turns it into an exit code. err is what ended
// the reading early.
func (o *replayOptions) conclude(path string, result *report.Result, err error, checks []report.CheckExpr) error {
	if result == nil {
		var spec *limit.SpecError
		if errors.As(err, &spec) {
			return usageError(err, "--limit "+spec.Hint)
		}
		return traceError(path, err)
	}
	if o.trace.profile != "" {
		result.Seed = o.trace.seed.resolve(o.app)
	}
	if err == nil && result.Replay.Trace.Calls == 0 && !result.Interrupted {
		return emptyTrace(path, &result.Replay.Trace)
	}
	result.Figures = replayValues(result)
	before := len(result.Checks)
	result.AddChecks(checks)
	if derr := o.play(result); derr != nil {
		return derr
	}
	werr := o.out.write(o.app, func(w io.Writer) error { return o.render(w, result) })
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		return traceError(path, err)
	case werr != nil:
		return werr
	case result.Interrupted:
		return errInterrupted
	}
	return replayVerdict(result, before)
}

// replayVerdict fails for a check that was asked for. A limit in memory keeps
// its own promise, but a script may not.
func replayVerdict(r *report.Result, own int) error {
	for i, c := range r.Checks {
		if !c.Pass && (i >= own || r.Replay.Script != nil) {
			return errCheckFailed
		}
	}
	return nil
}

// emptyTrace says why nothing was replayed.
func emptyTrace(path string, t *report.ReplayTrace) error {
	hint := "--trace-format says which form it has, --key-field and --time-field where to look"
	if len(t.FirstBroken) > 0 {
		b := t.FirstBroken[0]
		return usagef(hint, "%s has no line that can be read as %s; line %d: %s", path, t.Format, b.Line, strings.TrimSuffix(b.Why+": "+b.Text, ": "))
	}
	if t.Passed > 0 {
		return usagef(hint, "%s holds %s and no call (read as %s)", path, plural(int(t.Passed), "line"), t.Format)
	}
	return usagef(hint, "%s is empty", path)
}
