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
	// UpstreamFailed were admitted, and answered 502 or cut short.
	UpstreamFailed int64 `json:"upstream_failed"`
	// Shed were admitted, and answered 503 to spare what is behind.
	Shed int64 `json:"shed"`
	// Unknown were answered 401, or 429 for too many of these, for want of a
	// key that is known. They are in no key's row and not in Offered.
	Unknown int64 `json:"unknown"`
}

// SourceCounts are decisions by who made them.
type SourceCounts struct {
	Admitted int64 `json:"admitted"`
	Refused  int64 `json:"refused"`
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
	c.Shed += o.Shed
	c.Unknown += o.Unknown
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
	c.Shed -= o.Shed
	c.Unknown -= o.Unknown
}

const tallyShards = 64

// tally counts for a whole fleet. One short lock per request, on one of 64
// shards chosen by the key, keeps a key's row and its gateway's row in step.
type tally struct {
	seed   maphash.Seed
	number func(key string) uint32 // called once for each key with a row
	shards [tallyShards]tallyShard
}

type tallyShard struct {
	mu       sync.Mutex
	keys     map[string]*keyRow
	room     int    // keys that may still be added
	unnamed  keyRow // keys beyond room, and requests without a key
	gateways []Counts
	sources  [sources]SourceCounts
	_        [64]byte // keeps neighbours' locks off one cache line
}

type keyRow struct {
	Counts
	number uint32
}

func newTally(gateways, maxKeys int, number func(string) uint32) *tally {
	t := &tally{seed: maphash.MakeSeed(), number: number}
	for i := range t.shards {
		t.shards[i] = tallyShard{
			keys:     map[string]*keyRow{},
			unnamed:  keyRow{number: unnamedKey},
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
func (t *tally) row(s *tallyShard, key string) *keyRow {
	r := s.keys[key]
	if r != nil {
		return r
	}
	if s.room <= 0 {
		return &s.unnamed
	}
	s.room--
	// The key may be part of a whole request line; keep no more than the key.
	key = strings.Clone(key)
	r = &keyRow{number: t.number(key)}
	s.keys[key] = r
	return r
}

// decided books one decision and returns the key's number.
func (t *tally) decided(gw int, key string, admitted bool, source Source, cost int64, after bool) uint32 {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	k, g := t.row(s, key), &s.gateways[gw]
	k.Offered++
	g.Offered++
	if admitted {
		k.Admitted++
		g.Admitted++
		k.AdmittedUnits += cost
		g.AdmittedUnits += cost
		s.sources[source].Admitted++
	} else {
		k.Refused++
		g.Refused++
		s.sources[source].Refused++
	}
	if after {
		k.CutAfter++
		g.CutAfter++
		if admitted {
			k.CutAfterAdmitted++
			g.CutAfterAdmitted++
		}
	}
	return k.number
}

func (t *tally) cutBefore(gw int, key string) {
	s := t.shard(key)
	s.mu.Lock()
	t.row(s, key).CutBefore++
	s.gateways[gw].CutBefore++
	s.mu.Unlock()
}

func (t *tally) upstreamFailed(gw int, key string) {
	s := t.shard(key)
	s.mu.Lock()
	t.row(s, key).UpstreamFailed++
	s.gateways[gw].UpstreamFailed++
	s.mu.Unlock()
}

func (t *tally) shed(gw int, key string) {
	s := t.shard(key)
	s.mu.Lock()
	t.row(s, key).Shed++
	s.gateways[gw].Shed++
	s.mu.Unlock()
}

func (t *tally) unknown(gw int) {
	s := &t.shards[0]
	s.mu.Lock()
	s.unnamed.Unknown++
	s.gateways[gw].Unknown++
	s.mu.Unlock()
}

func (t *tally) invalid(gw int) {
	s := &t.shards[0]
	s.mu.Lock()
	s.unnamed.Invalid++
	s.gateways[gw].Invalid++
	s.mu.Unlock()
}
