package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/goredisstore.v9"
	ulule "github.com/ulule/limiter/v3"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"
	zerolimit "github.com/zeromicro/go-zero/core/limit"
	"github.com/zeromicro/go-zero/core/logx"
	zeroredis "github.com/zeromicro/go-zero/core/stores/redis"
)

func redisRate(addr string, s settings) (taker, error) {
	l := redis_rate.NewLimiter(client(addr))
	limit := redis_rate.Limit{Rate: s.Rate, Burst: s.Burst, Period: time.Second}
	return func(ctx context.Context, key string, cost int) (answer, error) {
		r, err := l.AllowN(ctx, key, limit, cost)
		if err != nil {
			return answer{}, err
		}
		a := answer{Allowed: r.Allowed == cost, Remaining: count(int64(r.Remaining))}
		if !a.Allowed {
			a.WaitMS = wait(r.RetryAfter)
		}
		return a, nil
	}, nil
}

func throttledGCRA(addr string, s settings) (taker, error) {
	store, err := goredisstore.NewCtx(client(addr), "throttle:")
	if err != nil {
		return nil, err
	}
	l, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{MaxRate: throttled.PerSec(s.Rate), MaxBurst: s.Burst - 1})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, key string, cost int) (answer, error) {
		limited, r, err := l.RateLimitCtx(ctx, key, cost)
		if err != nil {
			return answer{}, err
		}
		a := answer{Allowed: !limited}
		// A cost above the burst leaves the other numbers unset.
		if limited && r.RetryAfter >= 0 {
			a.WaitMS = wait(r.RetryAfter)
		}
		if !limited || r.RetryAfter >= 0 {
			a.Remaining = count(int64(r.Remaining))
		}
		return a, nil
	}, nil
}

func ululeWindow(addr string, s settings) (taker, error) {
	store, err := ululeredis.NewStore(client(addr))
	if err != nil {
		return nil, err
	}
	l := ulule.New(store, ulule.Rate{Period: s.Window, Limit: int64(s.Limit)})
	return func(ctx context.Context, key string, cost int) (answer, error) {
		r, err := l.Increment(ctx, key, int64(cost))
		if err != nil {
			return answer{}, err
		}
		return answer{Allowed: !r.Reached, Remaining: count(r.Remaining)}, nil
	}, nil
}

func zero(addr string) (*zeroredis.Redis, error) {
	logx.Disable()
	return zeroredis.NewRedis(zeroredis.RedisConf{Host: addr, Type: zeroredis.NodeType})
}

func zeroPeriod(addr string, s settings) (taker, error) {
	store, err := zero(addr)
	if err != nil {
		return nil, err
	}
	l := zerolimit.NewPeriodLimit(int(s.Window/time.Second), s.Limit, store, "period#")
	return func(ctx context.Context, key string, cost int) (answer, error) {
		if cost != 1 {
			return answer{}, fmt.Errorf("a cost of %d, and it takes one at a time", cost)
		}
		code, err := l.TakeCtx(ctx, key)
		if err != nil {
			return answer{}, err
		}
		a := answer{Allowed: code != zerolimit.OverQuota}
		if code != zerolimit.Allowed {
			a.Remaining = count(0)
		}
		return a, nil
	}, nil
}

// zeroToken's library answers from memory when the store fails; the test would
// see that its keys stand still.
func zeroToken(addr string, s settings) (taker, error) {
	store, err := zero(addr)
	if err != nil {
		return nil, err
	}
	limiters := map[string]*zerolimit.TokenLimiter{}
	return func(ctx context.Context, key string, cost int) (answer, error) {
		l := limiters[key]
		if l == nil {
			l = zerolimit.NewTokenLimiter(s.Rate, s.Burst, store, key)
			limiters[key] = l
		}
		return answer{Allowed: l.AllowNCtx(ctx, time.Now(), cost)}, nil
	}, nil
}
