package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/report"
)

// Bench measures what scripts cost on one node, beside SET and INCR in the same
// run.
type Bench struct {
	Client      *redis.Client // of the node; its options say how to reach it
	Scripts     []Half
	Connections []int
	Pipelines   []int
	Each        time.Duration // of one measurement
	Keys        int           // that calls are spread over
	Rate        int64         // calls a second to make a plan for
	PlanKeys    int64         // keys to make a plan for
	Progress    func(done float64)
}

// BenchResult is what came of it.
type BenchResult struct {
	Schema  string       `json:"schema"`
	Server  string       `json:"server"`
	EachS   float64      `json:"each_s"`
	Keys    int          `json:"keys"`
	Rows    []BenchRow   `json:"rows"`
	Scripts []BenchState `json:"scripts"`
}

// BenchSchema names the document.
const BenchSchema = "weir.bench/v1"

// BenchRow is one measurement.
type BenchRow struct {
	What        string  `json:"what"` // SET, INCR or a script
	Connections int     `json:"connections"`
	Pipeline    int     `json:"pipeline"`
	Calls       int64   `json:"calls"`
	Failed      int64   `json:"failed"`
	PerS        float64 `json:"per_s"`
	OfSet       float64 `json:"of_set"` // of SET's calls a second, in the same form
	P50MS       float64 `json:"p50_ms"`
	P99MS       float64 `json:"p99_ms"`
	ServerCPU   float64 `json:"server_cpu"` // 1 is one core
	FirstError  string  `json:"first_error,omitempty"`
}

// BenchState is what a script keeps and what that means.
type BenchState struct {
	Script      string  `json:"script"`
	BytesPerKey float64 `json:"bytes_per_key"`
	// One key alone: µs that the server computes for a call, at first and after
	// many; 0 where the server does not tell.
	HotEarlyUS float64 `json:"hot_early_us"`
	HotLateUS  float64 `json:"hot_late_us"`
	HotCalls   int64   `json:"hot_calls"`
	BestPerS   float64 `json:"best_per_s"` // without pipelines
	// CapacityPerS is what a whole core of the node would answer at that cost:
	// what drove it, or else on its machine, may have been the bound. Never below
	// BestPerS.
	CapacityPerS float64 `json:"capacity_per_s"`
	Rate         int64   `json:"rate"`
	Shards       int64   `json:"shards"` // for Rate, each half loaded
	PlanKeys     int64   `json:"plan_keys"`
	MemoryMB     float64 `json:"memory_mb"` // of all shards
}

// ErrPlainOnly is a connection that the benchmark cannot drive.
var ErrPlainOnly = errors.New("the benchmark needs a connection without TLS to a single server")

// Run measures.
func (b *Bench) Run(ctx context.Context) (out *BenchResult, err error) {
	o := b.Client.Options()
	if o.TLSConfig != nil {
		return nil, ErrPlainOnly
	}
	store, err := NewRemote(ctx, b.Client)
	if err != nil {
		return nil, err
	}
	prefix := scratch()
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_, err = clearScratch(clean, store, prefix, err)
	}()
	out = &BenchResult{Schema: BenchSchema, Server: store.Name(), EachS: b.Each.Seconds(), Keys: b.Keys}
	kinds := []struct {
		name     string
		commands []command
	}{{"SET", b.plain(prefix, "SET")}, {"INCR", b.plain(prefix, "INCR")}}
	for i, h := range b.Scripts {
		if err := compiles(ctx, store, h.Script); err != nil {
			return nil, err
		}
		if err := b.trial(ctx, store, h, prefix+"trial:"); err != nil {
			return nil, err
		}
		kinds = append(kinds, struct {
			name     string
			commands []command
		}{h.Script.Name, b.calls(h, fmt.Sprintf("%ss%d:", prefix, i), b.Keys)})
	}
	total, done := float64(len(kinds)*len(b.Connections)*len(b.Pipelines)+len(b.Scripts)), 0.0
	step := func() {
		if done++; b.Progress != nil {
			b.Progress(done / total)
		}
	}
	sets := map[[2]int]float64{}
	best, capacity := map[string]float64{}, map[string]float64{}
	for _, conns := range b.Connections {
		for _, pipeline := range b.Pipelines {
			for _, k := range kinds {
				if ctx.Err() != nil {
					return out, ctx.Err()
				}
				row, err := b.measure(ctx, k.name, newOrders(k.commands, pipeline), conns, pipeline)
				if err != nil {
					return nil, err
				}
				if k.name == "SET" {
					sets[[2]int{conns, pipeline}] = row.PerS
				}
				if base := sets[[2]int{conns, pipeline}]; base > 0 {
					row.OfSet = row.PerS / base
				}
				if pipeline == 1 {
					best[k.name] = max(best[k.name], row.PerS)
					capacity[k.name] = max(capacity[k.name], row.capacity())
				}
				out.Rows = append(out.Rows, *row)
				step()
			}
		}
	}
	for i, h := range b.Scripts {
		s, err := b.state(ctx, h, fmt.Sprintf("%ss%d:", prefix, i), best[h.Script.Name], capacity[h.Script.Name])
		if err != nil {
			return nil, err
		}
		out.Scripts = append(out.Scripts, *s)
		step()
	}
	return out, nil
}

func (b *Bench) plain(prefix, name string) []command {
	all := make([]command, b.Keys)
	for i := range all {
		all[i] = command{name, prefix + name + ":k-" + strconv.Itoa(i+1)}
		if name == "SET" {
			all[i] = append(all[i], "1234567890")
		}
	}
	return all
}

// calls are one for each of so many keys, on the clock of now.
func (b *Bench) calls(h Half, prefix string, keys int) []command {
	all := make([]command, keys)
	now := time.Now().UnixNano()
	for i := range all {
		c := Call{Key: []byte("k-" + strconv.Itoa(i+1)), Cost: 1}
		all[i] = evalsha(h.Script.SHA, h.Map.fill(&c, prefix, moment{now: now, number: int64(i + 1)}))
	}
	return all
}

// trialTime bounds one call before anything is measured; it is below the time
// that a client waits for a reply, after which it would call again.
const trialTime = 2 * time.Second

// trial calls a script on a new key and on one that is there, within a time
// limit and behind the shim, which nothing is when it is measured: a script
// that never ends, or reaches for other keys, is not let loose. What else a
// call fails of is told with the figures.
func (b *Bench) trial(ctx context.Context, store Store, h Half, prefix string) error {
	shimmed := h.Script.shimmed()
	if err := compiles(ctx, store, shimmed); err != nil {
		return err
	}
	s := &session{Run: &Run{Store: store, Timeout: trialTime}}
	c := Call{Key: []byte("k-1"), Cost: 1}
	if err := rehearse(ctx, []Half{h}, &c, time.Now().UnixNano(), trialTime); err != nil {
		return err
	}
	for i := range int64(2) {
		f := h.Map.fill(&c, prefix, moment{now: time.Now().UnixNano(), number: i + 1})
		answers, err := s.guarded(ctx, []command{evalsha(shimmed.SHA, f, control{prefix: prefix}.text())})
		if err != nil {
			return err
		}
		if err := answers[0].err; err != nil && strings.Contains(err.Error(), outsideScratch) {
			text, _, _ := strings.Cut(err.Error(), " script: ")
			return &ScriptError{Name: h.Script.Name, Err: errors.New(strings.TrimPrefix(text, "ERR "))}
		}
	}
	return nil
}

func (b *Bench) measure(ctx context.Context, what string, l *orders, conns, pipeline int) (*BenchRow, error) {
	open, err := b.dial(ctx, conns)
	if err != nil {
		return nil, err
	}
	before, known := b.cpu(ctx)
	t, err := drive(ctx, open, l, pipeline, b.Each)
	if err != nil {
		return nil, err
	}
	row := &BenchRow{What: what, Connections: conns, Pipeline: pipeline, Calls: t.calls, Failed: t.failed, PerS: t.perSecond(),
		P50MS: float64(t.latency.Quantile(0.5)) / 1e6, P99MS: float64(t.latency.Quantile(0.99)) / 1e6, FirstError: t.first}
	if after, ok := b.cpu(ctx); ok && known {
		row.ServerCPU = (after - before) / t.took.Seconds()
	}
	return row, nil
}

// patience is how long a server that is measured may say or take nothing.
const patience = 5 * time.Second

// dial opens connections that are logged in.
func (b *Bench) dial(ctx context.Context, n int) (all []net.Conn, err error) {
	defer func() {
		if err != nil {
			for _, c := range all {
				_ = c.Close()
			}
		}
	}()
	o := b.Client.Options()
	var hello []byte
	replies := 0
	if o.Password != "" {
		c := command{"AUTH", o.Password}
		if o.Username != "" {
			c = command{"AUTH", o.Username, o.Password}
		}
		hello, replies = appendCommand(hello, c), replies+1
	}
	if o.DB != 0 {
		hello, replies = appendCommand(hello, command{"SELECT", strconv.Itoa(o.DB)}), replies+1
	}
	for range n {
		d := net.Dialer{Timeout: o.DialTimeout}
		c, err := d.DialContext(ctx, o.Network, o.Addr)
		if err != nil {
			return all, err
		}
		all = append(all, c)
		if replies == 0 {
			continue
		}
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			return all, err
		}
		if _, err := c.Write(hello); err != nil {
			return all, err
		}
		buf := make([]byte, 5*replies)
		if _, err := io.ReadFull(c, buf); err != nil {
			return all, err
		}
		if string(buf) != strings.Repeat("+OK\r\n", replies) {
			return all, errors.New("the server refused the login that its client uses")
		}
	}
	return all, nil
}

// cpu is how long the server has computed, in seconds.
func (b *Bench) cpu(ctx context.Context) (float64, bool) {
	info, err := b.Client.Info(ctx, "cpu").Result()
	if err != nil {
		return 0, false
	}
	sum, found := 0.0, 0
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			f, err := strconv.ParseFloat(value, 64)
			if err == nil {
				sum, found = sum+f, found+1
			}
		}
	}
	return sum, found == 2
}

// hotPipeline is how many calls on one key are sent together.
const hotPipeline = 16

// memorySample is how many calls' keys are measured.
const memorySample = 100

// state measures what a script keeps per key, and one key that is asked for
// again and again.
func (b *Bench) state(ctx context.Context, h Half, prefix string, best, capacity float64) (*BenchState, error) {
	s := &BenchState{Script: h.Script.Name, BestPerS: best, CapacityPerS: capacity, Rate: b.Rate, PlanKeys: b.PlanKeys}
	var bytes int64
	n := min(b.Keys, memorySample)
	for _, c := range b.calls(h, prefix+"memory:", n) {
		// A call of its own: those of the measurements may have expired.
		words := make([]any, len(c))
		for i, w := range c {
			words[i] = w
		}
		if err := b.Client.Do(ctx, words...).Err(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		keys, _ := strconv.Atoi(c[2])
		for _, k := range c[3 : 3+keys] {
			m, err := b.Client.MemoryUsage(ctx, k).Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				return nil, err
			}
			bytes += m
		}
	}
	s.BytesPerKey = float64(bytes) / float64(n)
	hot := newOrders(b.calls(h, prefix+"hot:", 1), hotPipeline)
	for _, cost := range []*float64{&s.HotEarlyUS, nil, &s.HotLateUS} {
		conns, err := b.dial(ctx, 1)
		if err != nil {
			return nil, err
		}
		before, known := b.cpu(ctx)
		t, err := drive(ctx, conns, hot, hotPipeline, b.Each/3)
		if err != nil {
			return nil, err
		}
		s.HotCalls += t.calls
		if after, ok := b.cpu(ctx); cost != nil && ok && known {
			*cost = (after - before) * 1e6 / float64(t.calls)
		}
	}
	if capacity > 0 {
		s.Shards = int64(math.Ceil(float64(b.Rate) / (capacity / 2)))
	}
	s.MemoryMB = s.BytesPerKey * float64(b.PlanKeys) / 1e6
	return s, nil
}

// knownCPU is the share of a core below which it says too little of a call.
const knownCPU = 0.02

// capacity is how many such calls a second a whole core would answer.
func (r *BenchRow) capacity() float64 {
	if r.ServerCPU < knownCPU || r.ServerCPU > 1 {
		return r.PerS
	}
	return r.PerS / r.ServerCPU
}

// Growth is how many times as much a call costs after many; 0 is unknown.
func (s *BenchState) Growth() float64 {
	if s.HotEarlyUS <= 0 {
		return 0
	}
	return s.HotLateUS / s.HotEarlyUS
}

// Clean makes texts of the server fit to print.
func (r *BenchRow) Clean() string { return report.Clean(r.What) }
