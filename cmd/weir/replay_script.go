package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
)

// ownScript is the SCRIPT of whoever means weir's own.
const ownScript = "own"

// scriptFlags say how a script is run.
type scriptFlags struct {
	tracePath   string
	sha         string
	then        string
	apart       time.Duration
	maps, maps2 []string
	admitted    string
	wait        string
	speed       string
	connections int
	pipeline    int
	clock       string
	timeout     time.Duration
	skew        time.Duration
	danger      bool
	anyScript   bool
	flushAt     time.Duration
	killAt      time.Duration
	fs          *pflag.FlagSet
}

func newScriptFlags(fs *pflag.FlagSet) *scriptFlags {
	s := &scriptFlags{fs: fs}
	fs.StringVar(&s.tracePath, "trace", "", "the trace `FILE` to run a script on, or - for stdin")
	fs.StringVar(&s.sha, "sha", "", "run the script that the server knows by this `DIGEST`, which nobody can look into (--allow-dangerous)")
	fs.StringVar(&s.then, "then", "", "a second script `FILE`: the check reads with the first and writes with this one")
	fs.DurationVar(&s.apart, "apart", time.Millisecond, "how long after the first script the second one runs, in the trace's time")
	fs.StringArrayVar(&s.maps, "map", nil, "`WHAT` a script is given, such as 'KEYS[1]={key}' or 'ARGV[1]={now.ms}' (repeatable)")
	fs.StringArrayVar(&s.maps2, "map-then", nil, "`WHAT` the script of --then is given, with {reply[1]} of the first (repeatable)")
	fs.StringVar(&s.admitted, "admitted-if", "", "`WHAT` a reply says, such as 'reply[1]==1' (default: 1 or 0, alone or first in a list)")
	fs.StringVar(&s.wait, "wait", "", "`WHERE` a reply tells the wait, such as 'reply[2] ms'")
	fs.StringVar(&s.speed, "speed", "max", "on a server, the `SPEED`: recorded, a factor such as 10, or max")
	fs.IntVar(&s.connections, "connections", 1, "on a server: connections at once")
	fs.IntVar(&s.pipeline, "pipeline", 1, "on a server: calls sent together on a connection")
	fs.Var(newChoice(&s.clock, "trace", "server"), "clock", "on a server: whose TIME the script sees; trace puts a shim before it that answers TIME, server leaves it to the server")
	fs.DurationVar(&s.timeout, "script-timeout", 10*time.Second, "how long one run of a script may take before SCRIPT KILL")
	fs.DurationVar(&s.skew, "skew", 0, "put the clock of every second caller this far ahead, in {now}")
	fs.BoolVar(&s.danger, "allow-dangerous", false, "run a script that calls FLUSHALL, KEYS, CONFIG and the like, or what cannot be read in it")
	fs.BoolVar(&s.anyScript, "any-script", false, "replay all script calls of a capture, not only those of this script")
	fs.DurationVar(&s.flushAt, "flush-scripts-at", -1, "a drill: flush the scripts this far into the trace (--redis start, or embedded)")
	fs.DurationVar(&s.killAt, "kill-at", -1, "a drill: kill and restart the server this far into the trace (--redis start, or embedded)")
	fs.Lookup("flush-scripts-at").DefValue = "0s"
	fs.Lookup("kill-at").DefValue = "0s"
	return s
}

// onlyScripts are the flags that say nothing without a script.
var onlyScripts = []string{"trace", "sha", "then", "apart", "map", "map-then", "admitted-if", "wait", "speed", "connections", "pipeline",
	"clock", "script-timeout", "skew", "allow-dangerous", "any-script", "flush-scripts-at", "kill-at"}

// unused refuses flags that would do nothing.
func (s *scriptFlags) unused() error {
	for _, name := range onlyScripts {
		if s.fs.Changed(name) {
			return usagef("weir replay limiter.lua --trace access.log --"+name+" …", "--%s is for a script, and none is given", name)
		}
	}
	return nil
}

// isScript reports whether an argument is a script and not a trace.
func isScript(arg string) bool { return strings.HasSuffix(arg, ".lua") || arg == ownScript }

// halves reads the scripts and their mappings.
func (o *replayOptions) halves(name string, spec *limit.Spec, captured bool) ([]replay.Half, replay.Meaning, []string, error) {
	s := o.script
	if s.sha != "" {
		return s.blind(spec, captured)
	}
	admitted, wait := s.admitted, s.wait
	var script *replay.Script
	maps := s.maps
	var meaning replay.Meaning
	if name == ownScript {
		if spec == nil {
			return nil, meaning, nil, usagef("weir replay own --trace storm.csv --limit 10/s,burst=20", "weir's own script needs the --limit that it is for")
		}
		own, ownMaps, m, err := replay.Own(*spec)
		if err != nil {
			return nil, meaning, nil, limitError(err)
		}
		if len(maps) > 0 || admitted != "" || wait != "" {
			return nil, meaning, nil, usagef("weir replay own --trace storm.csv --limit 10/s,burst=20", "weir's own script has a mapping of its own")
		}
		script, maps, meaning = own, ownMaps, m
	} else {
		var err error
		if script, err = readScript(name, s.danger); err != nil {
			return nil, meaning, nil, err
		}
		if k := replay.Recognise(script.Source); k != nil && len(maps) == 0 && !captured {
			maps = k.Maps()
			a, w := k.Meaning(spec)
			if admitted == "" {
				admitted = a
			}
			if wait == "" {
				wait = w
			}
		}
		if meaning, err = parseMeaning(admitted, wait); err != nil {
			return nil, meaning, nil, err
		}
	}
	m, err := mapFor(script, maps, spec, captured && name != ownScript)
	if err != nil {
		return nil, meaning, nil, err
	}
	halves := []replay.Half{{Script: script, Map: m}}
	shown := maps
	if s.then != "" {
		second, err := readScript(s.then, s.danger)
		if err != nil {
			return nil, meaning, nil, err
		}
		m, err := mapFor(second, s.maps2, spec, false)
		if err != nil {
			return nil, meaning, nil, err
		}
		if m.Fields != nil {
			return nil, meaning, nil, usagef("--map-then 'ARGV[1]={reply[1]}'", "--map-then can use the key, the cost, the time and the reply, and no other field")
		}
		halves = append(halves, replay.Half{Script: second, Map: m})
		for _, t := range s.maps2 {
			shown = append(shown[:len(shown):len(shown)], "then "+t)
		}
	} else if len(s.maps2) > 0 {
		return nil, meaning, nil, usagef("weir replay read.lua --then write.lua …", "--map-then is for the script of --then")
	}
	return halves, meaning, shown, nil
}

// blind is a script that only its digest is known of.
func (s *scriptFlags) blind(spec *limit.Spec, captured bool) ([]replay.Half, replay.Meaning, []string, error) {
	var meaning replay.Meaning
	if len(s.sha) != 40 || strings.Trim(strings.ToLower(s.sha), "0123456789abcdef") != "" {
		return nil, meaning, nil, usagef("--sha with the 40 hex digits that SCRIPT LOAD answered", "--sha %q is not a digest", s.sha)
	}
	if !s.danger {
		return nil, meaning, nil, usagef("--allow-dangerous, if you know what it does; or give its text as a file", "nobody can see what the script %s calls, or keep it to the scratch keys", s.sha)
	}
	if s.then != "" {
		return nil, meaning, nil, usagef("weir replay read.lua --then write.lua …", "--then goes with a script in a file")
	}
	meaning, err := parseMeaning(s.admitted, s.wait)
	if err != nil {
		return nil, meaning, nil, err
	}
	script := &replay.Script{Name: "script " + s.sha[:8], SHA: strings.ToLower(s.sha)}
	m, err := mapFor(script, s.maps, spec, captured)
	if err != nil {
		return nil, meaning, nil, err
	}
	return []replay.Half{{Script: script, Map: m}}, meaning, s.maps, nil
}

func parseMeaning(admitted, wait string) (replay.Meaning, error) {
	m, err := replay.ParseMeaning(admitted, wait)
	if err != nil {
		return m, usageError(err, "--admitted-if 'reply[1]==1' --wait 'reply[2] ms'")
	}
	return m, nil
}

// mapFor reads a mapping, or takes the capture's own arguments.
func mapFor(script *replay.Script, maps []string, spec *limit.Spec, captured bool) (*replay.Mapping, error) {
	if len(maps) == 0 && captured {
		return replay.Recorded(), nil
	}
	keys, args := replay.Takes(script.Source)
	if len(maps) == 0 {
		var hint []string
		for i := range max(keys, 1) {
			hint = append(hint, fmt.Sprintf("--map 'KEYS[%d]={key}'", i+1))
		}
		for i := range args {
			hint = append(hint, fmt.Sprintf("--map 'ARGV[%d]=…'", i+1))
		}
		return nil, usagef(strings.Join(hint, " "), "%s is not a script that weir knows: what are its KEYS and ARGV?", script.Name)
	}
	m, err := replay.ParseMapping(maps, spec)
	if err != nil {
		var me *replay.MapError
		hint := "--map 'KEYS[1]={key}'"
		if errors.As(err, &me) {
			hint = me.Hint
		}
		return nil, usageError(err, hint)
	}
	switch {
	case len(m.Keys) < keys:
		return nil, usagef(fmt.Sprintf("--map 'KEYS[%d]={key}'", len(m.Keys)+1), "%s reads KEYS[%d], which is not mapped", script.Name, keys)
	case len(m.Args) < args:
		return nil, usagef(fmt.Sprintf("--map 'ARGV[%d]=…'", len(m.Args)+1), "%s reads ARGV[%d], which is not mapped", script.Name, args)
	}
	return m, nil
}

// maxScript bounds a script's text.
const maxScript = 1 << 20

// readScript reads a script and refuses one that reaches too far.
func readScript(path string, danger bool) (*replay.Script, error) {
	text, err := readBounded(path, maxScript)
	if err != nil {
		return nil, unopened(err, "correct the path, or say own for weir's own script of --limit")
	}
	if len(text) > maxScript {
		return nil, usagef("weir replay limiter.lua --trace storm.csv", "%s is longer than a script may be: %s bytes", report.Clean(path), report.Count(maxScript))
	}
	s := replay.NewScript(path, string(text))
	if found := replay.Dangers(s.Source); len(found) > 0 && !danger {
		return nil, usageError(&replay.DangerError{Name: path, Dangers: found}, "--allow-dangerous runs it all the same")
	}
	return s, nil
}

// parseSpeed reads --speed.
func parseSpeed(text string) (float64, error) {
	switch text {
	case "max":
		return 0, nil
	case "recorded":
		return 1, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(text, "x"), 64)
	if err != nil || !(f > 0 && f <= 1e6) {
		return 0, usagef("--speed recorded, --speed 10 or --speed max", "--speed %q is none", text)
	}
	return f, nil
}

// runScript replays a trace through a script.
func (o *replayOptions) runScript(cmd *cobra.Command, args []string, name string, checks []report.CheckExpr) error {
	s := o.script
	if err := o.checkScriptFlags(name); err != nil {
		return err
	}
	r := replay.Run{Watch: o.watch(), Connections: s.connections, Pipeline: s.pipeline, Timeout: s.timeout,
		Apart: s.apart, Skew: s.skew, ServerClock: s.clock == "server", Blind: s.sha != ""}
	spec, promise, err := parsePromise(o.limit)
	if err != nil {
		return err
	}
	r.Promise = promise
	if promise != nil {
		r.Limit = &spec
	}
	if o.against != "" {
		other, _, err := parsePromise(o.against)
		if err != nil {
			return err
		}
		r.Against = &other
	}
	if r.Speed, err = parseSpeed(s.speed); err != nil {
		return err
	}
	captured := o.trace.captured(s.tracePath)
	if r.Halves, r.Meaning, r.Mapping, err = o.halves(name, r.Limit, captured); err != nil {
		return err
	}
	o.trace.options.Fields = r.Halves[0].Map.Fields
	if captured && !s.anyScript && name != ownScript {
		o.trace.options.SHA = r.Halves[0].Script.SHA
	}
	store, done, err := o.openStore(cmd.Context(), &r)
	if err != nil {
		return err
	}
	defer done()
	r.Store = store
	t, err := o.trace.open(cmd.Context(), o.app, s.tracePath, r.Limit)
	if err != nil {
		return err
	}
	defer t.close()
	r.Hidden = t.hidden
	r.Name, r.Repeat = t.name, o.repeat(cmd, args)
	var p *progress
	if o.console.progress(o.app) {
		p = newProgress(o.app)
		p.beginShare(t.name)
		r.Progress = func(int64) { p.share(t.share()) }
	}
	result, err := r.Do(cmd.Context(), t.Source)
	p.end()
	return o.concludeScript(t, s.tracePath, result, err, checks)
}

// checkScriptFlags refuses what makes no sense together.
func (o *replayOptions) checkScriptFlags(name string) error {
	s := o.script
	example := "weir replay limiter.lua --trace storm.csv --limit 10/s,burst=20"
	switch {
	case s.tracePath == "" && o.trace.profile == "":
		return usagef(example, "a script needs a --trace or a --profile to run on")
	case s.tracePath != "" && o.trace.profile != "":
		return usagef(example, "--trace and --profile are two sources; give one")
	case name != "" && s.sha != "":
		return usagef(example, "%s and --sha name two scripts", name)
	case s.connections < 1 || s.connections > 1000 || s.pipeline < 1 || s.pipeline > 10000:
		return usagef("--connections 8 --pipeline 16", "--connections is from 1 to 1000 and --pipeline from 1 to 10000")
	case s.timeout <= 0 || s.apart < 0:
		return usagef("--script-timeout 10s", "--script-timeout must be above zero, and --apart not below")
	}
	embedded := !o.redis.given() || o.redis.embedded()
	if embedded {
		for _, name := range []string{"speed", "connections", "pipeline", "clock", "sha"} {
			if s.fs.Changed(name) {
				return usagef("--redis redis://127.0.0.1:6379", "--%s is for a server: the embedded store runs in virtual time, call after call", name)
			}
		}
	}
	if s.clock == "server" && s.speed == "max" {
		return usagef("--clock server --speed recorded", "on the server's clock the trace needs its time: --speed max would ask all at once")
	}
	if s.sha != "" && s.clock != "server" {
		return usagef("--sha "+s.sha+" --clock server --speed recorded", "a script without its text cannot be given the trace's clock")
	}
	return nil
}

// captured reports whether the trace is what MONITOR printed, whose calls have
// keys and arguments of their own.
func (t *traceFlags) captured(path string) bool {
	if t.profile != "" || path == "-" || t.options.Format != "auto" {
		return t.options.Format == "monitor"
	}
	// What is no file can be read but once.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false // told when it is read
	}
	defer f.Close()
	src, err := replay.Open(f, replay.Options{})
	return err == nil && src.Seen().Format == "monitor"
}

// concludeScript is conclude for what only a script can come to.
func (o *replayOptions) concludeScript(t *trace, path string, result *report.Result, err error, checks []report.CheckExpr) error {
	typed := scriptFailure(err)
	if result == nil {
		return typed
	}
	var line *replay.LineError
	if err != nil && !errors.As(err, &line) && !errors.Is(err, context.Canceled) {
		// What there is is shown, and then what went wrong.
		if werr := o.conclude(path, result, nil, checks); werr != nil && !errors.Is(werr, errCheckFailed) {
			return werr
		}
		return typed
	}
	if sc := result.Replay.Script; err == nil && sc.Calls > 0 && sc.Failed == sc.Calls {
		return usagef(allFailedHint(sc.FirstError), "every call failed; the first: %s", sc.FirstError)
	}
	if err == nil && result.Replay.Trace.Calls == 0 && len(t.Seen().Scripts) > 0 {
		return usagef("--any-script replays all script calls", "%s has no call of this script, %s; it has %s", path, o.trace.options.SHA[:12]+"…", otherScripts(t))
	}
	return o.conclude(path, result, err, checks)
}

// allFailedHint is what may help when every call failed with such an error.
func allFailedHint(first string) string {
	switch {
	case strings.Contains(first, "outside of the scratch prefix"):
		return declareKeys
	case strings.Contains(first, "NOPERM"):
		return "redis-cli ACL SETUSER NAME '~weir-replay:*', and the commands that the script calls"
	case strings.HasPrefix(first, "CLUSTERDOWN"), strings.HasPrefix(first, "MISCONF"), strings.HasPrefix(first, "READONLY"), strings.HasPrefix(first, "LOADING"), strings.HasPrefix(first, "MASTERDOWN"), strings.HasPrefix(first, "NOREPLICAS"):
		return "the server itself is not ready to write; redis-cli INFO says how it is"
	}
	return "--map says what the script is given"
}

// declareKeys is the hint for a script that a server's scratch keys do not hold.
const declareKeys = "give the script every key in KEYS; weir replay on the embedded store, without --redis, runs it as it is"

func otherScripts(t *trace) string {
	for sha, n := range t.Seen().Scripts {
		return fmt.Sprintf("%s of %s and %d others", plural(int(n), "call"), report.Clean(sha), len(t.Seen().Scripts)-1)
	}
	return "none"
}

// scriptFailure types an error of replaying a script.
func scriptFailure(err error) error {
	var bad *replay.ScriptError
	var meaning *replay.MeaningError
	var stuck *replay.StuckError
	var left *replay.LeftoverError
	var line *replay.LineError
	var spec *limit.SpecError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case errors.As(err, &bad):
		hint := "fix the script"
		if strings.Contains(bad.Error(), "outside of the scratch prefix") {
			hint = declareKeys
		}
		if bad.Text != "" {
			hint = fmt.Sprintf("line %d reads: %s", bad.Line, report.Clean(bad.Text))
		}
		return usageError(err, hint)
	case errors.As(err, &meaning):
		return usageError(err, "--admitted-if 'reply[1]==1'")
	case errors.As(err, &stuck):
		hint := "look for a loop without an end; --script-timeout gives it longer"
		if stuck.Killed != nil && !stuck.Own {
			hint = "a script that has written cannot be killed: the server stays busy until it ends"
		}
		return reachError(err, hint)
	case errors.As(err, &left):
		return reachError(err, "redis-cli --scan --pattern '"+left.Prefix+"*' | xargs redis-cli UNLINK")
	case errors.As(err, &spec):
		return usageError(err, "--limit "+spec.Hint)
	case errors.As(err, &line):
		return traceError("the trace", err)
	}
	return redisError(err)
}

// limitError types an error about a limit.
func limitError(err error) error {
	var spec *limit.SpecError
	if errors.As(err, &spec) && spec.Hint != "" {
		return usageError(err, "--limit "+spec.Hint)
	}
	return usageError(err, "--limit 10/s,burst=20")
}
