package gateway

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
)

// Faults cuts connections on purpose, so that a client's books can be compared
// with the fleet's when the network is bad. Shares are from 0 to 1 and add up
// to at most 1. The zero value cuts nothing.
type Faults struct {
	Before float64 // share cut before the request is counted, without an answer
	After  float64 // share cut in the middle of the answer, decided and counted
	Seed   int64   // the same seed cuts the same numbers in order of arrival
}

func (f *Faults) check() error {
	// Written so that NaN fails as well.
	ok := func(p float64) bool { return p >= 0 && p <= 1 }
	if !ok(f.Before) || !ok(f.After) || f.Before+f.After > 1 {
		return &ConfigError{"faults",
			strconv.FormatFloat(f.Before, 'g', -1, 64) + " and " + strconv.FormatFloat(f.After, 'g', -1, 64),
			"want shares from 0 to 1 that add up to at most 1"}
	}
	return nil
}

type cut uint8

const (
	noCut cut = iota
	cutBefore
	cutAfter
)

// scissors deals the cuts out. Safe for concurrent use: the nth draw depends
// on n alone, whichever request gets it.
type scissors struct {
	Faults
	n atomic.Uint64
}

func (s *scissors) draw() cut {
	if s.Before == 0 && s.After == 0 {
		return noCut
	}
	p := rand.New(rand.NewPCG(uint64(s.Seed), s.n.Add(1))).Float64()
	switch {
	case p < s.Before:
		return cutBefore
	case p < s.Before+s.After:
		return cutAfter
	}
	return noCut
}
