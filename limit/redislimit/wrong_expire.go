package redislimit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/limit"
)

// wrongWindow is a count whose key's life is its window: it begins with the
// first call and is over when the key is gone. Both ways to give it that life
// are wrong.
type wrongWindow struct {
	c    redis.UniversalClient
	spec limit.Spec
}

func newWrongWindow(c redis.UniversalClient, spec limit.Spec) (wrongWindow, error) {
	if spec.Algorithm != limit.FixedWindow {
		return wrongWindow{}, &limit.SpecError{Field: "algorithm", Value: spec.Algorithm.String(), Reason: "is not fixed-window", Hint: "fixed-window:limit=600,window=60s"}
	}
	if err := spec.Validate(); err != nil {
		return wrongWindow{}, err
	}
	if spec.Window < time.Millisecond {
		return wrongWindow{}, &limit.SpecError{Field: "window", Value: spec.Window.String(), Reason: "is shorter than a key can live", Hint: "fixed-window:limit=600,window=60s"}
	}
	return wrongWindow{c, spec}, nil
}

// look decides without counting on a cost that is a peek or can never pass.
func (w *wrongWindow) look(ctx context.Context, key string, cost int64) (limit.Decision, error) {
	n, err := number(w.c.Get(ctx, key))
	if err != nil {
		return limit.Decision{}, fmt.Errorf("redislimit: count of a window: %w", err)
	}
	d := limit.Decision{OK: true, Limit: w.spec.Limit, Remaining: max(0, w.spec.Limit-n)}
	switch {
	case cost < 0 || cost > w.spec.Limit:
		d.OK, d.RetryAfter = false, limit.Never
	case d.Remaining < max(cost, 1):
		return w.refuse(ctx, key, n)
	}
	return d, nil
}

// judge is the decision on a count that has the call's own cost in it.
func (w *wrongWindow) judge(ctx context.Context, key string, n int64) (limit.Decision, error) {
	if n > w.spec.Limit {
		return w.refuse(ctx, key, n)
	}
	return limit.Decision{OK: true, Limit: w.spec.Limit, Remaining: w.spec.Limit - n, ResetAfter: w.spec.Window}, nil
}

// refuse asks how long the key has still to live: limit.Unknown when for ever.
func (w *wrongWindow) refuse(ctx context.Context, key string, n int64) (limit.Decision, error) {
	left, err := w.c.PTTL(ctx, key).Result()
	if err != nil {
		return limit.Decision{}, fmt.Errorf("redislimit: life of a count: %w", err)
	}
	d := limit.Decision{Limit: w.spec.Limit, Remaining: max(0, w.spec.Limit-n), RetryAfter: limit.Unknown, ResetAfter: limit.Unknown}
	switch {
	case left > 0:
		d.RetryAfter, d.ResetAfter = left, left
	case left != -1: // gone in the meantime
		d.RetryAfter, d.ResetAfter = time.Millisecond, time.Millisecond
	}
	return d, nil
}

// ErrCrashed is the error of a call whose caller was made to die half way.
var ErrCrashed = errors.New("redislimit: wrong on purpose: died between INCRBY and EXPIRE")

// WrongExpireFirst is a fixed window that is wrong on purpose: INCRBY, and
// then, in a second call, EXPIRE only when the count tells that this was the
// first. A caller that dies between the two, or whose second call is lost,
// leaves a count that never ends: once it is full, the key is refused for ever,
// or until somebody deletes it. The script's write and its life are one step,
// and EXPIRE NX in the pipeline of every call heals a key that has none. Safe
// for concurrent use.
type WrongExpireFirst struct {
	wrongWindow
	lose int64
	n    atomic.Int64 // windows begun
}

// NewWrongExpireFirst limits to a fixed-window spec. Every lose-th window's
// first call fails with [ErrCrashed] before its EXPIRE; 0 is none. Its error is
// a *limit.SpecError.
func NewWrongExpireFirst(c redis.UniversalClient, spec limit.Spec, lose int64) (*WrongExpireFirst, error) {
	w, err := newWrongWindow(c, spec)
	if err != nil {
		return nil, err
	}
	return &WrongExpireFirst{wrongWindow: w, lose: lose}, nil
}

// Take decides on cost units of a key. A refusal stays counted.
func (w *WrongExpireFirst) Take(ctx context.Context, key string, cost int64) (limit.Decision, error) {
	if cost <= 0 || cost > w.spec.Limit {
		return w.look(ctx, key, cost)
	}
	n, err := w.c.IncrBy(ctx, key, cost).Result()
	if err != nil {
		return limit.Decision{}, fmt.Errorf("redislimit: count of %d in a window: %w", cost, err)
	}
	if n == cost {
		if begun := w.n.Add(1); w.lose > 0 && begun%w.lose == 0 {
			return limit.Decision{}, ErrCrashed
		}
		if err := w.c.PExpire(ctx, key, w.spec.Window).Err(); err != nil {
			return limit.Decision{}, fmt.Errorf("redislimit: life of a count: %w", err)
		}
	}
	return w.judge(ctx, key, n)
}

// WrongExpireAlways is a fixed window that is wrong on purpose: every call,
// refused ones too, sets the key's life anew. As long as calls come closer
// together than the window, the window never ends: a key that has reached its
// limit stays refused until it has been silent for a whole window, which a
// caller that keeps trying never is. The script's window ends when it was to
// end, and EXPIRE NX leaves a life that is there alone. Safe for concurrent
// use.
type WrongExpireAlways struct{ wrongWindow }

// NewWrongExpireAlways limits to a fixed-window spec. Its error is a *limit.SpecError.
func NewWrongExpireAlways(c redis.UniversalClient, spec limit.Spec) (*WrongExpireAlways, error) {
	w, err := newWrongWindow(c, spec)
	if err != nil {
		return nil, err
	}
	return &WrongExpireAlways{w}, nil
}

// Take decides on cost units of a key. A refusal stays counted.
func (w *WrongExpireAlways) Take(ctx context.Context, key string, cost int64) (limit.Decision, error) {
	if cost <= 0 || cost > w.spec.Limit {
		return w.look(ctx, key, cost)
	}
	pipe := w.c.Pipeline()
	n := pipe.IncrBy(ctx, key, cost)
	pipe.PExpire(ctx, key, w.spec.Window)
	if _, err := pipe.Exec(ctx); err != nil {
		return limit.Decision{}, fmt.Errorf("redislimit: count of %d in a window: %w", cost, err)
	}
	return w.judge(ctx, key, n.Val())
}
