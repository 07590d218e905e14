package gateway

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit/redislimit"
	"github.com/weir-cli/weir/report"
)

// Bounds of the labels, whatever rule files and clusters say.
const (
	maxRuleLabels = 1000
	maxNodeLabels = 1000
	maxKindLabels = 50
)

const (
	noRule    = "none"  // the label of decisions that no rule was for
	storeNode = "store" // the label of a store that is one server
)

// Edges of the histograms, in seconds. A decision in memory takes less than a
// microsecond, one by a store on the same network a few hundred.
var (
	decisionEdges = []float64{1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 1}
	storeEdges    = []float64{1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1}
)

// metrics are a fleet's figures for Prometheus, in a registry of its own. No
// label ever holds a key or a caller's address. Safe for concurrent use.
type metrics struct {
	handler  http.Handler
	rules    *series[*rules.Rule, *ruleSeries]
	nodes    *series[string, *nodeSeries]
	kinds    *series[string, prometheus.Counter]
	took     *prometheus.HistogramVec
	tookBy   [sources]atomic.Pointer[prometheus.Observer] // made when it is first needed
	openings prometheus.Counter
	reloads  prometheus.Counter // that failed
	inFlight prometheus.Gauge
}

// newMetrics makes a registry whose pulled figures come from read.
func newMetrics(read func() internals) *metrics {
	r := prometheus.NewRegistry()
	m := &metrics{
		openings: prometheus.NewCounter(prometheus.CounterOpts{Name: "weir_breaker_openings_total", Help: "Times that a gateway's breaker for a store node opened."}),
		reloads:  prometheus.NewCounter(prometheus.CounterOpts{Name: "weir_rules_reload_failures_total", Help: "Rules that could not be read or were refused; the old ones stay in force."}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "weir_requests_in_flight", Help: "Requests that are being decided or answered."}),
	}
	decided := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weir_decisions_total", Help: "Decided requests, by the rule that decided and who decided for it."}, []string{"rule", "outcome", "source"})
	m.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "weir_decision_seconds", Help: "How long a decision took.", Buckets: decisionEdges}, []string{"source"})
	store := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "weir_store_seconds", Help: "How long the store took for a check, and whether it answered.", Buckets: storeEdges}, []string{"node", "outcome"})
	failed := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "weir_store_errors_total", Help: "Checks that the store did not answer, by what went wrong."}, []string{"kind"})
	open := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "weir_breaker_open", Help: "Gateways whose breaker for a store node is open."}, []string{"node"})
	r.MustRegister(decided, m.took, store, failed, open, m.openings, m.reloads, m.inFlight, pulled(read))

	m.rules = newSeries(maxRuleLabels, func(r *rules.Rule) string {
		if r == nil {
			return noRule
		}
		return r.Name
	}, func(name string) *ruleSeries { return &ruleSeries{name: name, vec: decided} })
	m.nodes = newSeries(maxNodeLabels, func(node string) string {
		if node == "" {
			return storeNode
		}
		return report.Clean(node) // a cluster says what its nodes are called
	}, func(name string) *nodeSeries {
		return &nodeSeries{store.WithLabelValues(name, "answered"), store.WithLabelValues(name, "failed"), open.WithLabelValues(name)}
	})
	m.kinds = newSeries(maxKindLabels, func(kind string) string { return kind }, func(kind string) prometheus.Counter { return failed.WithLabelValues(kind) })
	// A counter that begins with a value has no rate: an alert on errors would
	// sleep through the first outage.
	for _, kind := range redislimit.Kinds() {
		m.kinds.of(kind.String())
	}
	m.handler = promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
	return m
}

// nodeSeries are one store node's.
type nodeSeries struct {
	answered, failed prometheus.Observer
	open             prometheus.Gauge
}

// decided counts a verdict.
func (m *metrics) decided(v *verdict, took time.Duration) {
	m.rules.of(v.By).count(v)
	slot := &m.tookBy[v.Source]
	o := slot.Load()
	if o == nil {
		made := m.took.WithLabelValues(v.Source.String())
		o = &made
		slot.Store(o)
	}
	(*o).Observe(took.Seconds())
}

// stored counts one check of the store; kind is "" when it answered.
func (m *metrics) stored(node string, took time.Duration, kind string) {
	n := m.nodes.of(node)
	if kind == "" {
		n.answered.Observe(took.Seconds())
		return
	}
	n.failed.Observe(took.Seconds())
	m.kinds.of(kind).Inc()
}

func (m *metrics) breaker(node string, open bool) {
	if n := m.nodes.of(node); open {
		m.openings.Inc()
		n.open.Inc()
	} else {
		n.open.Dec()
	}
}
