//go:build linux

// Command peers runs weir beside wrk, bombardier, vegeta and h2load against
// one nginx worker on loopback, in one run, and prints requests a second,
// client CPU-seconds per million requests and peak memory, with the ratios to
// weir. Machines are noisy: tools take turns, medians are quoted, and only
// the ratios of one run mean something.
//
//	go run ./bench/peers [-rounds 3] [-seconds 4]
//
// It needs nginx and wrk (apt-get install nginx-light wrk nghttp2-client) and
// fetches bombardier and vegeta through the Go module proxy.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each tool has its turn")
	seconds := flag.Int("seconds", 4, "length of one run")
	only := flag.String("only", "closed,open", "which parts to run")
	flag.Parse()
	if err := run(*rounds, *seconds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(rounds, seconds int, only string) error {
	dir, err := os.MkdirTemp("", "weir-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tools, err := install(dir)
	if err != nil {
		return err
	}
	server, err := startNginx(dir)
	if err != nil {
		return err
	}
	defer server.stop()
	if strings.Contains(only, "closed") {
		for _, c := range []int{50, 1000, 10_000} {
			title := fmt.Sprintf("closed loop, %d connections", c)
			if err := compare(title, tools.closed(server.url, c, seconds), server, rounds); err != nil {
				return err
			}
		}
	}
	if strings.Contains(only, "open") {
		for _, rate := range []int{20_000, 40_000} {
			title := fmt.Sprintf("open loop, %d/s", rate)
			if err := compare(title, tools.open(server.url, rate, seconds, filepath.Join(dir, "result.json")), server, rounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare gives every command its turn, round by round, and prints medians.
func compare(title string, commands []command, server *nginx, rounds int) error {
	figures := make([][]figure, len(commands))
	for round := range rounds {
		for i, c := range commands {
			f, err := measure(c, server)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(os.Stderr, "%s, round %d of %d: %-12s %8.0f/s %6.2f CPU-s per million\n", title, round+1, rounds, c.name, f.rate, f.cpu)
			figures[i] = append(figures[i], f)
			// Closed connections linger; give the ports back before the next.
			time.Sleep(time.Second)
		}
	}
	fmt.Printf("\n%s (median of %d)\n", title, rounds)
	fmt.Printf("%-12s %12s %16s %10s %16s %14s  %s\n", "tool", "requests/s", "CPU-s/million", "peak MB", "req per CPU-s", "CPU x weir", "says")
	base := median(figures[0], func(f figure) float64 { return f.cpu })
	for i, c := range commands {
		cpu := median(figures[i], func(f figure) float64 { return f.cpu })
		fmt.Printf("%-12s %12.0f %16.2f %10.0f %16.0f %14.2f  %s\n", c.name,
			median(figures[i], func(f figure) float64 { return f.rate }), cpu,
			median(figures[i], func(f figure) float64 { return f.rss }), 1e6/cpu, cpu/base, figures[i][len(figures[i])-1].note)
	}
	return nil
}
