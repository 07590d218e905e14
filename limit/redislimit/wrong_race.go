package redislimit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/limit"
)

// WrongRace is a token bucket that is wrong on purpose: it reads the bucket,
// decides in the caller and writes back what it reckons, in two commands.
// Everybody who reads before the first has written sees the same tokens and
// passes, and the last to write wins, so that the others' calls were free. 15
// calls at once on 5 tokens all pass; the script, which nothing comes between,
// admits 5. Its state is the script's own. Safe for concurrent use.
type WrongRace struct {
	c    redis.UniversalClient
	rule *Rule
	gap  time.Duration
	// read, when not nil, is called between reading and writing. For tests.
	read func()
}

// NewWrongRace limits to the rule of a token bucket. gap is spent between
// reading and writing, as by a caller that has other things to do.
func NewWrongRace(c redis.UniversalClient, rule *Rule, gap time.Duration) (*WrongRace, error) {
	if s := rule.spec; s.Algorithm != limit.TokenBucket {
		return nil, &limit.SpecError{Field: "algorithm", Value: s.Algorithm.String(), Reason: "is not a token bucket", Hint: "10/s,burst=20"}
	}
	return &WrongRace{c: c, rule: rule, gap: gap}, nil
}

// raceFields are those of the script's hash that tell how much it holds.
var raceFields = []string{"n", "g", "t"}

// Take decides on cost tokens of a key.
func (w *WrongRace) Take(ctx context.Context, key string, cost int64) (limit.Decision, error) {
	gain, grain, most := ruleNumber(w.rule, 0), ruleNumber(w.rule, 1), ruleNumber(w.rule, 2)
	room, now, err := w.level(ctx, key, gain, grain, most)
	if err != nil {
		return limit.Decision{}, err
	}
	if w.read != nil {
		w.read()
	}
	if err := sleep(ctx, w.gap); err != nil {
		return limit.Decision{}, err
	}
	d := limit.Decision{Limit: w.rule.most}
	ask := max(cost, 1)
	switch {
	case cost < 0 || ask > w.rule.most:
		d.RetryAfter = limit.Never
	case ask*grain > room:
		d.RetryAfter = wait((ask*grain - room + gain - 1) / gain)
	default:
		d.OK = true
		room -= max(cost, 0) * grain
	}
	d.Remaining = room / grain
	d.ResetAfter = wait((most - room + gain - 1) / gain)
	if cost <= 0 {
		return d, nil
	}
	pipe := w.c.Pipeline()
	pipe.HSet(ctx, key, "n", room, "g", grain, "t", now, "b", w.rule.most, "r", gain)
	pipe.PExpire(ctx, key, wait((most+gain-1)/gain)+time.Second)
	if _, err := pipe.Exec(ctx); err != nil {
		return limit.Decision{}, fmt.Errorf("redislimit: write a bucket back: %w", err)
	}
	return d, nil
}

// level is the units in the bucket and the store's time in µs.
func (w *WrongRace) level(ctx context.Context, key string, gain, grain, most int64) (room, now int64, err error) {
	pipe := w.c.Pipeline()
	clock, get := pipe.Time(ctx), pipe.HMGet(ctx, key, raceFields...)
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, 0, fmt.Errorf("redislimit: read a bucket: %w", err)
	}
	now = clock.Val().UnixMicro()
	v := map[string]int64{}
	for i, x := range get.Val() {
		if n, err := strconv.ParseInt(fmt.Sprint(x), 10, 64); err == nil && n >= 0 && n <= maxExact {
			v[raceFields[i]] = n
		}
	}
	switch {
	case get.Val()[0] == nil:
		return most, now, nil
	case len(v) < len(raceFields) || v["g"] != grain:
		return 0, now, nil // not this rule's own
	}
	room, elapsed := min(v["n"], most), max(0, now-v["t"])
	if elapsed >= (most-room+gain-1)/gain {
		return most, now, nil
	}
	return room + elapsed*gain, now, nil
}

// ruleNumber is what the fragment of r gets at i.
func ruleNumber(r *Rule, i int) int64 {
	n, err := strconv.ParseInt(r.numbers[i], 10, 64)
	if err != nil {
		panic("redislimit: a rule's number is none: " + err.Error()) // they come from Compile
	}
	return n
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
