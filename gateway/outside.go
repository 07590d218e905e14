package gateway

import (
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/weir-cli/weir/limit/redislimit"
)

// Metrics answers with the fleet's figures for Prometheus; nil when it keeps
// none.
func (f *Fleet) Metrics() http.Handler {
	if f.observer.metrics == nil {
		return nil
	}
	return f.observer.metrics.handler
}

// RulesChecked says that whoever looks for newer rules has looked, and which
// version is in force; err is why newer ones are not. A copy that comes late
// is nobody's failure.
func (f *Fleet) RulesChecked(version int64, err error) {
	var late *OldRulesError
	if errors.As(err, &late) {
		return
	}
	f.observer.rulesLoaded(version, err)
}

// lentCounts are what became of leases. Safe for concurrent use.
type lentCounts struct{ grants, denials, returned atomic.Int64 }

func (l *lentCounts) asked(granted int64, err error) {
	switch {
	case err != nil:
	case granted > 0:
		l.grants.Add(1)
	default:
		l.denials.Add(1)
	}
}

func (l *lentCounts) gaveBack(n int64, err error) {
	if err == nil {
		l.returned.Add(n)
	}
}

// storeFailure is what went wrong with a check; "" is nothing.
func storeFailure(err error) string {
	if err == nil {
		return ""
	}
	return redislimit.Classify(err).String()
}

// internals sums the figures that the fleet's parts keep for themselves.
func (f *Fleet) internals() internals {
	i := internals{
		LeaseGrants: f.lent.grants.Load(), LeaseDenials: f.lent.denials.Load(), LeaseGivenBack: f.lent.returned.Load(),
		Unreadable: f.unreadable.Load(), Shadow: f.books.read(),
	}
	r, now := f.run.Load(), f.now()
	for _, d := range r.desks {
		d.figures(&i, now)
	}
	books := r.tally.snapshot(0)
	i.DenyHits = books.BySource[FromDenyCache.String()].Refused
	i.Shed, i.Unknown = books.Totals.Shed, books.Totals.Unknown
	return i
}

// figures adds what a gateway's desk holds.
func (d *desk) figures(i *internals, now int64) {
	for k := range d.shards {
		s := &d.shards[k]
		s.mu.Lock()
		i.DenySize += int64(s.denied.Len())
		i.ShareKeys += int64(len(s.alone.rows))
		for _, h := range s.held.rows {
			i.LeaseHeld += h.left(now)
		}
		s.mu.Unlock()
	}
}
