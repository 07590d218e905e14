package redislimit

import (
	"context"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/limit"
)

// PlainFixedWindow is a fixed window without a script: INCRBY and EXPIRE NX in
// one pipeline, and DECRBY when the call is refused, as
// [limit.Algorithm.Commands] counts them. Safe for concurrent use.
//
// It never admits more than the limit in a window that all callers number
// alike. It differs from the script in that
//   - a count that is about to be taken back can refuse a call that would have
//     passed: with r calls being refused at a time, each of cost at most m, up
//     to r × m units are held back for the time of one more command;
//   - the window is that of the caller's clock, so while two callers' clocks
//     differ by d, they count in two windows for d at each edge;
//   - a caller that dies before its DECRBY leaves its units counted until the
//     window is over, and one whose clock steps back counts in the window
//     before again;
//   - it needs Redis 7, whose EXPIRE knows NX; see [OldServerError].
type PlainFixedWindow struct{ plainWindow }

// NewPlainFixedWindow limits to a fixed-window spec. A nil clock is the system's, in
// unix ns. Its error is a *limit.SpecError.
func NewPlainFixedWindow(c redis.UniversalClient, spec limit.Spec, clock func() int64) (*PlainFixedWindow, error) {
	p, err := newPlain(c, spec, limit.FixedWindow, 1, clock)
	if err != nil {
		return nil, err
	}
	return &PlainFixedWindow{p}, nil
}

// Take decides on cost units of a key such as [Key] makes; the windows' counts
// are kept under it with their numbers.
func (p *PlainFixedWindow) Take(ctx context.Context, key string, cost int64) (limit.Decision, error) {
	return p.take(ctx, key, cost, false)
}

// PlainSlidingCounter is a sliding window counter without a script: INCRBY,
// EXPIRE NX and a GET of the window before in one pipeline, and DECRBY when
// the call is refused. It differs from the script as [PlainFixedWindow] does;
// counts of the window before that are yet to be taken back weigh, too. More
// than the limit in a window is taken as the limit. Safe for concurrent use.
type PlainSlidingCounter struct{ plainWindow }

// NewPlainSlidingCounter limits to a sliding-counter spec. A nil clock is the
// system's, in unix ns. Its error is a *limit.SpecError.
func NewPlainSlidingCounter(c redis.UniversalClient, spec limit.Spec, clock func() int64) (*PlainSlidingCounter, error) {
	p, err := newPlain(c, spec, limit.SlidingCounter, 2, clock)
	if err != nil {
		return nil, err
	}
	return &PlainSlidingCounter{p}, nil
}

// Take decides on cost units of a key; see [PlainFixedWindow.Take].
func (p *PlainSlidingCounter) Take(ctx context.Context, key string, cost int64) (limit.Decision, error) {
	return p.take(ctx, key, cost, true)
}
