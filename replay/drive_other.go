//go:build !linux

package replay

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"
)

// drive sends the load over the connections for a time, each with so many
// calls in flight, from a goroutine each. It closes the connections.
func drive(ctx context.Context, conns []net.Conn, l *orders, pipeline int, d time.Duration) (tally, error) {
	var (
		all   tally
		mu    sync.Mutex
		first error
		wait  sync.WaitGroup
	)
	start := time.Now()
	defer context.AfterFunc(ctx, func() {
		for _, c := range conns {
			_ = c.Close()
		}
	})()
	for i, c := range conns {
		wait.Go(func() {
			defer c.Close()
			t, err := driveOne(ctx, c, l, i*l.n/len(conns), pipeline, start, d)
			mu.Lock()
			defer mu.Unlock()
			all.merge(&t)
			if first == nil {
				first = err
			}
		})
	}
	wait.Wait()
	all.took = time.Since(start)
	return all, first
}

func driveOne(ctx context.Context, c net.Conn, l *orders, next, pipeline int, start time.Time, d time.Duration) (t tally, err error) {
	r := bufio.NewReaderSize(c, 64<<10)
	var out, in []byte
	for {
		out, next = l.batch(next, pipeline)
		sent := time.Now()
		if err := c.SetDeadline(sent.Add(d + patience)); err != nil {
			return t, err
		}
		if _, err := c.Write(out); err != nil {
			return t, err
		}
		for due := pipeline; due > 0; {
			size, failed, err := replyLen(in)
			if err != nil {
				return t, err
			}
			if size > 0 {
				if failed {
					t.fail(in[:size])
				}
				in = in[size:]
				due--
				continue
			}
			if _, err := r.Peek(1); err != nil {
				return t, err
			}
			more, _ := r.Peek(r.Buffered())
			in = append(in, more...)
			_, _ = r.Discard(len(more))
		}
		if err := ctx.Err(); err != nil {
			return t, err
		}
		now := time.Now()
		t.batch(pipeline, now.Sub(sent))
		if now.Sub(start) >= d {
			return t, nil
		}
	}
}

func (t *tally) merge(o *tally) {
	t.calls += o.calls
	t.failed += o.failed
	t.latency.Merge(&o.latency)
	if t.first == "" {
		t.first = o.first
	}
}
