package gateway

import "net/http"

// Metrics answers with the fleet's figures for Prometheus; nil when it keeps
// none.
func (f *Fleet) Metrics() http.Handler {
	if f.observer.metrics == nil {
		return nil
	}
	return f.observer.metrics.handler
}

// stored reports whether the fleet's limits are in a store that can fail.
func (f *Fleet) stored() bool { return false }

// internals sums the figures that the fleet's parts keep for themselves.
func (f *Fleet) internals() internals { return internals{} }
