package gateway

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// ruleSeries are the counters of one rule. Each is made when it is first
// needed, so that what cannot be, such as a refusal by failing open, does not
// show. Safe for concurrent use.
type ruleSeries struct {
	name string
	vec  *prometheus.CounterVec
	of   [len(outcomes)][sources]atomic.Pointer[prometheus.Counter]
}

var outcomes = [...]string{"refused", "admitted"}

// outcome is an index into outcomes.
func outcome(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func (r *ruleSeries) count(v *verdict) {
	o := outcome(v.OK)
	slot := &r.of[o][v.Source]
	c := slot.Load()
	if c == nil {
		// The vector gives the same counter to all who ask at once.
		made := r.vec.WithLabelValues(r.name, outcomes[o], v.Source.String())
		c = &made
		slot.Store(c)
	}
	(*c).Inc()
}
