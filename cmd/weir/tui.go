package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// tuiOptions are the flags of `weir tui`.
type tuiOptions struct {
	app     *app
	attach  string
	limit   string
	view    string
	screen  string
	play    bool
	console *console

	// What follows is for --redis.
	redis  *redisFlags
	typed  bool // whether --redis is on the command line, and not known from elsewhere
	ids    []string
	rules  []string
	parts  []string
	files  []string
	layout string
	every  time.Duration
}

// inspectFlags are those of the flags that weir inspect has as well.
func (o *tuiOptions) inspectFlags() *inspectFlags {
	return &inspectFlags{redis: o.redis, files: o.files, layout: o.layout, limit: o.limit}
}

func newTUICmd(a *app) *cobra.Command {
	o := tuiOptions{app: a}
	cmd := &cobra.Command{
		Use:   "tui FILE | KEY...",
		Short: "A dashboard of a saved run, a running server or keys in Redis",
		Long: `Shows what weir load --events or weir load --json kept, to be wound through in
time, or with --attach a weir serve that is running. The dashboard of a run that
is being sent is weir load --tui, that of a simulation weir sim --tui.

With --redis, or WEIR_REDIS_URL and --id, it shows what limiters keep of a KEY or
a customer, as weir inspect get reads it, and how it refills. Only reads are
sent, and none more often than --every says.

Keys: 1 to 7 are the views, ? lists the rest, q leaves.

Without a terminal a file gives its report, as weir report does, and --attach and
--redis lines, once a second, until Ctrl-C. --screen prints one screen and needs
no terminal.`,
		Example: `  weir tui herd.ndjson
  weir tui --attach http://127.0.0.1:8080
  weir tui --redis redis://localhost:6379 --id k-7
  weir tui herd.ndjson --view clients --screen 120x40`,
		Args: func(cmd *cobra.Command, args []string) error {
			o.typed = cmd.Flags().Changed("redis") // settings come later
			switch {
			case o.attach != "":
				return argNames()(cmd, args)
			case o.inRedis() && len(args)+len(o.ids) == 0:
				return usagef(usageLine(cmd), "missing KEY, or --id ID")
			case o.inRedis():
				return nil
			}
			return argNames("FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			view, err := parseView(o.view)
			if err != nil {
				return err
			}
			if o.attach != "" {
				if o.limit != "" || o.play || o.screen != "" {
					return usagef("weir tui --attach "+shellQuote(o.attach), "--limit, --play and --screen are for a file")
				}
				return o.watchServer(cmd.Context(), view)
			}
			if o.inRedis() {
				if o.play {
					return usagef("weir tui --redis redis://localhost:6379 --id k-7", "--play is for a file")
				}
				return o.watchRedis(cmd.Context(), args)
			}
			for _, name := range redisOnly {
				if cmd.Flags().Changed(name) {
					return usagef("weir tui --redis redis://localhost:6379 --id k-7", "--%s is for a Redis, and none was named", name)
				}
			}
			return o.openFile(cmd.Context(), args[0], view)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.attach, "attach", "", "watch the weir serve at this `URL`")
	fs.StringVar(&o.limit, "limit", "", "judge saved events by this promise, such as `10/s,burst=20` (default: the run's own); in Redis, the limit where the state does not say it")
	fs.Var(newChoice(&o.view, viewNames()...), "view", "the view to begin with")
	fs.StringVar(&o.screen, "screen", "", "print one screen of this size, such as `120x40`, as text")
	fs.BoolVar(&o.play, "play", false, "play from the beginning, instead of showing the end")
	o.redis = newRedisFlags(fs)
	fs.StringArrayVar(&o.ids, "id", nil, "in Redis, the keys of this customer, by `ID` (repeatable)")
	fs.StringArrayVar(&o.rules, "rule", nil, "in Redis, the rule that stands in the names, by `NAME` (repeatable)")
	fs.StringArrayVar(&o.parts, "part", nil, "in Redis, what stands in the names in place of a placeholder, as `NAME=VALUE` (repeatable)")
	newLayoutFiles(fs, &o.files)
	fs.StringVar(&o.layout, "layout", "", "in Redis, take the state for that of this layout, by `NAME` (see weir inspect layouts)")
	fs.DurationVar(&o.every, "every", watchEvery, "how often Redis is read, at least 200ms apart")
	complete(cmd, "layout", layoutNames, cobra.ShellCompDirectiveNoFileComp)
	o.console = newConsole(fs)
	return cmd
}

// redisOnly are the flags that say nothing without a Redis.
var redisOnly = []string{"rule", "part", "layouts", "layout", "every"}

// inRedis reports whether keys in a Redis are meant: one was named on the
// command line, or is known from elsewhere and there are customers to look for.
func (o *tuiOptions) inRedis() bool { return o.typed || len(o.ids) > 0 }

func viewNames() []string {
	var names []string
	for v := tui.Traffic; v <= tui.Bucket; v++ {
		names = append(names, v.String())
	}
	return names
}

func parseView(name string) (tui.View, error) {
	for v := tui.Traffic; v <= tui.Bucket; v++ {
		if v.String() == name {
			return v, nil
		}
	}
	return 0, usagef("--view traffic", "--view %s is none of %s", name, strings.Join(viewNames(), ", "))
}

// screenMost bounds both sides of --screen.
const screenMost = 1000

func parseScreen(text string) (w, h int, err error) {
	a, b, ok := strings.Cut(text, "x")
	w, err1 := strconv.Atoi(a)
	h, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || w < 1 || h < 1 || w > screenMost || h > screenMost {
		return 0, 0, usagef("--screen 120x40", "--screen %q is not COLUMNSxROWS", text)
	}
	return w, h, nil
}

// readingLong is the size of a file from which on it takes long enough to read
// for somebody to wonder.
const readingLong = 20_000_000

// openFile shows a saved run or a saved result.
func (o *tuiOptions) openFile(ctx context.Context, path string, view tui.View) error {
	var w, h int
	if o.screen != "" {
		var err error
		if w, h, err = parseScreen(o.screen); err != nil {
			return err
		}
	}
	_, promise, err := parsePromise(o.limit)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return unopened(err, "weir load http://127.0.0.1:8080/ --events "+shellQuote(path))
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > readingLong && w == 0 && o.console.screen(o.app) {
		fmt.Fprintf(o.app.stderr, "reading %s: %s MB\n", shellQuote(report.Clean(path)), report.Count(st.Size()/1e6))
	}
	in, err := savedReader(f)
	if err != nil {
		return usageError(fmt.Errorf("%s: %w", path, err), "gunzip --keep "+shellQuote(path))
	}
	about, frames, err := readSaved(in, promise)
	if err != nil {
		return tuiFileError(path, err)
	}
	tape := tui.NewTape(about, frames, o.play)
	switch {
	case w > 0:
		return o.print(tui.Screen(tape, tui.Options{View: view}, w, h))
	case !o.console.dashboard(o.app):
		return o.report(about.Result)
	}
	if err := startDashboard(ctx, o.app, o.console, tape, view).Wait(); err != nil {
		return dashboardError(err)
	}
	return o.report(about.Result)
}

func (o *tuiOptions) print(text string) error {
	return toStdout(o.app, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// report prints what the dashboard would have shown.
func (o *tuiOptions) report(r *report.Result) error {
	out := &output{format: "text"}
	return out.write(o.app, func(w io.Writer) error { return renderResult(o.app, w, r, out, o.console) })
}

// readSaved reads a file of either kind.
func readSaved(in *bufio.Reader, promise *report.Promise) (tui.About, []*report.Snapshot, error) {
	head, _ := in.Peek(512)
	line, _, _ := strings.Cut(string(head), "\n")
	if strings.Contains(line, `"weir.events/`) {
		return readEvents(in, promise)
	}
	if promise != nil {
		return tui.About{}, nil, errLimitOnResult
	}
	r, err := report.ReadResult(in)
	if err != nil {
		return tui.About{}, nil, err
	}
	about := tui.About{Kind: "result", Name: r.Name, Sending: -1, Length: int64(r.DurationS * 1e9), Result: r, Marks: r.Marks,
		Missing: map[tui.View]string{tui.Bucket: "A result does not keep what the answers told; the events of a run do (weir load --events)."}}
	if r.Bound != nil {
		// What cannot be read back is left out of the chart; the verdict stands.
		if _, p, err := parseLimit(r.Bound.Promise); err == nil {
			about.Promise = p
		}
	}
	if r.Herd.Retries == 0 {
		about.Missing[tui.Clients] = "This result saw nobody come back. When and after what waits clients return stands in the events of a run (weir load --events)."
	}
	if len(r.PerTarget) == 0 {
		about.Missing[tui.Fleet] = "This result has no rows for targets."
	}
	return about, []*report.Snapshot{r.View()}, nil
}

var errLimitOnResult = errors.New("a result is judged already; only saved events can be judged by another --limit")

func readEvents(in io.Reader, promise *report.Promise) (tui.About, []*report.Snapshot, error) {
	saved, err := report.NewEventReader(in)
	if err != nil {
		return tui.About{}, nil, err
	}
	r, frames, err := report.RebuildFilm(saved, promise)
	if err != nil {
		return tui.About{}, nil, err
	}
	if promise == nil {
		promise = saved.Promise()
	}
	about := tui.About{Kind: "saved " + saved.Header.Source, Name: saved.Header.Name, Promise: promise, Sending: -1,
		Length: int64(r.DurationS * 1e9), Result: r, Marks: r.Marks}
	if !saved.Complete() {
		about.Trouble = "the file was cut off: this is what is left of the run"
	}
	return about, frames, nil
}

// tuiFileError types an error of reading a file.
func tuiFileError(path string, err error) error {
	var schema *report.SchemaError
	hint := "weir tui takes what weir load --events FILE or --json --out FILE wrote"
	switch {
	case errors.Is(err, errLimitOnResult):
		hint = "weir tui " + shellQuote(path)
	case errors.As(err, &schema):
		hint = "a newer weir may have written it; " + hint
	}
	return usageError(fmt.Errorf("%s: %w", path, err), hint)
}
