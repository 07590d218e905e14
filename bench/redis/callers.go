//go:build linux

package main

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weir-cli/weir/limit/redislimit"
)

// takeAll has callers check n times between them, each as fast as it is
// answered, and returns this process's CPU time.
func takeAll(s *server, part redislimit.Part, callers, n int, o redislimit.Options) (time.Duration, error) {
	o.Timeout = 10 * time.Second
	store := redislimit.NewStore(s.client, o)
	before, err := used()
	if err != nil {
		return 0, err
	}
	var (
		all    sync.WaitGroup
		begun  atomic.Int64
		failed atomic.Pointer[error]
	)
	for range callers {
		all.Go(func() {
			for begun.Add(1) <= int64(n) {
				if _, err := store.Take(context.Background(), part); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	all.Wait()
	after, err := used()
	if err != nil {
		return 0, err
	}
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return after - before, store.Close()
}

// used is the CPU time of this process so far.
func used() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
