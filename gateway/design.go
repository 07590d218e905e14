package gateway

import (
	"math"
	"strings"
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
	// Sticky gives each key one owner among the gateways, by a hash ring; the
	// others ask the owner.
	Sticky
	// Central has one store that all ask.
	Central
	// DenyCache is Central, and a gateway answers a refusal again by itself
	// until its wait is over.
	DenyCache
	// Leases is Central, and a gateway holds whole blocks of a bucket's tokens
	// that it spends by itself.
	Leases
	// LeasesDenyCache is Leases with a deny cache for what is not leased.
	LeasesDenyCache
	// LeasesBatch is Leases in batches: as many tokens as there are, renewed
	// when half are spent.
	LeasesBatch
	// LeasesBatchDenyCache is LeasesBatch with a deny cache.
	LeasesBatchDenyCache
)

var designs = [...]string{"local", "exact-shares", "sticky", "central", "deny-cache",
	"leases", "leases,deny-cache", "leases=batch", "leases=batch,deny-cache"}

func (d Design) String() string { return nameOf(designs[:], int(d)) }

// Designs lists every design.
func Designs() []Design {
	all := make([]Design, len(designs))
	for i := range all {
		all[i] = Design(i)
	}
	return all
}

// ParseDesign is the inverse of String. The parts of a combination may stand
// in any order and with central, which each of them is.
func ParseDesign(s string) (Design, error) {
	parts := strings.Split(s, ",")
	if len(parts) == 1 {
		i, err := indexOf("design", designs[:], s)
		return Design(i), err
	}
	var deny, leases bool
	lease := Leases
	for _, p := range parts {
		switch p {
		case "central":
		case "deny-cache":
			deny = true
		case "leases":
			leases = true
		case "leases=batch":
			leases, lease = true, LeasesBatch
		case "local", "exact-shares", "sticky":
			return 0, &ConfigError{"design", s, p + " asks no common store, which is what leases and a deny cache are for"}
		default:
			_, err := indexOf("design", designs[:], p)
			return 0, err
		}
	}
	switch {
	case leases && deny:
		return lease + 1, nil
	case leases:
		return lease, nil
	case deny:
		return DenyCache, nil
	}
	return Central, nil
}

// shared reports whether there is one store for all gateways.
func (d Design) shared() bool { return d >= Central }

// denies reports whether gateways keep refusals.
func (d Design) denies() bool {
	return d == DenyCache || d == LeasesDenyCache || d == LeasesBatchDenyCache
}

// leases reports whether gateways hold tokens, and in batches whether they do
// so in batches.
func (d Design) leases() bool  { return d >= Leases }
func (d Design) batches() bool { return d >= LeasesBatch }

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
