package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// wrongLimit decides for a limit in Redis in a way that is wrong on purpose.
type wrongLimit interface {
	Take(ctx context.Context, key string, cost int64) (limit.Decision, error)
}

// limit is what decides for l instead of its script; nil when that is right.
func (w *Wrong) limit(c redis.UniversalClient, l *readyLimit) (wrongLimit, error) {
	switch {
	case w.Race != 0:
		return redislimit.NewWrongRace(c, l.stored, w.Race)
	case w.ExpireOnce != 0:
		return redislimit.NewWrongExpireFirst(c, l.spec, w.ExpireOnce)
	case w.ExpireRefresh:
		return redislimit.NewWrongExpireAlways(c, l.spec)
	}
	return nil, nil
}

// skewed reports whether clocks are wrong, and believed.
func (w *Wrong) skewed() bool { return w.FastClock != 0 || w.ClockSkew != 0 }

// ahead is how far the clock of gateway n of so many is.
func (w *Wrong) ahead(n, of int) time.Duration {
	switch {
	case w.FastClock != 0 && n == 0:
		return w.FastClock
	case w.ClockSkew != 0 && of > 1:
		return w.ClockSkew * time.Duration(n) / time.Duration(of-1)
	}
	return 0
}

// inProcess is b with the mistakes in it that are about how it is asked.
func (w *Wrong) inProcess(b backend) backend {
	switch {
	case w.Race != 0:
		return racy{b, w.Race}
	case w.CountRefusals:
		return newCounting(b)
	case w.TwoCalls:
		return apart{b}
	}
	return b
}

// stored is the same in Redis.
func (w *Wrong) stored(s *stored, timeout time.Duration) backend {
	switch {
	case w.Race != 0 || w.ExpireOnce != 0 || w.ExpireRefresh:
		return crooked{s, max(timeout, w.Race+timeout)}
	case w.TwoCalls:
		s.check = redislimit.WrongTwoCalls{Checker: s.store}
	}
	return s
}

// crooked has each limit decided in Redis by what is wrong with it.
type crooked struct {
	*stored
	timeout time.Duration // of one check
}

func (c crooked) take(ctx context.Context, parts []hitState, _ int64) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for i := range parts {
		p := &parts[i]
		c.calls.Add(1)
		d, err := p.ready.wrong.Take(ctx, p.redisKey(), p.Cost)
		if errors.Is(err, redislimit.ErrCrashed) {
			return &redislimit.StoreError{Kind: redislimit.KindCanceled, Err: err}
		}
		if err != nil {
			return err
		}
		p.Decision, p.Source = d, FromStore
		if !d.OK {
			unasked(parts[i+1:])
			return nil
		}
	}
	return nil
}

// unasked are parts that nobody asked about, since another had refused. Nothing
// is known of them that would hold the request up.
func unasked(parts []hitState) {
	for i := range parts {
		p := &parts[i]
		p.Decision = limit.Decision{OK: true, Limit: capacity(p.ready.spec), Remaining: capacity(p.ready.spec)}
		p.Source = FromStore
	}
}
