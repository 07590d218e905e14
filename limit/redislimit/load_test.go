package redislimit

import (
	"context"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
)

// However many callers find a script gone, it is loaded once, and each of
// them is answered.
func TestLostScriptIsLoadedOnce(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		s := storeOn(t, r.Client(t), Options{Lanes: 8, Batch: 4})
		p := part(t, "k", "1/h,burst=10000", 1)
		for round := range int64(4) {
			var all sync.WaitGroup
			for range 64 {
				all.Go(func() {
					for range 5 {
						if _, err := s.Take(context.Background(), p); err != nil {
							t.Error(err)
						}
					}
				})
			}
			all.Wait()
			if n := s.Stats().Loads; n != round+1 {
				t.Fatalf("%d loads after the script was lost %d times", n, round)
			}
			r.CLI("SCRIPT", "FLUSH")
		}
		if a := take(t, s, p.costing(0)); a.Remaining != 10000-4*64*5 {
			t.Errorf("%d left: some were charged twice, or never", a.Remaining)
		}
	})
}

// Two algorithms are two scripts, and a node may have lost one of them only.
func TestEachScriptIsLoadedForItself(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		s := storeOn(t, r.Client(t), Options{})
		bucket, gcra := part(t, "b", "1/h,burst=100", 1), part(t, "g", "gcra:rate=1/h,burst=100", 1)
		for range 3 {
			take(t, s, bucket)
			take(t, s, gcra)
		}
		if n := s.Stats().Loads; n != 2 {
			t.Errorf("%d loads of two scripts", n)
		}
	})
}

func TestRestartedServerGetsItsScriptsBack(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		s := storeOn(t, r.Client(t), Options{})
		p := part(t, "k", "1/h,burst=10", 1)
		take(t, s, p)
		r.Kill()
		for range 5 {
			_, err := s.Take(context.Background(), p)
			if k := Classify(err); k != KindBroken && k != KindRefused {
				t.Fatalf("a dead server: %v", err)
			}
		}
		r.Restart()
		eventually(t, "it answers", func() bool { _, err := s.Take(context.Background(), p); return err == nil })
		if n := s.Stats().Loads; n != 2 {
			t.Errorf("%d loads, want one for each life of the server", n)
		}
	})
}

// forgetful is a client whose server forgets each script that it is given.
type forgetful struct{ r *redistest.Redis }

func (f forgetful) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f forgetful) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if cmd.Name() == "script" {
			f.r.CLI("SCRIPT", "FLUSH")
		}
		return err
	}
}
func (f forgetful) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestScriptThatDoesNotStayIsAnError(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := r.Client(t)
		c.AddHook(forgetful{r})
		s := storeOn(t, c, Options{})
		_, err := s.Take(context.Background(), part(t, "k", "1/h,burst=10", 1))
		if e := failure(t, err, KindNoScript); e.Ambiguous() {
			t.Errorf("%v: said to be ambiguous", e)
		}
		if got := s.Stats(); got.Loads != 1 || got.Commands != 2 {
			t.Errorf("%d loads, %d commands; want 1 and 2", got.Loads, got.Commands)
		}
	})
}
