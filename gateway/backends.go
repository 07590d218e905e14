package gateway

import (
	"time"

	"github.com/weir-cli/weir/limit/redislimit"
)

// newBackends makes who decides, by gateway, with nothing remembered.
func (f *Fleet) newBackends() []backend {
	all := make([]backend, len(f.gateways))
	if f.cfg.Redis != nil {
		for i := range all {
			all[i] = f.cfg.Wrong.stored(newStored(f.stores[i], &f.calls, &f.unreadable), f.cfg.StoreTimeout)
		}
		return all
	}
	n := len(all)
	if f.cfg.Design.shared() {
		n = 1
	}
	slack := bankSlack
	if f.cfg.Wrong.skewed() {
		slack = time.Hour
	}
	banks := make([]*bank, n)
	for i := range banks {
		banks[i] = newBank(f.cfg.MaxKeys, i, slack)
	}
	var shared backend
	for i := range all {
		b := &inProcess{banks: banks, own: min(i, n-1), by: f.owners}
		if f.cfg.Design.shared() {
			b.calls = &f.calls
		}
		switch {
		case shared != nil:
			all[i] = shared
		default:
			all[i] = f.cfg.Wrong.inProcess(b)
		}
		if n == 1 || f.owners != nil {
			shared = all[i]
		}
	}
	return all
}

// newStore is a gateway's own way to Redis, as each process of a fleet has one.
func (f *Fleet) newStore(g *gateway) *redislimit.Store {
	o := redislimit.Options{Timeout: f.cfg.StoreTimeout, Observe: func(node string, took time.Duration, err error) {
		f.observer.stored(g.n, node, took, storeFailure(err))
	}}
	if f.cfg.Wrong.skewed() {
		o.Clock = g.now
	}
	return redislimit.NewStore(f.cfg.Redis, o)
}
