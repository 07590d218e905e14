package replay

import (
	"github.com/weir-cli/weir/limit"
)

// pure is a limit with a state per key number. Keys beyond MaxKeys are in a
// store that drops what no longer matters.
type pure struct {
	limiter limit.Limiter
	states  []limit.State
	store   *limit.Store
}

func newPure(s limit.Spec) (*pure, error) {
	l, err := s.New()
	if err != nil {
		return nil, err
	}
	return &pure{limiter: l, store: limit.NewStore(l, limit.StoreOptions{})}, nil
}

func (p *pure) take(id uint32, key []byte, now, cost int64) limit.Decision {
	if id >= rest {
		return p.store.TakeBytes(key, now, cost)
	}
	for int(id) >= len(p.states) {
		p.states = append(p.states, limit.State{})
	}
	return p.limiter.Take(&p.states[id], now, cost)
}

// used reports whether the limiter has met key id.
func (p *pure) used(id uint32) bool {
	return int(id) < len(p.states) && p.states[id] != (limit.State{})
}

// peek is what the limiter says of a key without a call.
func (p *pure) peek(id uint32, key []byte, now int64) string {
	d := p.take(id, key, now, 0)
	return stateText(&d)
}
