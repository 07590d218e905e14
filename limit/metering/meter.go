package metering

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// OtherKey is where units of keys beyond a meter's room are counted.
const OtherKey = "(other keys)"

// IdleFlushes is how many flushes without a change make a meter forget a key,
// whose total is out by then. The next unit begins another running total.
const IdleFlushes = 120

const meterShards = 16

// Meter counts what one gateway process admits. [Meter.Add] is safe for
// concurrent use; flushes are the business of one goroutine.
type Meter struct {
	instance string
	gateway  int
	room     int // keys a shard holds
	seed     maphash.Seed
	seq      int64 // of the last flush
	begun    atomic.Int64
	shards   [meterShards]meterShard

	units, requests int64 // flushed, in all
}

type meterShard struct {
	mu    sync.Mutex
	rows  map[string]*row
	other row
	dirty []*row
	_     [64]byte // keeps neighbours' locks off one cache line
}

// row is one running total.
type row struct {
	key             string
	start           int64
	units, requests int64
	toldUnits       int64 // of these, in a record already
	toldRequests    int64
	dirty           bool // in its shard's list
	seq             int64
}

// NewMeter makes a meter whose instance name no other process may ever use. It
// counts up to maxKeys keys by name.
func NewMeter(instance string, gateway, maxKeys int) *Meter {
	m := &Meter{instance: instance, gateway: gateway, room: (maxKeys + meterShards - 1) / meterShards, seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].rows = map[string]*row{}
	}
	return m
}

// Add counts one admitted request of so many units at now, in unix ns.
func (m *Meter) Add(key string, now, units int64) {
	s := &m.shards[maphash.String(m.seed, key)%meterShards]
	s.mu.Lock()
	r := s.rows[key]
	if r == nil {
		r = m.row(s, key, now)
	}
	r.units += units
	r.requests++
	if !r.dirty {
		r.dirty = true
		s.dirty = append(s.dirty, r)
	}
	s.mu.Unlock()
}

// row makes one for a key that has none. The shard is locked.
func (m *Meter) row(s *meterShard, key string, now int64) *row {
	r := &s.other
	if len(s.rows) < m.room {
		// The key may be part of a whole request line.
		r = &row{key: strings.Clone(key)}
		s.rows[r.key] = r
	} else {
		r.key = OtherKey
	}
	if r.start == 0 {
		r.start = m.start(now)
	}
	return r
}

// start is now, or later when that was given out already: two running totals
// of a key never begin at the same instant, whatever the clock does.
func (m *Meter) start(now int64) int64 {
	for {
		last := m.begun.Load()
		at := max(now, last+1)
		if m.begun.CompareAndSwap(last, at) {
			return at
		}
	}
}

// Begin is the record that announces m.
func (m *Meter) Begin(now int64) Record { return m.record(Begin, now) }

func (m *Meter) record(k Kind, now int64) Record {
	return Record{Kind: k, Instance: m.instance, Gateway: m.gateway, At: time.Unix(0, now).UTC(), Seq: m.seq}
}

// Flush appends the totals that changed since the last flush, and a beat. It
// takes them for delivered: after one that was not, [Meter.Unsent] comes before
// the next.
func (m *Meter) Flush(now int64, dst []Record) []Record { return m.flush(now, dst, Beat) }

// End is the last flush, with an end record in place of the beat.
func (m *Meter) End(now int64, dst []Record) []Record { return m.flush(now, dst, End) }

func (m *Meter) flush(now int64, dst []Record, last Kind) []Record {
	m.seq++
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		for _, r := range s.dirty {
			rec := m.record(Total, now)
			rec.Key, rec.Start, rec.Units, rec.Requests = r.key, r.start, r.units, r.requests
			dst = append(dst, rec)
			m.units += r.units - r.toldUnits
			m.requests += r.requests - r.toldRequests
			r.toldUnits, r.toldRequests = r.units, r.requests
			r.dirty, r.seq = false, m.seq
		}
		clear(s.dirty)
		s.dirty = s.dirty[:0]
		if m.seq%IdleFlushes == 0 {
			s.forget(m.seq - IdleFlushes)
		}
		s.mu.Unlock()
	}
	rec := m.record(last, now)
	rec.Units, rec.Requests = m.units, m.requests
	return append(dst, rec)
}

// forget drops rows whose last record is older than seq. The shard is locked.
func (s *meterShard) forget(seq int64) {
	for k, r := range s.rows {
		if !r.dirty && r.seq < seq {
			delete(s.rows, k)
		}
	}
}

// Unsent puts what the last flush gave out back on the list for the next one.
func (m *Meter) Unsent() {
	again := func(s *meterShard, r *row) {
		if r.seq == m.seq && !r.dirty {
			r.dirty = true
			s.dirty = append(s.dirty, r)
		}
	}
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		for _, r := range s.rows {
			again(s, r)
		}
		if s.other.start != 0 {
			again(s, &s.other)
		}
		s.mu.Unlock()
	}
}
