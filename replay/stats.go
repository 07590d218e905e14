package replay

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/weir-cli/weir/report"
)

// Stats are what a trace holds.
type Stats struct {
	Trace       report.ReplayTrace `json:"trace"`
	Interrupted bool               `json:"interrupted"`
	From        string             `json:"from"` // a time, or seconds since the start
	To          string             `json:"to"`
	MeanPerS    float64            `json:"mean_per_s"`
	PeakCalls   int64              `json:"peak_calls"` // in one second of the clock
	PeakAt      string             `json:"peak_at"`
	Cost        int64              `json:"cost"`
	MostCost    int64              `json:"most_cost"`
	Admitted    int64              `json:"recorded_admitted"`
	Refused     int64              `json:"recorded_refused"`
	Keys        int64              `json:"keys"`
	KeysOver    bool               `json:"keys_over"` // there were more than could be counted
	Busiest     []BusyKey          `json:"busiest"`
	Scripts     []ScriptCalls      `json:"scripts,omitempty"`
}

// BusyKey is one of the keys with the most calls.
type BusyKey struct {
	Key      string `json:"key"`
	Calls    int64  `json:"calls"`
	PeakPerS int64  `json:"peak_per_s"` // in one second of the clock
}

// ScriptCalls is how often a capture calls a script.
type ScriptCalls struct {
	SHA   string `json:"sha"`
	Calls int64  `json:"calls"`
}

// busiestKeys is how many are listed.
const busiestKeys = 10

// secondCount counts calls in seconds of the clock.
type secondCount struct{ second, n, peak, peakAt int64 }

func (s *secondCount) add(at int64) {
	if sec := at / 1e9; sec != s.second {
		s.second, s.n = sec, 0
	}
	if s.n++; s.n > s.peak {
		s.peak, s.peakAt = s.n, s.second
	}
}

// Measure reads a trace to its end, or to the end of the context.
func Measure(ctx context.Context, src *Source, name string, hidden bool) (*Stats, error) {
	type book struct {
		calls int64
		sec   secondCount
	}
	keys := newKeyTable(hidden)
	var books []book
	var all secondCount
	s := &Stats{}
	var c Call
	for n := 1; ; n++ {
		err := src.Next(&c)
		if err == io.EOF {
			break
		}
		if err != nil && ctx.Err() != nil {
			s.Interrupted = true
			break
		}
		if err != nil {
			return nil, err
		}
		all.add(c.At)
		s.Cost += c.Cost
		s.MostCost = max(s.MostCost, c.Cost)
		switch c.Recorded {
		case report.Admitted:
			s.Admitted++
		case report.Refused:
			s.Refused++
		}
		id, fresh := keys.id(c.Key)
		if fresh {
			books = append(books, book{})
		}
		if id == rest {
			s.KeysOver = true
		} else {
			books[id].calls++
			books[id].sec.add(c.At)
		}
		if n%lookEvery == 0 && ctx.Err() != nil {
			s.Interrupted = true
			break
		}
	}
	seen := src.Seen()
	s.Trace = TraceOf(name, &seen)
	s.Keys = int64(len(books))
	s.From, s.To = instantText(seen.From, seen.Relative), instantText(seen.To, seen.Relative)
	s.PeakCalls, s.PeakAt = all.peak, instantText(all.peakAt*1e9, seen.Relative)
	s.MeanPerS = float64(seen.Calls) / max(s.Trace.SpanS, 1)
	order := make([]uint32, len(books))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(books[b].calls, books[a].calls), cmp.Compare(a, b))
	})
	for _, id := range order[:min(len(order), busiestKeys)] {
		s.Busiest = append(s.Busiest, BusyKey{keys.label(id), books[id].calls, books[id].sec.peak})
	}
	for sha, n := range seen.Scripts {
		s.Scripts = append(s.Scripts, ScriptCalls{sha, n})
	}
	slices.SortFunc(s.Scripts, func(a, b ScriptCalls) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.SHA, b.SHA))
	})
	return s, nil
}

// instantText is a Call.At in words.
func instantText(at int64, relative bool) string {
	if relative {
		return strconv.FormatFloat(seconds(at), 'f', -1, 64) + " s"
	}
	return time.Unix(0, at).UTC().Format(time.RFC3339Nano)
}
