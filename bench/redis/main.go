//go:build linux

// Command redis runs the store of weir's limiter beside redis-benchmark with
// the same script on the same redis-server, in one run, and prints checks a
// second, CPU-seconds of client and server per million checks, and the ratios
// to redis-benchmark. Machines are noisy: both take turns, medians are quoted,
// and only the ratios of one run mean something; where others use the machine,
// only those of CPU-seconds.
//
//	go run ./bench/redis [-rounds 5] [-checks 150000]
//	go run ./bench/redis -scan 1000000 [-rounds 3]
//	go run ./bench/redis -replay [-rounds 5]
//
// It needs redis-server and redis-benchmark (apt-get install redis-server
// redis-tools).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each has its turn")
	checks := flag.Int("checks", 150_000, "checks in one turn")
	keys := flag.Int("scan", 0, "in place of that, scan this many keys beside redis-cli --memkeys")
	driver := flag.Bool("replay", false, "in place of that, run weir replay bench beside redis-benchmark")
	flag.Parse()
	do := func() error { return run(*rounds, *checks) }
	if *keys > 0 {
		do = func() error { return runScan(*rounds, *keys) }
	}
	if *driver {
		do = func() error { return runReplay(*rounds) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/redis:", err)
		os.Exit(1)
	}
}

// contender is one way to send the checks.
type contender struct {
	name string
	send func(checks int) (cpu time.Duration, err error)
}

func run(rounds, checks int) error {
	server, part, words, err := scripted("1000000000/s,burst=1000000")
	if err != nil {
		return err
	}
	defer server.stop()
	tool := func(pipeline int) contender {
		return contender{fmt.Sprintf("redis-benchmark -c 50 -P %d", pipeline), func(n int) (time.Duration, error) {
			return server.benchmark(pipeline, n, words)
		}}
	}
	store := func(name string, callers int, o redislimit.Options) contender {
		return contender{name, func(n int) (time.Duration, error) { return takeAll(server, part, callers, n, o) }}
	}
	for _, c := range []struct {
		title string
		of    []contender
	}{
		{"one check a round trip, 50 in flight", []contender{
			tool(1),
			store("store, 50 callers, 50 lanes of 1", 50, redislimit.Options{Lanes: 50, Batch: 1}),
			store("store, 50 callers, as it comes", 50, redislimit.Options{}),
		}},
		{"16 checks a round trip, 800 in flight", []contender{
			tool(16),
			store("store, 800 callers, 50 lanes of 16", 800, redislimit.Options{Lanes: 50, Batch: 16}),
			store("store, 800 callers, as it comes", 800, redislimit.Options{}),
		}},
	} {
		if err := compare(server, c.title, c.of, rounds, checks); err != nil {
			return err
		}
	}
	return nil
}

// scripted starts a server that has a limit's script, and gives a check of one
// key with the words that it is sent as.
func scripted(text string) (s *server, part redislimit.Part, words []string, err error) {
	if part, err = bucket(text); err != nil {
		return nil, part, nil, err
	}
	source, words, err := redislimit.Wire(part)
	if err != nil {
		return nil, part, nil, err
	}
	if s, err = startServer(); err != nil {
		return nil, part, nil, err
	}
	if err = s.client.ScriptLoad(context.Background(), source).Err(); err != nil {
		s.stop()
		return nil, part, nil, err
	}
	return s, part, words, nil
}

func bucket(text string) (redislimit.Part, error) {
	spec, err := limit.ParseSpec(text)
	if err != nil {
		return redislimit.Part{}, err
	}
	rule, err := redislimit.Compile(spec)
	return redislimit.Part{Key: redislimit.Key("", "k-7", "requests"), Rule: rule, Cost: 1}, err
}

// figure is one turn, counted by the server and the kernel.
type figure struct {
	rate           float64 // checks a second
	client, server float64 // CPU-seconds per million checks
}

// compare gives each its turn, round by round, and prints medians. The first
// round warms up and is not counted.
func compare(server *server, title string, of []contender, rounds, checks int) error {
	figures := make([][]figure, len(of))
	for round := range rounds + 1 {
		for i, c := range of {
			f, err := measure(server, c, checks)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				figures[i] = append(figures[i], f)
			}
		}
	}
	fmt.Printf("\n%s (medians of %d turns of %d checks)\n%-36s %10s %6s  %24s %24s\n",
		title, rounds, checks, "", "checks/s", "ratio", "client CPU-s/million", "server CPU-s/million")
	base := median(figures[0], func(f figure) float64 { return f.rate })
	for i, c := range of {
		rate := median(figures[i], func(f figure) float64 { return f.rate })
		fmt.Printf("%-36s %10.0f %6.2f  %24.2f %24.2f\n", c.name, rate, rate/base,
			median(figures[i], func(f figure) float64 { return f.client }), median(figures[i], func(f figure) float64 { return f.server }))
	}
	return nil
}

func measure(server *server, c contender, checks int) (figure, error) {
	callsBefore, cpuBefore, err := server.spent()
	if err != nil {
		return figure{}, err
	}
	start := time.Now()
	client, err := c.send(checks)
	passed := time.Since(start)
	if err != nil {
		return figure{}, err
	}
	calls, cpu, err := server.spent()
	if err != nil {
		return figure{}, err
	}
	n := float64(calls - callsBefore)
	if int(n) != checks {
		return figure{}, fmt.Errorf("the server counted %.0f checks, not %d", n, checks)
	}
	return figure{rate: n / passed.Seconds(), client: client.Seconds() / n * 1e6, server: (cpu - cpuBefore) / n * 1e6}, nil
}

func median(of []figure, what func(figure) float64) float64 {
	var xs []float64
	for _, f := range of {
		xs = append(xs, what(f))
	}
	slices.Sort(xs)
	return xs[len(xs)/2]
}
