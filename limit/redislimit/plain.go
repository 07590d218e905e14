package redislimit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/limit"
)

// plainSlack is how much longer than it matters a plain count lives, for
// callers whose clocks are ahead by up to that.
const plainSlack = time.Minute

// plainWindow is a window counter made of commands that every client library has.
// The caller's clock says which window now is in, and the window's number is
// the last part of its count's key: rl:{k-7}:requests:29833333.
type plainWindow struct {
	c     redis.UniversalClient
	l     limit.Limiter
	spec  limit.Spec
	live  time.Duration // of a count, from its first unit on
	clock func() int64
}

func newPlain(c redis.UniversalClient, spec limit.Spec, of limit.Algorithm, windows time.Duration, clock func() int64) (plainWindow, error) {
	if spec.Algorithm != of {
		return plainWindow{}, &limit.SpecError{Field: "algorithm", Value: spec.Algorithm.String(), Reason: "is not " + of.String(), Hint: of.String() + ":limit=600,window=60s"}
	}
	l, err := spec.New()
	if err != nil {
		return plainWindow{}, err
	}
	if clock == nil {
		clock = func() int64 { return time.Now().UnixNano() }
	}
	// Whole seconds, rounded up: EXPIRE knows no others.
	live := (windows*spec.Window + plainSlack + time.Second - 1).Truncate(time.Second)
	return plainWindow{c: c, l: l, spec: spec, live: live, clock: clock}, nil
}

// keyOf is the key of the count of the window that is back before the one
// that now is in. Times before 1970 count as 1970.
func (p *plainWindow) keyOf(key string, now, back int64) string {
	return key + ":" + strconv.FormatInt(max(now, 0)/int64(p.spec.Window)-back, 10)
}

// take asks the store once and takes back what did not pass. before is whether
// the window before counts.
func (p *plainWindow) take(ctx context.Context, key string, cost int64, before bool) (limit.Decision, error) {
	now := max(p.clock(), 0)
	charge := cost > 0 && cost <= p.spec.Limit
	this := p.keyOf(key, now, 0)
	pipe := p.c.Pipeline()
	var incr *redis.IntCmd
	var expire *redis.BoolCmd
	var get, old *redis.StringCmd
	if charge {
		incr = pipe.IncrBy(ctx, this, cost)
		expire = pipe.ExpireNX(ctx, this, p.live)
	} else {
		get = pipe.Get(ctx, this)
	}
	if before {
		old = pipe.Get(ctx, p.keyOf(key, now, 1))
	}
	// Each reply is looked at below; Exec's error is one of theirs.
	_, _ = pipe.Exec(ctx)

	var count, weighs int64 // of this window without the call itself, and of the one before
	var err error
	if charge {
		if count, err = incr.Result(); err != nil {
			return limit.Decision{}, fmt.Errorf("redislimit: count of %d in a window: %w", cost, err)
		}
		count -= cost
		if err = expire.Err(); err != nil {
			p.undo(ctx, this, cost)
			return limit.Decision{}, expireError(err)
		}
	} else if count, err = number(get); err != nil {
		return limit.Decision{}, fmt.Errorf("redislimit: count of a window: %w", err)
	}
	if before {
		if weighs, err = number(old); err != nil {
			if charge {
				p.undo(ctx, this, cost)
			}
			return limit.Decision{}, fmt.Errorf("redislimit: count of the window before: %w", err)
		}
	}
	s := p.spec.Counted(now, weighs, count)
	d := p.l.Take(&s, now, cost)
	// A count that is slow to be taken back may be over by then, and would
	// begin anew below zero and without a life.
	if charge && !d.OK && p.clock()-now < int64(plainSlack/2) {
		// When this fails the refusal stands, and so does its count until the
		// window is over: fewer pass, not more.
		_ = p.c.DecrBy(context.WithoutCancel(ctx), this, cost).Err()
	}
	return d, nil
}

// undo takes a count back that cannot be judged, and gives the key a life.
func (p *plainWindow) undo(ctx context.Context, key string, cost int64) {
	ctx = context.WithoutCancel(ctx)
	pipe := p.c.Pipeline()
	pipe.DecrBy(ctx, key, cost)
	pipe.Expire(ctx, key, p.live)
	_, _ = pipe.Exec(ctx) // the error that led here is the one to tell
}

// number is a count that was read; no such key is 0.
func number(c *redis.StringCmd) (int64, error) {
	n, err := c.Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, err
}
