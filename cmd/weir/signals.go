package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// watchInterrupts gives interrupts (Ctrl-C, SIGTERM) two stages: the first
// ends drain, on which a run stops starting work and reports; the second ends
// cut, on which it drops what is in flight. What neither ends, such as the
// opening of a pipe that nobody writes to, a third one does. release gives the
// signals back.
//
// It also keeps a closed stdout from killing the process with SIGPIPE: the
// write fails instead, and the stream wrapper ends the run quietly.
func watchInterrupts(parent context.Context) (drain, cut context.Context, release func()) {
	drain, endDrain := context.WithCancel(parent)
	cut, endCut := context.WithCancel(parent)

	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	pipes := make(chan os.Signal, 1) // never read; Notify alone has the effect
	signal.Notify(pipes, syscall.SIGPIPE)

	stopped := make(chan struct{})
	go func() {
		for _, end := range []context.CancelFunc{endDrain, endCut} {
			select {
			case <-interrupts:
				end()
			case <-stopped:
				return
			}
		}
		select {
		case <-interrupts:
			os.Exit(exitInterrupted)
		case <-stopped:
		}
	}()
	return drain, cut, func() {
		signal.Stop(interrupts)
		signal.Stop(pipes)
		close(stopped)
		endDrain()
		endCut()
	}
}
