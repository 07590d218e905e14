package sim

import (
	"fmt"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// Limiter are the parameters of one limit. Rate and Burst are the contract,
// by which a run is judged whatever the algorithm.
type Limiter struct {
	Algorithm string `yaml:"algorithm" about:"token-bucket, gcra, fixed-window, sliding-log, sliding-counter, leaky-queue or leaky-meter"`
	Rate      Rate   `yaml:"rate" about:"the contract's rate; of buckets and queues"`
	Burst     int64  `yaml:"burst" about:"the contract's burst; of buckets; a meter's capacity"`
	Limit     int64  `yaml:"limit" about:"calls per window, of the windows and the log"`
	Window    Micros `yaml:"window" about:"length of a window, aligned to time zero"`
	Capacity  int64  `yaml:"capacity" about:"calls that may wait in a leaky queue"`
	Cost      int64  `yaml:"cost" about:"what one call takes"`
}

func newLimiter() Limiter {
	return Limiter{Algorithm: "token-bucket", Rate: PerSecond(10), Burst: 20, Limit: 600, Window: 60 * Second, Capacity: 20, Cost: 1}
}

// spec is the limit that the parameters describe. A sliding counter's wait
// ends at the next window.
func (l *Limiter) spec() (limit.Spec, error) {
	a, err := limit.ParseAlgorithm(l.Algorithm)
	if err == nil && a == limit.Concurrency {
		err = &ParamError{"algorithm", "a concurrency limit has no place on a trace", "--set algorithm=token-bucket"}
	}
	if err != nil {
		return limit.Spec{}, err
	}
	s := limit.Spec{Algorithm: a}
	switch a {
	case limit.FixedWindow, limit.SlidingLog, limit.SlidingCounter:
		s.Limit, s.Window = l.Limit, time.Duration(l.Window)*time.Microsecond
		s.Nearest = a == limit.SlidingCounter
	case limit.LeakyQueue:
		s.Rate, s.Queue = l.Rate.Rate, l.Capacity
	default:
		s.Rate, s.Burst = l.Rate.Rate, l.Burst
	}
	return s, nil
}

// windowed reports whether the algorithm counts per window.
func (l *Limiter) windowed() bool {
	switch l.Algorithm {
	case "fixed-window", "sliding-log", "sliding-counter":
		return true
	}
	return false
}

func (l *Limiter) unused() map[string]string {
	m := map[string]string{}
	if !l.windowed() {
		m["limit"] = "is of windows, not of a " + l.Algorithm
		m["window"] = m["limit"]
	}
	if l.Algorithm != "leaky-queue" {
		m["capacity"] = "is of a leaky-queue, not of a " + l.Algorithm
	}
	return m
}

func (l *Limiter) validate() error {
	if err := l.validateContract(); err != nil {
		return err
	}
	if err := firstError(
		spanWithin("window", l.Window, 1, maxTime),
		countWithin("limit", l.Limit, 1, maxCalls),
		countWithin("capacity", l.Capacity, 0, maxCalls),
	); err != nil {
		return err
	}
	s, err := l.spec()
	if err == nil {
		_, err = s.New()
	}
	if err != nil {
		return paramOf(err, "")
	}
	switch {
	case l.windowed():
		return costFits(l.Cost, l.Limit, "limit")
	case s.Algorithm == limit.LeakyQueue:
		return costFits(l.Cost, l.Capacity+1, "capacity and the one call that need not wait")
	}
	return costFits(l.Cost, l.Burst, "burst")
}

// validateContract checks rate and burst.
func (l *Limiter) validateContract() error {
	if err := firstError(rateWithin("rate", l.Rate), countWithin("burst", l.Burst, 1, maxCalls)); err != nil {
		return err
	}
	_, err := l.bucket().Rule()
	return paramOf(err, "")
}

// bucket is the contract as a token bucket.
func (l *Limiter) bucket() limit.BucketSpec {
	return limit.BucketSpec{Rate: l.Rate.Rate, Burst: limit.Whole(l.Burst)}
}

// promise is the contract as results are judged by it.
func (l *Limiter) promise() *report.Promise {
	return bucketPromise(l.Rate, l.Burst)
}

func bucketPromise(r Rate, burst int64) *report.Promise {
	return &report.Promise{Text: fmt.Sprintf("%v,burst=%d", r, burst), Units: r.Units, Per: int64(r.Per), Burst: burst}
}
