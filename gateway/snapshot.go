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

	PerGateway []GatewayCounts `json:"per_gateway"`
	// Keys is how many keys have a row of their own.
	Keys int `json:"keys"`
	// PerKey has the busiest keys, most offered first, then by name.
	PerKey []KeyCounts `json:"per_key"`
	// Other is everything that PerKey does not show.
	Other Counts `json:"other"`
}

// GatewayCounts is one gateway's part: what it was asked, whoever decided.
type GatewayCounts struct {
	Gateway int    `json:"gateway"`
	URL     string `json:"url"`
	Counts
}

// KeyCounts is one key's row.
type KeyCounts struct {
	Key string `json:"key"`
	Counts
}

// snapshot reads the shards one after the other, so requests may be counted in
// between; each is either wholly in the result or not at all.
func (t *tally) snapshot(top int) Snapshot {
	var sn Snapshot
	top = max(top, 0)
	sn.PerKey = []KeyCounts{}
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
		sn.Keys += len(s.keys)
		if top > 0 {
			for k, c := range s.keys {
				sn.PerKey = append(sn.PerKey, KeyCounts{k, *c})
				// Cutting at twice the wanted length keeps a reading of a
				// million keys small and its cost linear.
				if len(sn.PerKey) >= 2*top+1024 {
					sn.PerKey = busiest(sn.PerKey, top)
				}
			}
		}
		s.mu.Unlock()
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
