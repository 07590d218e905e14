package gateway

import "github.com/prometheus/client_golang/prometheus"

// internals are figures that the parts of a fleet keep for themselves, summed
// over its gateways and read when somebody asks for metrics.
type internals struct {
	RulesVersion int64
	RulesAgeS    float64 // since they came into force

	LeaseHeld      int64 // tokens that gateways hold now
	LeaseGrants    int64 // leases that the store granted
	LeaseDenials   int64 // and that it refused
	LeaseGivenBack int64 // tokens that went back unspent

	DenyHits int64 // refusals that needed no store
	DenySize int64 // refusals in force, by key and rule

	ShareKeys int64 // keys with a bucket of their own for a store's absence
	Shed      int64 // requests answered 503 for the upstream's sake
	Unknown   int64 // requests turned away for want of a known key
	// Unreadable counts states in the store that were not a limit's own.
	Unreadable int64

	// Shadow has what rules on trial would have decided. With a store nobody
	// waits for that, so it comes later than the request's own decision.
	Shadow []RuleCounts

	LogLines, LogDropped int64 // of the decision log
	MeterUnsent          int64 // flushes of the meter that failed
}

// pulledFigure is one of the internals as a metric.
type pulledFigure struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*internals) float64
}

// pulled collects internals.
type pulled func() internals

func figure(name, help string, kind prometheus.ValueType, value func(*internals) float64) pulledFigure {
	return pulledFigure{prometheus.NewDesc(name, help, nil, nil), kind, value}
}

var pulledFigures = []pulledFigure{
	figure("weir_rules_version", "Version of the rules in force.", prometheus.GaugeValue, func(i *internals) float64 { return float64(i.RulesVersion) }),
	figure("weir_rules_age_seconds", "Since these rules came into force.", prometheus.GaugeValue, func(i *internals) float64 { return i.RulesAgeS }),
	figure("weir_lease_held_tokens", "Leased tokens that gateways hold.", prometheus.GaugeValue, func(i *internals) float64 { return float64(i.LeaseHeld) }),
	figure("weir_lease_grants_total", "Leases that the store granted.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.LeaseGrants) }),
	figure("weir_lease_denials_total", "Leases that the store refused.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.LeaseDenials) }),
	figure("weir_lease_given_back_tokens_total", "Leased tokens that went back unspent.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.LeaseGivenBack) }),
	figure("weir_deny_cache_hits_total", "Refusals that needed no store.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.DenyHits) }),
	figure("weir_deny_cache_size", "Refusals that gateways remember.", prometheus.GaugeValue, func(i *internals) float64 { return float64(i.DenySize) }),
	figure("weir_local_share_keys", "Keys that gateways keep a share of their own for.", prometheus.GaugeValue, func(i *internals) float64 { return float64(i.ShareKeys) }),
	figure("weir_shed_total", "Requests answered 503 because the upstream had enough.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.Shed) }),
	figure("weir_unknown_key_total", "Requests turned away because nobody knows their key.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.Unknown) }),
	figure("weir_unreadable_state_total", "States in the store that were not a limit's own.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.Unreadable) }),
	figure("weir_decision_log_lines_total", "Lines written to the decision log.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.LogLines) }),
	figure("weir_decision_log_dropped_total", "Lines that the decision log left out.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.LogDropped) }),
	figure("weir_meter_unsent_total", "Flushes of the meter that failed; the next one carries them.", prometheus.CounterValue, func(i *internals) float64 { return float64(i.MeterUnsent) }),
}

var (
	shadowDecisions = prometheus.NewDesc("weir_shadow_decisions_total", "What rules on trial would have decided; nothing was refused for it.", []string{"rule", "outcome"}, nil)
	shadowMissed    = prometheus.NewDesc("weir_shadow_missed_total", "Decisions that rules on trial did not get to make.", []string{"rule"}, nil)
)

func (p pulled) Describe(to chan<- *prometheus.Desc) {
	to <- shadowDecisions
	to <- shadowMissed
	for _, f := range pulledFigures {
		to <- f.desc
	}
}

func (p pulled) Collect(to chan<- prometheus.Metric) {
	now := p()
	for _, f := range pulledFigures {
		to <- prometheus.MustNewConstMetric(f.desc, f.kind, f.value(&now))
	}
	for _, r := range now.Shadow[:min(len(now.Shadow), maxRuleLabels)] {
		if r.ShadowDecided == 0 && r.ShadowMissed == 0 {
			continue
		}
		for i, n := range [len(outcomes)]int64{r.ShadowRefused, r.ShadowDecided - r.ShadowRefused} {
			to <- prometheus.MustNewConstMetric(shadowDecisions, prometheus.CounterValue, float64(n), r.Rule, outcomes[i])
		}
		to <- prometheus.MustNewConstMetric(shadowMissed, prometheus.CounterValue, float64(r.ShadowMissed), r.Rule)
	}
}
