package limit

import "time"

// Algorithm names a limiter.
type Algorithm uint8

const (
	TokenBucket Algorithm = iota
	GCRA
	FixedWindow
	SlidingLog
	SlidingCounter
	LeakyQueue
	LeakyMeter
	Concurrency
)

// Rate is Units per Per; kept as a fraction so that arithmetic stays exact.
type Rate struct {
	Units int64
	Per   time.Duration
}

// Spec is a limit as a user writes it: `10/s,burst=20` (a token bucket) or
// `ALGORITHM:key=value,…`. Only the fields of its algorithm are set.
type Spec struct {
	Algorithm Algorithm
	Rate      Rate          // token-bucket, gcra, leaky-queue, leaky-meter
	Burst     int64         // token-bucket, gcra; capacity of leaky-meter
	Queue     int64         // leaky-queue: calls that may wait
	Limit     int64         // windows: units per Window; concurrency: in flight
	Window    time.Duration // fixed-window, sliding-log, sliding-counter
}
