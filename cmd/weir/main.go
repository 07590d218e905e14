// Command weir tests and operates HTTP rate limiters.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"time"

	"github.com/spf13/cobra"
)

// cutGrace is how long a verb may take to write what it has after a second
// interrupt, before the process ends regardless.
const cutGrace = 500 * time.Millisecond

// main is the only place that ends the process, so that every deferred close
// and every terminal restore has run by then.
func main() {
	// net/http logs odd answers one by one; here they are counted.
	log.SetOutput(io.Discard)
	a := systemApp()
	os.Exit(run(a, newRoot(a, verbs(a)...), os.Args[1:]))
}

// run executes one command line and returns its exit code. The verb works in
// its own goroutine: a second interrupt ends the process even if it hangs.
func run(a *app, root *cobra.Command, args []string) int {
	drain, cut, release := watchInterrupts(context.Background())
	defer release()
	a.cut = cut
	done := make(chan int, 1)
	go func() { done <- a.execute(drain, root, args) }()
	select {
	case code := <-done:
		return code
	case <-cut.Done():
	}
	select {
	case code := <-done:
		return code
	case <-time.After(cutGrace):
		return exitInterrupted
	}
}
