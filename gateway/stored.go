package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// stored is the backend in Redis.
type stored struct {
	store   *redislimit.Store
	check   redislimit.Checker // the store, or one that makes a mistake with it
	prefix  string             // of the IDs of holders, other in each process and gateway
	holders atomic.Uint64
	calls   *atomic.Int64

	unreadable *atomic.Int64
}

func newStored(s *redislimit.Store, calls, unreadable *atomic.Int64) *stored {
	var b [9]byte
	rand.Read(b[:])
	return &stored{store: s, check: s, prefix: hex.EncodeToString(b[:]) + "-", calls: calls, unreadable: unreadable}
}

// key is where the part's state is in Redis.
func (p *hitState) redisKey() string {
	if p.key == "" {
		p.key = redislimit.Key("", p.Subject, p.ready.name)
	}
	return p.key
}

func (s *stored) parts(dst []redislimit.Part, parts []hitState) []redislimit.Part {
	for i := range parts {
		p := &parts[i]
		one := redislimit.Part{Key: p.redisKey(), Rule: p.ready.stored, Cost: p.Cost}
		if p.ready.spec.Algorithm == limit.Concurrency {
			if p.id == "" {
				p.id = s.prefix + strconv.FormatUint(s.holders.Add(1), 36)
			}
			one.ID = p.id
		}
		dst = append(dst, one)
	}
	return dst
}

func (s *stored) take(ctx context.Context, parts []hitState, _ int64) error {
	s.calls.Add(1)
	var room [4]redislimit.Part
	a, err := s.check.Take(ctx, s.parts(room[:0], parts)...)
	if err != nil {
		return err
	}
	if a.Unreadable > 0 {
		s.unreadable.Add(int64(a.Unreadable))
	}
	for i, d := range a.Parts {
		parts[i].Decision, parts[i].Source = d, FromStore
	}
	unasked(parts[len(a.Parts):])
	return nil
}

func (s *stored) release(ctx context.Context, parts []hitState, _ int64) error {
	s.calls.Add(1)
	return s.store.Release(ctx, s.parts(nil, parts)...)
}

func (s *stored) lease(ctx context.Context, p *hitState, _, block, least int64) (int64, time.Duration, error) {
	s.calls.Add(1)
	l, err := s.store.Lease(ctx, p.redisKey(), p.ready.stored, block, least)
	return l.Granted, l.Wait, err
}

func (s *stored) giveBack(ctx context.Context, p *hitState, _, n int64) error {
	s.calls.Add(1)
	return s.store.GiveBack(ctx, p.redisKey(), p.ready.stored, n)
}

func (s *stored) node(p *hitState) string { return s.store.Node(p.redisKey()) }
