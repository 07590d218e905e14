//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// runScan runs `weir inspect scan` beside `redis-cli --memkeys` on the same
// server with the same keys, in turns, and then a foreground client alone and
// beside a scan.
func runScan(rounds, keys int) error {
	server, err := startServer()
	if err != nil {
		return err
	}
	defer server.stop()
	weir, remove, err := built()
	if err != nil {
		return err
	}
	defer remove()
	if err := fill(server.client, keys); err != nil {
		return err
	}
	scan := []string{weir, "inspect", "scan", "--quiet", "--json", "--redis", "redis://127.0.0.1:" + server.port}
	runs := []*walk{
		{name: "redis-cli --memkeys", line: []string{"redis-cli", "-p", server.port, "--memkeys"}},
		{name: "weir inspect scan --pace max", line: append(slices.Clone(scan), "--pace", "max")},
		{name: "  and --limit 20/h,burst=20", line: append(slices.Clone(scan), "--pace", "max", "--limit", "20/h,burst=20")},
	}
	for range rounds {
		for _, r := range runs {
			if err := r.once(server); err != nil {
				return err
			}
		}
	}
	fmt.Printf("\nall of %d keys (medians of %d turns)\n%-36s %8s %6s %12s %12s %9s\n", keys, rounds, "", "seconds", "ratio", "client CPU-s", "server CPU-s", "RSS MB")
	base := middle(runs[0].took)
	for _, r := range runs {
		fmt.Printf("%-36s %8.2f %6.2f %12.2f %12.2f %9.0f\n", r.name, middle(r.took), middle(r.took)/base, middle(r.client), middle(r.server), slices.Max(r.rss))
	}
	return beside(server, scan, runs[0].line, rounds)
}

// fill writes keys as redis_rate does under 20 an hour: a third of the customers
// have all they may have, and a few have nothing left.
func fill(c *redis.Client, keys int) error {
	ctx := context.Background()
	now := float64(time.Now().UnixNano())/1e9 - 1483228800
	for i := 0; i < keys; {
		pipe := c.Pipeline()
		for ; i < keys && pipe.Len() < 1000; i++ {
			pipe.Set(ctx, fmt.Sprintf("rate:user:%d", i), fmt.Sprintf("%.6f", now+float64(i%90-30)*60), 48*time.Hour)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// walk is one way to go over all keys, and what it took in each turn.
type walk struct {
	name                 string
	line                 []string
	took, client, server []float64 // seconds
	rss                  []float64 // MB
}

func (r *walk) once(server *server) error {
	_, before, err := server.spent()
	if err != nil {
		return err
	}
	start := time.Now()
	cmd := exec.Command(r.line[0], r.line[1:]...)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	r.took = append(r.took, time.Since(start).Seconds())
	r.client = append(r.client, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	r.rss = append(r.rss, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
	_, after, err := server.spent()
	r.server = append(r.server, after-before)
	return err
}

// A foreground client is watched for short turns, many of them, since what else
// a machine does comes and goes.
const (
	glance  = 2 * time.Second
	glances = 5 // in each round
)

// beside has a client send GETs one after the other, alone and beside others.
func beside(server *server, scan, memkeys []string, rounds int) error {
	ways := []struct {
		name string
		line []string
	}{
		{"alone", nil},
		{"beside weir inspect scan", scan},
		{"beside weir inspect scan --pace max", append(slices.Clone(scan), "--pace", "max")},
		{"beside redis-cli --memkeys", memkeys},
	}
	p50s, p99s := make([][]float64, len(ways)), make([][]float64, len(ways))
	for range rounds * glances {
		for i, w := range ways {
			p50, p99, err := watch(server, w.line)
			if err != nil {
				return err
			}
			p50s[i], p99s[i] = append(p50s[i], p50), append(p99s[i], p99)
		}
	}
	fmt.Printf("\na client that sends a GET every ms (medians of %d turns of %s)\n%-36s %10s %10s %8s\n", rounds*glances, glance, "", "p50 us", "p99 us", "ratio")
	for i, w := range ways {
		fmt.Printf("%-36s %10.0f %10.0f %8.2f\n", w.name, middle(p50s[i]), middle(p99s[i]), middle(p99s[i])/middle(p99s[0]))
	}
	return nil
}

// watch measures the client while line, if any, runs and runs again.
func watch(server *server, line []string) (p50, p99 float64, err error) {
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for line != nil && !over.Load() {
			cmd := exec.Command(line[0], line[1:]...)
			if cmd.Start() != nil {
				return
			}
			ended := make(chan struct{})
			go func() {
				for !over.Load() {
					select {
					case <-ended:
						return
					case <-time.After(10 * time.Millisecond):
					}
				}
				_ = cmd.Process.Kill() // what it found is of no use here
			}()
			_ = cmd.Wait() // killed at the end of the turn
			close(ended)
		}
	}()
	time.Sleep(300 * time.Millisecond) // until it has begun
	ctx := context.Background()
	var took []float64
	tick := time.NewTicker(time.Millisecond)
	for end := time.Now().Add(glance); time.Now().Before(end) && err == nil; {
		<-tick.C
		start := time.Now()
		err = server.client.Get(ctx, "rate:user:7").Err()
		took = append(took, float64(time.Since(start).Nanoseconds())/1e3)
	}
	tick.Stop()
	over.Store(true)
	<-done
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100], err
}

func middle(xs []float64) float64 {
	sorted := slices.Sorted(slices.Values(xs))
	return sorted[len(sorted)/2]
}
