package gateway

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit"
)

// maxParts is the most limits that a request can be under.
const maxParts = 16

// backend is who decides for a gateway: its own memory, a key's owner's, or the
// store of the fleet. Safe for concurrent use. Only a store outside of this
// process has errors.
type backend interface {
	// take decides parts, each with a cost above zero, all or nothing, and
	// fills their answers in.
	take(ctx context.Context, parts []hitState, now int64) error
	// release gives back what parts of concurrency limits hold.
	release(ctx context.Context, parts []hitState, now int64) error
	// lease takes block tokens, or what there is when that is at least least.
	lease(ctx context.Context, p *hitState, now, block, least int64) (granted int64, wait time.Duration, err error)
	giveBack(ctx context.Context, p *hitState, now, n int64) error
	// node names the shard that a part is on.
	node(p *hitState) string
}

// inProcess is a backend in this process: one bank, or one for each gateway.
type inProcess struct {
	banks []*bank
	own   int           // the bank that decides
	by    *owners       // unless keys have owners
	calls *atomic.Int64 // nil where there is no common store to be called
}

func (m *inProcess) bank(p *hitState) *bank {
	if m.by != nil {
		return m.banks[m.by.of(p.Subject)]
	}
	return m.banks[m.own]
}

func (m *inProcess) take(_ context.Context, parts []hitState, now int64) error {
	if m.calls != nil {
		m.calls.Add(1)
	}
	if len(parts) == 1 {
		p := &parts[0]
		p.Decision, p.Source = m.bank(p).take1(p, now), FromMemory
		return nil
	}
	takeAll(parts, now, m.bank)
	for i := range parts {
		parts[i].Source = FromMemory
	}
	return nil
}

func (m *inProcess) release(_ context.Context, parts []hitState, now int64) error {
	for i := range parts {
		if parts[i].ready.spec.Algorithm == limit.Concurrency {
			m.bank(&parts[i]).release(&parts[i], now)
		}
	}
	return nil
}

func (m *inProcess) lease(_ context.Context, p *hitState, now, block, least int64) (int64, time.Duration, error) {
	m.calls.Add(1)
	granted, wait := m.bank(p).lease(p, now, block, least)
	return granted, wait, nil
}

func (m *inProcess) giveBack(_ context.Context, p *hitState, now, n int64) error {
	m.calls.Add(1)
	m.bank(p).giveBack(p, now, n)
	return nil
}

func (m *inProcess) node(*hitState) string { return "" }
