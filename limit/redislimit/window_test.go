package redislimit

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/limittest"
)

// windowed are the algorithms of this file's fragments.
var windowed = []limit.Algorithm{limit.FixedWindow, limit.SlidingLog, limit.SlidingCounter, limit.Concurrency}

// epoch is the instant that conformance counts from, a whole hour.
const epoch = int64(1_800_000_000) / 3600 * 3600 * int64(time.Second)

// keyed takes from keys of its own with the caller's clock. Each key has one
// holder, whose units a release gives back.
type keyed struct {
	c    redis.UniversalClient
	rule *Rule
	mu   sync.Mutex
	at   string
}

func (k *keyed) Take(key string, now, cost int64) (limit.Decision, error) {
	parts := []Part{{Key: "rl:{" + k.at + key + "}:r", Rule: k.rule, Cost: cost, ID: "holder"}}
	a, err := runCheck(k.c, now, parts)
	return a.Decision, err
}

func (k *keyed) Release(key string, now, cost int64) error {
	p := Part{Key: "rl:{" + k.at + key + "}:r", Rule: k.rule, Cost: cost, ID: "holder"}
	_, err := runRelease(k.c, p)
	return err
}

func runCheck(c redis.UniversalClient, now int64, parts []Part) (Answer, error) {
	keys, args := encode(nil, now, parts)
	reply, err := c.Eval(context.Background(), scriptFor(parts).source, keys, args...).Result()
	if err != nil {
		return Answer{}, err
	}
	return decode(reply, parts)
}

func runRelease(c redis.UniversalClient, p Part) (int64, error) {
	keys, args := encodeRelease(nil, &p)
	reply, err := c.Eval(context.Background(), releaseScript().source, keys, args...).Result()
	if err != nil {
		return 0, err
	}
	return decodeRelease(reply)
}

func TestWindowsConform(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := r.Client(t)
		limittest.Run(t, limittest.Suite{
			New: func(tb testing.TB, spec limit.Spec) limittest.Taker {
				rule, err := Compile(spec)
				if err != nil {
					tb.Fatal(err)
				}
				if err := c.FlushAll(context.Background()).Err(); err != nil {
					tb.Fatal(err)
				}
				return &keyed{c: c, rule: rule, at: tb.Name()}
			},
			Algorithms: windowed,
			Grain:      time.Microsecond,
			Epoch:      epoch,
		})
	})
}
