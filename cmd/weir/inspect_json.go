package main

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
)

// sightJSON is weir.inspect/v1; docs/inspect.md describes each field.
type sightJSON struct {
	Schema   string        `json:"schema"`
	At       time.Time     `json:"at"`
	SkewMS   float64       `json:"skew_ms"`
	RTTMS    float64       `json:"rtt_ms"`
	Commands int           `json:"commands"`
	Tried    int           `json:"tried"`
	Readings []readingJSON `json:"readings"`
	Own      []ownJSON     `json:"own"`
	Unknown  []keyJSON     `json:"unknown"`
	Missing  []string      `json:"missing"`
	Nearest  []string      `json:"nearest"`
	Skipped  []skippedJSON `json:"skipped"`
	Denied   []deniedJSON  `json:"denied"`
}

type readingJSON struct {
	Layout      string            `json:"layout"`
	Writer      string            `json:"writer"`
	Sure        inspect.Sure      `json:"sure"`
	Others      []string          `json:"others"`
	ID          string            `json:"id,omitempty"`
	Rule        string            `json:"rule,omitempty"`
	Parts       map[string]string `json:"parts"`
	Algorithm   string            `json:"algorithm,omitempty"`
	Limit       string            `json:"limit,omitempty"`
	LimitFrom   string            `json:"limit_from,omitempty"`
	Capacity    *int64            `json:"capacity,omitempty"`
	Used        *int64            `json:"used,omitempty"`
	Remaining   *int64            `json:"remaining,omitempty"`
	Held        *float64          `json:"held,omitempty"`
	Cost        int64             `json:"cost"`
	Next        string            `json:"next"`
	WaitMS      *float64          `json:"wait_ms,omitempty"`
	NextAt      *time.Time        `json:"next_at,omitempty"`
	FullAt      *time.Time        `json:"full_at,omitempty"`
	LastUse     *time.Time        `json:"last_use,omitempty"`
	WindowStart *time.Time        `json:"window_start,omitempty"`
	WindowEnd   *time.Time        `json:"window_end,omitempty"`
	Blocked     bool              `json:"blocked,omitempty"`
	BlockedTo   *time.Time        `json:"blocked_until,omitempty"`
	TTLMeans    string            `json:"ttl_means"`
	Problems    []problemJSON     `json:"problems"`
	Notes       []string          `json:"notes"`
	Sentences   []string          `json:"sentences"`
	Keys        []keyJSON         `json:"keys"`
}

type problemJSON struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type keyJSON struct {
	Key       string   `json:"key"`
	Type      string   `json:"type"`
	TTLMS     *int64   `json:"ttl_ms"`
	IdleS     *float64 `json:"idle_s,omitempty"`
	Bytes     *int64   `json:"bytes,omitempty"`
	Length    int64    `json:"length"`
	Truncated bool     `json:"truncated,omitempty"`
	Slot      *int     `json:"slot,omitempty"`
	Node      string   `json:"node,omitempty"`
}

// ownJSON is what weir keeps beside limits.
type ownJSON struct {
	Key       string     `json:"key"`
	Kind      string     `json:"kind"`
	Size      int64      `json:"size"`
	Version   int64      `json:"version,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
	Who       string     `json:"who,omitempty"`
	Reason    string     `json:"reason,omitempty"`
	Strange   bool       `json:"strange,omitempty"`
	Sentences []string   `json:"sentences"`
}

func ownOf(list []inspect.Record, now int64) []ownJSON {
	out := []ownJSON{}
	for i := range list {
		r := &list[i]
		one := ownJSON{Key: exact(r.Key), Kind: r.Kind, Size: r.Size, Version: r.Version, Who: exact(r.Who), Reason: exact(r.Reason), Strange: r.Strange, Sentences: r.Sentences(now)}
		if r.At != 0 {
			one.Since = timeAt(&r.At)
		}
		out = append(out, one)
	}
	return out
}

type skippedJSON struct {
	Layout string `json:"layout"`
	Part   string `json:"part"`
}

type deniedJSON struct {
	Command string `json:"command"`
	Rule    string `json:"rule"`
	Lost    string `json:"lost"`
}

func sightOf(s *inspect.Sight, cost int64) sightJSON {
	out := sightJSON{
		Schema: "weir.inspect/v1", At: time.Unix(0, s.Now).UTC(), SkewMS: milliseconds(s.Skew), RTTMS: milliseconds(s.RTT),
		Commands: s.Commands, Tried: s.Tried, Readings: []readingJSON{}, Own: ownOf(s.Own, s.Now), Unknown: []keyJSON{},
		Missing: exactAll(s.Missing), Nearest: exactAll(s.Nearest), Skipped: []skippedJSON{}, Denied: []deniedJSON{},
	}
	for i := range s.Readings {
		out.Readings = append(out.Readings, readingOf(&s.Readings[i], cost))
	}
	for i := range s.Strangers {
		out.Unknown = append(out.Unknown, keyOf(&s.Strangers[i]))
	}
	for _, x := range s.Skipped {
		out.Skipped = append(out.Skipped, skippedJSON{x.Layout.Name, x.Part})
	}
	for _, b := range s.Blind {
		out.Denied = append(out.Denied, deniedJSON(b))
	}
	return out
}

func readingOf(r *inspect.Reading, cost int64) readingJSON {
	out := readingJSON{
		Layout: r.Layout.Name, Writer: r.Layout.Writer, Sure: r.Sure, Others: []string{}, ID: exact(r.ID), Rule: exact(r.Rule),
		Parts: map[string]string{}, Algorithm: r.Algorithm, LimitFrom: r.LimitFrom, Capacity: r.Capacity, Used: r.Used,
		Remaining: r.Remaining, Held: r.Held, Cost: cost, FullAt: timeAt(r.FullAt), LastUse: timeAt(r.LastUse),
		WindowStart: timeAt(r.WindowStart), WindowEnd: timeAt(r.WindowEnd), TTLMeans: r.Layout.TTL.Means,
		Problems: []problemJSON{}, Notes: append([]string{}, r.Notes...), Sentences: r.Sentences(cost), Keys: []keyJSON{},
	}
	if r.Limit != nil {
		out.Limit = r.Limit.String()
	}
	for name, value := range r.Parts {
		out.Parts[name] = exact(value)
	}
	for _, l := range r.Others {
		out.Others = append(out.Others, l.Name)
	}
	for _, p := range r.Problems {
		out.Problems = append(out.Problems, problemJSON(p))
	}
	for i := range r.Entries {
		out.Keys = append(out.Keys, keyOf(&r.Entries[i]))
	}
	if until := r.BlockedUntil; until != nil && *until > r.Now {
		if out.Blocked = true; *until != math.MaxInt64 {
			out.BlockedTo = timeAt(until)
		}
	}
	switch wait, known := r.Wait(cost); {
	case !known:
		out.Next = "unknown-limit"
	case wait == limit.Never:
		out.Next = "never"
	case wait == limit.Unknown:
		out.Next = "when-released"
	default:
		out.Next = "now"
		if wait > 0 {
			out.Next = "later"
		}
		ms, at := milliseconds(wait), r.Now+int64(wait)
		out.WaitMS, out.NextAt = &ms, timeAt(&at)
	}
	return out
}

func keyOf(e *inspect.Entry) keyJSON {
	k := keyJSON{Key: exact(e.Key), Type: exact(e.Type), Length: e.Len, Truncated: e.Truncated, Node: e.Node}
	if e.TTL >= 0 {
		ms := e.TTL.Milliseconds()
		k.TTLMS = &ms
	}
	if e.Idle >= 0 {
		s := e.Idle.Seconds()
		k.IdleS = &s
	}
	if e.Bytes >= 0 {
		k.Bytes = &e.Bytes
	}
	if e.Slot >= 0 {
		k.Slot = &e.Slot
	}
	return k
}

func timeAt(ns *int64) *time.Time {
	if ns == nil {
		return nil
	}
	t := time.Unix(0, *ns).UTC()
	return &t
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// exact is a name for machines: as it is, or quoted as Go does where it is no
// UTF-8, which JSON cannot hold.
func exact(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strconv.QuoteToASCII(s)
}

func exactAll(list []string) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, exact(s))
	}
	return out
}
