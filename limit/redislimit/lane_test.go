package redislimit

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
)

var evalshaCalls = regexp.MustCompile(`cmdstat_evalsha:calls=(\d+),.*?rejected_calls=(\d+),failed_calls=(\d+)`)

// executed is how many script calls a real server has carried out.
func executed(tb testing.TB, r *redistest.Redis) int64 {
	tb.Helper()
	m := evalshaCalls.FindStringSubmatch(r.CLI("INFO", "commandstats"))
	if m == nil {
		return 0
	}
	calls, _ := strconv.ParseInt(m[1], 10, 64)
	failed, _ := strconv.ParseInt(m[3], 10, 64)
	return calls - failed
}

// eventually waits until met is true.
func eventually(tb testing.TB, what string, met func() bool) {
	tb.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if met() {
			return
		}
	}
	tb.Fatalf("after %v still not: %s", patience, what)
}

// waiting is how many calls are queued to the one server of s.
func (s *Store) waiting() int {
	s.single.mu.Lock()
	defer s.single.mu.Unlock()
	return len(s.single.waiting)
}

// What comes while all lanes are at work goes out together with the next.
func TestConcurrentChecksShareAPipeline(t *testing.T) {
	for _, tt := range []struct {
		o         Options
		pipelines int64
	}{
		{Options{Lanes: 1}, 2},
		{Options{Lanes: 1, Batch: 10}, 1 + 7},
		{Options{Lanes: 1, Batch: 1}, 64},
		{Options{Lanes: 4, Batch: 15}, 4 + 4},
	} {
		t.Run(fmt.Sprintf("%d lanes of %d", tt.o.Lanes, tt.o.Batch), func(t *testing.T) {
			r := redistest.Server(t)
			c := r.Client(t)
			s := storeOn(t, c, tt.o)
			p := part(t, "k", "1/h,burst=50", 1)
			take(t, s, p.costing(0)) // loads the script
			before := s.Stats()
			r.Pause()
			var all sync.WaitGroup
			var mu sync.Mutex
			admitted := 0
			for i := range int64(64) {
				all.Go(func() {
					a, err := s.Take(context.Background(), p)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Error(err)
					} else if a.OK {
						admitted++
					}
				})
				if i < int64(tt.o.Lanes) { // each of the first gets a lane of its own
					eventually(t, "a lane has it", func() bool { return s.Stats().Commands-before.Commands == i+1 })
				}
			}
			eventually(t, "all are queued or sent", func() bool {
				now := s.Stats()
				return now.Commands-before.Commands+int64(s.waiting()) == 64
			})
			r.Resume()
			all.Wait()
			got := s.Stats()
			if n := got.Pipelines - before.Pipelines; n != tt.pipelines {
				t.Errorf("%d pipelines, want %d", n, tt.pipelines)
			}
			if n := got.Commands - before.Commands; n != 64 || got.Loads != 1 || admitted != 50 {
				t.Errorf("%d commands, %d loads, %d admitted; want 64, 1, 50", n, got.Loads, admitted)
			}
		})
	}
}

func TestLonelyCallerIsSentAtOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		s := storeOn(t, r.Client(t), Options{})
		p := part(t, "k", "1/h,burst=50", 1)
		take(t, s, p)
		before := s.Stats()
		for range 20 {
			take(t, s, p)
		}
		if n := s.Stats().Pipelines - before.Pipelines; n != 20 {
			t.Errorf("%d round trips for 20 checks, one after another", n)
		}
	})
}

// A caller that leaves is gone at once. Its check is never executed when it
// was not sent yet, and may be when it was.
func TestCallerLeaves(t *testing.T) {
	r := redistest.Server(t)
	s := storeOn(t, r.Client(t), Options{Lanes: 1})
	p := part(t, "k", "1/h,burst=50", 1)
	take(t, s, p)
	before := executed(t, r)
	r.Pause()
	ctx, leave := context.WithCancel(context.Background())
	sent, queued := make(chan error, 1), make(chan error, 1)
	go func() { _, err := s.Take(ctx, p); sent <- err }()
	eventually(t, "the first is sent", func() bool { return s.Stats().Commands == 3 })
	go func() { _, err := s.Take(ctx, p); queued <- err }()
	eventually(t, "the second is queued", func() bool { return s.waiting() == 1 })
	start := time.Now()
	leave()
	if e := failure(t, <-sent, KindCanceled); !e.Ambiguous() {
		t.Errorf("sent, and then: %v, not ambiguous", e)
	}
	if e := failure(t, <-queued, KindCanceled); e.Ambiguous() {
		t.Errorf("not sent, and then: %v, ambiguous", e)
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("they left after %v", took)
	}
	r.Resume()
	take(t, s, p)
	if n := executed(t, r) - before; n != 2 {
		t.Errorf("%d were executed, want the one that was sent and the one after it", n)
	}
	_, err := s.Take(ctx, p)
	if e := failure(t, err, KindCanceled); e.Ambiguous() {
		t.Errorf("canceled before it began: %v, ambiguous", e)
	}
	late, cancel := context.WithDeadline(context.Background(), start)
	defer cancel()
	_, err = s.Take(late, p)
	if e := failure(t, err, KindTimeout); e.Ambiguous() {
		t.Errorf("with a deadline that is over: %v, ambiguous", e)
	}
}

func TestServerThatStandsStill(t *testing.T) {
	r := redistest.Server(t)
	var mu sync.Mutex
	heard := map[Kind]int{}
	s := storeOn(t, r.Client(t), Options{Timeout: 20 * time.Millisecond, Observe: func(node string, took time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		if node != r.Addr || took < 0 {
			t.Errorf("heard of %q after %v", node, took)
		}
		if err != nil {
			heard[Classify(err)]++
		}
	}})
	p := part(t, "k", "1/h,burst=1000", 1)
	recovered := func() bool { _, err := s.Take(context.Background(), p); return err == nil }
	eventually(t, "it answers", recovered)
	r.Pause()
	ambiguous := 0
	for range 20 {
		_, err := s.Take(context.Background(), p)
		if failure(t, err, KindTimeout).Ambiguous() {
			ambiguous++
		}
	}
	if ambiguous == 0 {
		t.Error("none of 20 was ambiguous, although some were sent")
	}
	r.Resume()
	eventually(t, "it answers again", recovered)
	mu.Lock()
	defer mu.Unlock()
	if stats := s.Stats(); heard[KindTimeout] < 20 || stats.Errors[KindTimeout] != int64(heard[KindTimeout]) {
		t.Errorf("heard of %v, counted %v", heard, stats.Errors)
	}
}
