package gateway

import (
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Design says how the gateways of a fleet share one limit.
type Design uint8

const (
	// Local gives each gateway the full limit, so a fleet of N admits up to N
	// times the promise.
	Local Design = iota
	// ExactShares gives each gateway one Nth. It keeps the promise and refuses
	// a key whose requests do not spread evenly.
	ExactShares
	// Sticky gives each key one owner among the gateways, by hash; the others
	// ask the owner.
	Sticky
	// Central has one store that all ask.
	Central
)

var designs = [...]string{"local", "exact-shares", "sticky", "central"}

func (d Design) String() string { return nameOf(designs[:], int(d)) }

// ParseDesign reads local, exact-shares, sticky or central.
func ParseDesign(s string) (Design, error) {
	i, err := indexOf("design", designs[:], s)
	return Design(i), err
}

// share is one gateway's part of a limit that n gateways divide. Rates divide
// exactly because the period grows instead. Counts round down but never to
// nothing, so below one unit a gateway the shares add up to more than the limit.
func share(s limit.Spec, n int) (limit.Spec, error) {
	part := func(v int64) int64 {
		if v == 0 {
			return 0
		}
		return max(1, v/int64(n))
	}
	if s.Rate.Per > math.MaxInt64/time.Duration(n) {
		return s, &ConfigError{"limit", "", "a period too long to divide among the gateways"}
	}
	s.Rate.Per *= time.Duration(n)
	s.Burst, s.Queue, s.Limit = part(s.Burst), part(s.Queue), part(s.Limit)
	return s, nil
}

// owner is the gateway that decides for key under Sticky: FNV-1a with a final
// mix, the same in every process so that a run can be repeated.
func owner(key string, n int) int {
	h := uint64(14695981039346656037)
	for i := 0; i < len(key); i++ {
		h = (h ^ uint64(key[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return int((h >> 33) % uint64(n))
}
