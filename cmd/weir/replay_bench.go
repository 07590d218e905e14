package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
)

// benchOptions are the flags of `weir replay bench`.
type benchOptions struct {
	app         *app
	limit       string
	maps        []string
	connections []int
	pipelines   []int
	each        time.Duration
	keys        string
	rate        string
	planKeys    string
	danger      bool
	redis       *redisFlags
	console     *console
	out         *output
}

func newReplayBenchCmd(a *app) *cobra.Command {
	o := &benchOptions{app: a}
	cmd := &cobra.Command{
		Use:   "bench SCRIPT...",
		Short: "Measure what limiter scripts cost on a Redis node",
		Long: `Calls each script as fast as the node answers, over several numbers of
connections and pipelines, and beside it SET and INCR in the same run: calls a
second, latency, and how much of a core the server used. Then it says what a key
takes in memory, whether a key gets slower the more it is asked for, how many
nodes a rate needs at half load, and how much memory so many keys take.

It loads the server it is told of, so name one that may be loaded: --redis start
starts one for the run. Its keys are under a prefix of their own and removed
afterwards. own is weir's own script for the --limit. A script on its caller's
clock is called with the time at the start.`,
		Example: `  weir replay bench own --limit 10/s,burst=20 --redis start
  weir replay bench limiter.lua --map 'KEYS[1]={key}' --map 'ARGV[1]=10' --redis redis://127.0.0.1:6379 --rate 200k --plan-keys 5M`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return argNames("SCRIPT")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	fs := cmd.Flags()
	fs.StringVar(&o.limit, "limit", "10/s,burst=20", "the `LIMIT` whose numbers the script is given")
	fs.StringArrayVar(&o.maps, "map", nil, "`WHAT` the scripts are given, such as 'KEYS[1]={key}' (repeatable)")
	fs.IntSliceVar(&o.connections, "connections", []int{1, 16, 50}, "numbers of connections to measure with")
	fs.IntSliceVar(&o.pipelines, "pipelines", []int{1, 16}, "numbers of calls sent together to measure with")
	fs.DurationVar(&o.each, "each", time.Second, "how long one measurement takes")
	fs.StringVar(&o.keys, "keys", "10k", "how many keys the calls are spread over")
	fs.StringVar(&o.rate, "rate", "100k", "calls a second to plan nodes for")
	fs.StringVar(&o.planKeys, "plan-keys", "1M", "keys to plan memory for")
	fs.BoolVar(&o.danger, "allow-dangerous", false, "run a script that calls FLUSHALL, KEYS, CONFIG and the like, or what cannot be read in it")
	o.redis = newRedisFlags(fs)
	o.console = newConsole(fs)
	o.out = newOutput(fs, "text", "json", "csv")
	return cmd
}

func (o *benchOptions) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	b := &replay.Bench{Connections: o.connections, Pipelines: o.pipelines, Each: o.each}
	if err := o.numbers(b); err != nil {
		return err
	}
	spec, _, err := parseLimit(o.limit)
	if err != nil {
		return err
	}
	for _, name := range args {
		h, err := o.half(name, &spec)
		if err != nil {
			return err
		}
		b.Scripts = append(b.Scripts, *h)
	}
	if err := o.out.check(); err != nil {
		return err
	}
	c, done, err := o.open(cmd)
	if err != nil {
		return err
	}
	defer done()
	b.Client = c
	var p *progress
	if o.console.progress(o.app) {
		p = newProgress(o.app)
		p.beginShare("bench")
		b.Progress = p.share
	}
	r, err := b.Run(ctx)
	p.end()
	var left *replay.LeftoverError
	switch {
	case errors.Is(err, replay.ErrPlainOnly):
		return usageError(err, "--redis redis://127.0.0.1:6379")
	case errors.As(err, &left):
		return scriptFailure(err)
	case ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return scriptFailure(err)
	}
	for _, row := range r.Rows {
		if row.Failed == row.Calls && row.Calls > 0 {
			return usagef("--map says what the script is given", "every call of %s failed; the first: %s", row.Clean(), row.FirstError)
		}
	}
	return o.out.write(o.app, func(w io.Writer) error {
		switch o.out.format {
		case "json":
			return writeJSON(w, r)
		case "csv":
			return writeBenchCSV(w, r)
		}
		return writeBenchText(w, r)
	})
}

// numbers reads the counts.
func (o *benchOptions) numbers(b *replay.Bench) error {
	for _, c := range []struct {
		flag, text string
		most       int64
		into       func(int64)
	}{{"keys", o.keys, 1_000_000, func(n int64) { b.Keys = int(n) }}, {"rate", o.rate, 1e12, func(n int64) { b.Rate = n }}, {"plan-keys", o.planKeys, 1e12, func(n int64) { b.PlanKeys = n }}} {
		n, err := limit.ParseCount(c.text)
		if err != nil || n < 1 || n > c.most {
			return usagef("--"+c.flag+" 10k", "--%s %q is not a count from 1 to %s", c.flag, c.text, report.Count(c.most))
		}
		c.into(n)
	}
	for _, l := range [][]int{o.connections, o.pipelines} {
		if len(l) == 0 {
			return usagef("--connections 1,16,50 --pipelines 1,16", "--connections and --pipelines name at least one number")
		}
		for _, n := range l {
			if n < 1 || n > 1000 {
				return usagef("--connections 1,16,50 --pipelines 1,16", "%d connections or calls together are not from 1 to 1000", n)
			}
		}
	}
	if o.each < 10*time.Millisecond || o.each > time.Minute {
		return usagef("--each 1s", "--each %v is not from 10ms to 1m", o.each)
	}
	return nil
}

// half reads one script.
func (o *benchOptions) half(name string, spec *limit.Spec) (*replay.Half, error) {
	maps := o.maps
	var script *replay.Script
	if name == ownScript {
		own, ownMaps, _, err := replay.Own(*spec)
		if err != nil {
			return nil, limitError(err)
		}
		script, maps = own, ownMaps
	} else {
		var err error
		if script, err = readScript(name, o.danger); err != nil {
			return nil, err
		}
		if k := replay.Recognise(script.Source); k != nil && len(maps) == 0 {
			maps = k.Maps()
		}
	}
	m, err := mapFor(script, maps, spec, false)
	if err != nil {
		return nil, err
	}
	if len(m.Fields) > 0 {
		return nil, usagef("--map 'KEYS[1]={key}'", "a benchmark has no trace, so no field {%s}", m.Fields[0])
	}
	return &replay.Half{Script: script, Map: m}, nil
}

// open reaches the node.
func (o *benchOptions) open(cmd *cobra.Command) (*redis.Client, func(), error) {
	ctx := cmd.Context()
	if !o.redis.given() || o.redis.embedded() {
		return nil, nil, usagef("weir replay bench own --redis start", "a benchmark needs a --redis, and the embedded store is none to measure")
	}
	if string(o.redis.url) == startRedis {
		p, err := replay.StartServer(ctx)
		if err != nil {
			return nil, nil, reachError(err, "install redis-server, or name one with --redis redis://127.0.0.1:6379")
		}
		c, err := redisconn.Open(redisconn.Options{URL: p.URL()})
		if err != nil {
			p.Stop()
			return nil, nil, redisError(err)
		}
		return c.(*redis.Client), func() { _ = c.Close(); p.Stop() }, nil
	}
	u, err := o.redis.open(ctx, o.app)
	if err != nil {
		return nil, nil, err
	}
	c, ok := u.(*redis.Client)
	if !ok || c.Options().Network != "tcp" && c.Options().Network != "unix" {
		_ = u.Close()
		return nil, nil, usageError(replay.ErrPlainOnly, "--redis with the URL of one node")
	}
	return c, func() { _ = c.Close() }, nil
}

func writeBenchText(w io.Writer, r *replay.BenchResult) error {
	fmt.Fprintf(w, "%s, %s keys, %s s each\n\n", report.Clean(r.Server), report.Count(int64(r.Keys)), secondsOf(r.EachS))
	fmt.Fprintf(w, "%-32s %5s %5s %10s %7s %8s %8s %6s\n", "", "conns", "pipe", "calls/s", "of SET", "p50 ms", "p99 ms", "CPU")
	last := ""
	for _, row := range r.Rows {
		if form := fmt.Sprint(row.Connections, row.Pipeline); form != last {
			if last != "" {
				fmt.Fprintln(w)
			}
			last = form
		}
		name := []rune(row.Clean())
		if len(name) > 32 {
			name = append([]rune("…"), name[len(name)-31:]...)
		}
		fmt.Fprintf(w, "%-32s %5d %5d %10s %7.2f %8.3f %8.3f %5.0f%%\n", string(name), row.Connections, row.Pipeline, report.Count(int64(row.PerS)), row.OfSet, row.P50MS, row.P99MS, row.ServerCPU*100)
		if row.Failed > 0 {
			fmt.Fprintf(w, "  %s of them failed; the first: %s\n", report.Count(row.Failed), row.FirstError)
		}
	}
	if busiest := busiestServer(r); busiest > 0 && busiest < 0.8 {
		fmt.Fprintf(w, "\nthe server never used more than %.0f%% of a core: something else on this machine, or between, was the bound, so look at the CPU and not at calls/s\n", busiest*100)
	}
	for _, s := range r.Scripts {
		fmt.Fprintf(w, "\n%s\n", report.Clean(s.Script))
		fmt.Fprintf(w, "  %.0f bytes a key; %s keys take %.0f MB\n", s.BytesPerKey, report.Count(s.PlanKeys), s.MemoryMB)
		if s.HotLateUS > 0 {
			fmt.Fprintf(w, "  one key alone: %.1f µs of the server a call at first, %.1f after %s\n", s.HotEarlyUS, s.HotLateUS, report.Count(s.HotCalls))
		}
		if s.Growth() > 2 {
			fmt.Fprintf(w, "  it gets dearer as its state grows, %.1f times here\n", s.Growth())
		}
		if s.Shards > 0 {
			nodes := "nodes"
			if s.Shards == 1 {
				nodes = "node"
			}
			fmt.Fprintf(w, "  %s calls a second need %s %s like this at half load: a whole core answers %s calls/s without pipelines (%s measured)\n", report.Count(s.Rate), report.Count(s.Shards), nodes, report.Count(int64(s.CapacityPerS)), report.Count(int64(s.BestPerS)))
		}
	}
	return nil
}

// busiestServer is the most of a core that any measurement took.
func busiestServer(r *replay.BenchResult) (most float64) {
	for _, row := range r.Rows {
		most = max(most, row.ServerCPU)
	}
	return most
}

func writeBenchCSV(w io.Writer, r *replay.BenchResult) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"what", "connections", "pipeline", "calls", "failed", "per_s", "of_set", "p50_ms", "p99_ms", "server_cpu"})
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, row := range r.Rows {
		_ = c.Write([]string{row.Clean(), strconv.Itoa(row.Connections), strconv.Itoa(row.Pipeline), strconv.FormatInt(row.Calls, 10),
			strconv.FormatInt(row.Failed, 10), f(row.PerS), f(row.OfSet), f(row.P50MS), f(row.P99MS), f(row.ServerCPU)})
	}
	c.Flush()
	return c.Error()
}
