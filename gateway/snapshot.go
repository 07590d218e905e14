package gateway

import (
	"cmp"
	"slices"
)

// CountsSchema names the document that GET /-/counts answers with. Fields may
// be added, none renamed.
const CountsSchema = "weir.counts/v1"

// Snapshot is the fleet's books at one instant. Totals equals the sum over
// PerGateway, and the sum over PerKey plus Other.
type Snapshot struct {
	Schema   string  `json:"schema"`
	Limit    string  `json:"limit"`
	Design   string  `json:"design"`
	Gateways int     `json:"gateways"`
	ElapsedS float64 `json:"elapsed_s"` // since the start or the last reset
	Totals   Counts  `json:"totals"`

	// BySource has who decided, by the source's name: those that decided
	// anything. It sums up to Totals.
	BySource map[string]SourceCounts `json:"by_source"`
	Rules    RulesCounts             `json:"rules"`
	Store    *StoreCounts            `json:"store,omitempty"` // what the gateways share; nil when nothing

	PerGateway []GatewayCounts `json:"per_gateway"`
	// Keys is how many keys have a row of their own.
	Keys int `json:"keys"`
	// PerKey has the busiest keys, most offered first, then by name.
	PerKey []KeyCounts `json:"per_key"`
	// Other is everything that PerKey does not show.
	Other Counts `json:"other"`
}

// StoodIn are the decisions that fail modes made while the store did not answer.
func (sn *Snapshot) StoodIn() (all SourceCounts) {
	for _, s := range []Source{FromLocalShare, FromOpen, FromClosed} {
		c := sn.BySource[s.String()]
		all.Admitted += c.Admitted
		all.Refused += c.Refused
	}
	return all
}

// GatewayCounts is one gateway's part: what it was asked, whoever decided.
type GatewayCounts struct {
	Gateway int    `json:"gateway"`
	URL     string `json:"url"`
	Counts
}

// RulesCounts are the rules in force and what each decided.
type RulesCounts struct {
	Version int64 `json:"version"`
	// Gateways is how many have that version; the others follow.
	Gateways int          `json:"gateways"`
	ByRule   []RuleCounts `json:"by_rule"`
}

// RuleCounts is one rule's part: the requests on which it had the last word,
// and those that it refused. On trial it has no word; what it would have
// refused is in ShadowRefused.
type RuleCounts struct {
	Rule          string `json:"rule"`
	Decided       int64  `json:"decided"`
	Refused       int64  `json:"refused"`
	ShadowDecided int64  `json:"shadow_decided"`
	ShadowRefused int64  `json:"shadow_refused"`
	// ShadowMissed were not measured: too many at once, or no answer.
	ShadowMissed int64 `json:"shadow_missed"`
}

// StoreCounts are the calls to what the gateways share, leases included.
type StoreCounts struct {
	Calls        int64 `json:"calls"`
	OpenBreakers int   `json:"open_breakers"` // now, over all gateways and shards
	Openings     int   `json:"openings"`      // since the start
}

// KeyCounts is one key's row.
type KeyCounts struct {
	Key string `json:"key"`
	Counts
}

// counted fills in what the books do not know.
func (f *Fleet) counted(sn *Snapshot) {
	set := f.Rules()
	sn.Limit = f.promise()
	sn.Rules = RulesCounts{Version: set.Version, ByRule: f.books.read()}
	now := f.now()
	for _, g := range f.gateways {
		if g.current(now).set == set {
			sn.Rules.Gateways++
		}
	}
	if !f.cfg.Design.shared() {
		return
	}
	sn.Store = &StoreCounts{Calls: f.calls.Load()}
	for _, g := range f.gateways {
		open, openings := g.breakers.counts()
		sn.Store.OpenBreakers += open
		sn.Store.Openings += openings
	}
}

// snapshot reads the shards one after the other, so requests may be counted in
// between; each is either wholly in the result or not at all.
func (t *tally) snapshot(top int) Snapshot {
	var sn Snapshot
	top = max(top, 0)
	sn.PerKey, sn.BySource = []KeyCounts{}, map[string]SourceCounts{}
	var by [sources]SourceCounts
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		if sn.PerGateway == nil {
			sn.PerGateway = make([]GatewayCounts, len(s.gateways))
		}
		for j, g := range s.gateways {
			sn.PerGateway[j].Counts.add(g)
			sn.Totals.add(g)
		}
		for j, c := range s.sources {
			by[j].Admitted += c.Admitted
			by[j].Refused += c.Refused
		}
		sn.Keys += len(s.keys)
		if top > 0 {
			for k, c := range s.keys {
				sn.PerKey = append(sn.PerKey, KeyCounts{k, c.Counts})
				// Cutting at twice the wanted length keeps a reading of a
				// million keys small and its cost linear.
				if len(sn.PerKey) >= 2*top+1024 {
					sn.PerKey = busiest(sn.PerKey, top)
				}
			}
		}
		s.mu.Unlock()
	}
	for j, c := range by {
		if c != (SourceCounts{}) {
			sn.BySource[Source(j).String()] = c
		}
	}
	sn.PerKey = busiest(sn.PerKey, top)
	sn.Other = sn.Totals
	for _, k := range sn.PerKey {
		sn.Other.sub(k.Counts)
	}
	return sn
}

func busiest(keys []KeyCounts, top int) []KeyCounts {
	slices.SortFunc(keys, func(a, b KeyCounts) int {
		if c := cmp.Compare(b.Offered, a.Offered); c != 0 {
			return c
		}
		return cmp.Compare(a.Key, b.Key)
	})
	return keys[:min(top, len(keys))]
}
