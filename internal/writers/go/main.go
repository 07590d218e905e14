// Command go drives the real Go limiters for tests of package inspect: it
// takes one call per line and answers what the library said.
//
//	go LIBRARY HOST:PORT '{"rate":10,"burst":20,"limit":10,"window_ms":1000}'
//
// A line in is a key and a cost, apart by a space; a line out is an [answer]
// in JSON. It is a module of its own so that weir needs none of them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// settings are the limit to call with; each library uses its own part.
type settings struct {
	Rate     int           `json:"rate"` // a second
	Burst    int           `json:"burst"`
	Limit    int           `json:"limit"`
	WindowMS int64         `json:"window_ms"`
	Window   time.Duration `json:"-"`
}

// answer is what a library said of one call.
type answer struct {
	Allowed   bool     `json:"allowed"`
	Remaining *int64   `json:"remaining,omitempty"` // after the call
	WaitMS    *float64 `json:"wait_ms,omitempty"`   // until this cost passes, of a refusal
	Error     string   `json:"error,omitempty"`
}

// taker calls a library once.
type taker func(ctx context.Context, key string, cost int) (answer, error)

var libraries = map[string]func(addr string, s settings) (taker, error){
	"redis_rate":     redisRate,
	"throttled":      throttledGCRA,
	"ulule":          ululeWindow,
	"go-zero-period": zeroPeriod,
	"go-zero-token":  zeroToken,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "writers:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, want LIBRARY HOST:PORT SETTINGS", len(args))
	}
	start := libraries[args[0]]
	if start == nil {
		return fmt.Errorf("no library is called %q", args[0])
	}
	var s settings
	if err := json.Unmarshal([]byte(args[2]), &s); err != nil {
		return err
	}
	s.Window = time.Duration(s.WindowMS) * time.Millisecond
	take, err := start(args[1], s)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		key, text, _ := strings.Cut(in.Text(), " ")
		cost, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		a, err := take(context.Background(), key, cost)
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

func client(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
}

func count(n int64) *int64 { return &n }

func wait(d time.Duration) *float64 {
	ms := float64(d) / float64(time.Millisecond)
	return &ms
}
