package limit

import "math"

// Limiters keep instants shifted by origin, so that every instant is above
// zero, the zero State means "never", and adding any wait that a valid spec
// can produce (at most maxWait) still fits.
const (
	origin      = 1 << 61
	lastInstant = 3<<61 - 1
	maxWait     = 1 << 61 // ns; 73 years
)

// instant shifts a caller's time into [1, lastInstant].
func instant(now int64) int64 {
	if now < 1-origin {
		return 1
	}
	if now > lastInstant-origin {
		return lastInstant
	}
	return now + origin
}

// intoWindow is how far t is into its window of w, aligned to the caller's
// time zero.
func intoWindow(t, w int64) int64 {
	r := (t - origin) % w
	if r < 0 {
		r += w
	}
	return r
}

// addCapped adds two numbers that are not negative.
func addCapped(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
