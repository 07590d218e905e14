package gateway

import (
	"hash/maphash"
	"strings"
	"sync"
)

// Counts are the fleet's own books. Offered = Admitted + Refused in every
// reading: a request is counted once, at its decision, whatever becomes of its
// connection afterwards. Requests that never reached the limiter (CutBefore,
// Invalid) are not in Offered; CutAfter and UpstreamFailed are.
type Counts struct {
	Offered       int64 `json:"offered"`
	Admitted      int64 `json:"admitted"`
	Refused       int64 `json:"refused"`
	AdmittedUnits int64 `json:"admitted_units"` // the costs of what was admitted
	CutBefore     int64 `json:"cut_before"`
	CutAfter      int64 `json:"cut_after"`
	// CutAfterAdmitted is the part of CutAfter that had been admitted.
	CutAfterAdmitted int64 `json:"cut_after_admitted"`
	Invalid          int64 `json:"invalid"` // answered 400 for its cost
	UpstreamFailed   int64 `json:"upstream_failed"`
}

func (c *Counts) add(o Counts) {
	c.Offered += o.Offered
	c.Admitted += o.Admitted
	c.Refused += o.Refused
	c.AdmittedUnits += o.AdmittedUnits
	c.CutBefore += o.CutBefore
	c.CutAfter += o.CutAfter
	c.CutAfterAdmitted += o.CutAfterAdmitted
	c.Invalid += o.Invalid
	c.UpstreamFailed += o.UpstreamFailed
}

func (c *Counts) sub(o Counts) {
	c.Offered -= o.Offered
	c.Admitted -= o.Admitted
	c.Refused -= o.Refused
	c.AdmittedUnits -= o.AdmittedUnits
	c.CutBefore -= o.CutBefore
	c.CutAfter -= o.CutAfter
	c.CutAfterAdmitted -= o.CutAfterAdmitted
	c.Invalid -= o.Invalid
	c.UpstreamFailed -= o.UpstreamFailed
}

// Second is what was decided in one second since the start or the last reset.
type Second struct {
	Offered, Admitted, Refused int64
}

const (
	tallyShards = 64
	// maxSeconds bounds the series to a day; later seconds are in the totals.
	maxSeconds = 86_400
)

// tally counts for a whole fleet. One short lock per request, on one of 64
// shards chosen by the key, keeps a key's row, its gateway's row and the
// series in step.
type tally struct {
	seed   maphash.Seed
	shards [tallyShards]tallyShard
}

type tallyShard struct {
	mu       sync.Mutex
	keys     map[string]*Counts
	room     int    // keys that may still be added
	unnamed  Counts // keys beyond room, and requests without a key
	gateways []Counts
	seconds  []Second
	_        [64]byte // keeps neighbours' locks off one cache line
}

func newTally(gateways, maxKeys int) *tally {
	t := &tally{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i] = tallyShard{
			keys:     map[string]*Counts{},
			room:     (maxKeys + tallyShards - 1) / tallyShards,
			gateways: make([]Counts, gateways),
		}
	}
	return t
}

func (t *tally) shard(key string) *tallyShard {
	return &t.shards[maphash.String(t.seed, key)%tallyShards]
}

// row finds or makes key's row. The shard is locked.
func (s *tallyShard) row(key string) *Counts {
	r := s.keys[key]
	if r != nil {
		return r
	}
	if s.room <= 0 {
		return &s.unnamed
	}
	s.room--
	r = new(Counts)
	// The key may be part of a whole request line; keep no more than the key.
	s.keys[strings.Clone(key)] = r
	return r
}

// decided books one decision made at second sec.
func (t *tally) decided(gw int, key string, sec int, admitted bool, cost int64, after bool) {
	s := t.shard(key)
	s.mu.Lock()
	k, g := s.row(key), &s.gateways[gw]
	k.Offered++
	g.Offered++
	switch {
	case admitted:
		k.Admitted++
		g.Admitted++
		k.AdmittedUnits += cost
		g.AdmittedUnits += cost
	default:
		k.Refused++
		g.Refused++
	}
	if after {
		k.CutAfter++
		g.CutAfter++
		if admitted {
			k.CutAfterAdmitted++
			g.CutAfterAdmitted++
		}
	}
	if sec >= 0 && sec < maxSeconds {
		for len(s.seconds) <= sec {
			s.seconds = append(s.seconds, Second{})
		}
		p := &s.seconds[sec]
		p.Offered++
		if admitted {
			p.Admitted++
		} else {
			p.Refused++
		}
	}
	s.mu.Unlock()
}

func (t *tally) cutBefore(gw int, key string) {
	s := t.shard(key)
	s.mu.Lock()
	s.row(key).CutBefore++
	s.gateways[gw].CutBefore++
	s.mu.Unlock()
}

func (t *tally) upstreamFailed(gw int, key string) {
	s := t.shard(key)
	s.mu.Lock()
	s.row(key).UpstreamFailed++
	s.gateways[gw].UpstreamFailed++
	s.mu.Unlock()
}

func (t *tally) invalid(gw int) {
	s := &t.shards[0]
	s.mu.Lock()
	s.unnamed.Invalid++
	s.gateways[gw].Invalid++
	s.mu.Unlock()
}

// series sums the shards' seconds.
func (t *tally) series() []Second {
	var all []Second
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for len(all) < len(s.seconds) {
			all = append(all, Second{})
		}
		for j, p := range s.seconds {
			all[j].Offered += p.Offered
			all[j].Admitted += p.Admitted
			all[j].Refused += p.Refused
		}
		s.mu.Unlock()
	}
	return all
}
