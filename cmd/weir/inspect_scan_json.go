package main

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/inspect/survey"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// scanJSON is weir.scan/v1; docs/scan.md describes each field.
type scanJSON struct {
	Schema   string                   `json:"schema"`
	At       time.Time                `json:"at"`
	Complete bool                     `json:"complete"`
	Stopped  string                   `json:"stopped,omitempty"`
	Resumed  bool                     `json:"resumed"`
	Match    string                   `json:"match,omitempty"`
	Layout   string                   `json:"layout,omitempty"`
	Limit    string                   `json:"limit,omitempty"`
	Totals   scanTotalsJSON           `json:"totals"`
	Layouts  []scanGroupJSON          `json:"layouts"`
	Rules    []scanGroupJSON          `json:"rules"`
	Own      []scanGroupJSON          `json:"own"`
	Records  []ownJSON                `json:"records"`
	Unknown  []scanGroupJSON          `json:"unknown"`
	Problems []scanProblemJSON        `json:"problems"`
	Top      map[string][]scanRowJSON `json:"top"`
	Nodes    []scanNodeJSON           `json:"nodes"`
	Cost     scanCostJSON             `json:"cost"`
	Denied   []deniedJSON             `json:"denied"`
	Notes    []string                 `json:"notes"`
}

type scanTotalsJSON struct {
	Keys    int64 `json:"keys"`
	States  int64 `json:"states"`
	Parts   int64 `json:"parts"`
	Own     int64 `json:"own"`
	Unknown int64 `json:"unknown"`
	Gone    int64 `json:"gone"`
	Unread  int64 `json:"unread"`
	Bytes   int64 `json:"bytes"`
	NoTTL   int64 `json:"no_ttl"`
	Known   int64 `json:"known"`
	Out     int64 `json:"out"`
}

type scanGroupJSON struct {
	Name   string `json:"name"`
	Rule   string `json:"rule,omitempty"`
	Type   string `json:"type,omitempty"`
	Other  bool   `json:"other,omitempty"`
	Keys   int64  `json:"keys"`
	States int64  `json:"states"`
	Bytes  int64  `json:"bytes"`
	NoTTL  int64  `json:"no_ttl"`
	Known  int64  `json:"known"`
	Out    int64  `json:"out"`
}

type scanProblemJSON struct {
	ID     string `json:"id"`
	States int64  `json:"states"`
	Key    string `json:"key"`
	Text   string `json:"text"`
}

type scanRowJSON struct {
	Key       string       `json:"key"`
	Node      string       `json:"node,omitempty"`
	Type      string       `json:"type"`
	Layout    string       `json:"layout,omitempty"`
	Own       string       `json:"own,omitempty"`
	Sure      inspect.Sure `json:"sure"`
	ID        string       `json:"id,omitempty"`
	Rule      string       `json:"rule,omitempty"`
	Bytes     *int64       `json:"bytes,omitempty"`
	TTLMS     *int64       `json:"ttl_ms"`
	IdleS     *float64     `json:"idle_s,omitempty"`
	Frequency *int64       `json:"frequency,omitempty"`
	Length    int64        `json:"length"`
	Used      *int64       `json:"used,omitempty"`
	Remaining *int64       `json:"remaining,omitempty"`
	Capacity  *int64       `json:"capacity,omitempty"`
	Next      string       `json:"next"`
	WaitMS    *float64     `json:"wait_ms,omitempty"`
}

type scanNodeJSON struct {
	Node    string       `json:"node"`
	Replica bool         `json:"replica"`
	Done    bool         `json:"done"`
	Total   int64        `json:"total"`
	Listed  int64        `json:"listed"`
	Cost    scanCostJSON `json:"cost"`
}

type scanCostJSON struct {
	Commands       int64    `json:"commands"`
	BytesSent      int64    `json:"bytes_sent"`
	BytesReceived  int64    `json:"bytes_received"`
	TookS          float64  `json:"took_s"`
	ServerCPUS     *float64 `json:"server_cpu_s,omitempty"`
	OthersCommands *int64   `json:"others_commands,omitempty"`
}

// maxGroups is how many rows of a table are printed before the rest is one.
const maxGroups = 50

func scanOf(s *survey.Survey, now time.Time) scanJSON {
	t := s.Tally()
	cost := s.Cost()
	out := scanJSON{
		Schema: "weir.scan/v1", At: now.UTC(), Complete: s.Complete(), Stopped: s.Stopped, Resumed: s.Resumed, Match: exact(s.Match), Layout: s.Layout, Limit: s.Limit,
		Totals: scanTotalsJSON{Keys: t.All.Keys, States: t.All.States, Parts: t.Parts, Own: t.Own.Keys(), Unknown: t.Unknown.Keys, Gone: t.Gone, Unread: t.Unread,
			Bytes: t.All.Bytes, NoTTL: t.All.NoTTL, Known: t.All.Known, Out: t.All.Out},
		Layouts: groupsOf(&t.Layouts, maxGroups, func(g *scanGroupJSON, name string) { g.Name = exact(name) }),
		Rules: groupsOf(&t.Rules, maxGroups, func(g *scanGroupJSON, name string) {
			layout, rule, _ := strings.Cut(name, "\x00")
			g.Name, g.Rule = exact(layout), exact(rule)
		}),
		Own:     groupsOf(&t.Own, maxGroups, func(g *scanGroupJSON, name string) { g.Name = exact(name) }),
		Records: ownOf(t.Known(), now.UnixNano()),
		Unknown: groupsOf(&t.Stems, maxGroups, func(g *scanGroupJSON, name string) {
			kind, stem, _ := strings.Cut(name, "\x00")
			g.Name, g.Type = exact(stem), exact(kind)
		}),
		Problems: []scanProblemJSON{}, Top: map[string][]scanRowJSON{}, Nodes: []scanNodeJSON{}, Cost: costOf(&cost), Denied: []deniedJSON{}, Notes: append([]string{}, s.Notes...),
	}
	for _, id := range slices.Sorted(maps.Keys(t.Problems)) {
		p := t.Problems[id]
		out.Problems = append(out.Problems, scanProblemJSON{id, p.States, exact(p.Key), p.Text})
	}
	for _, order := range survey.Orders {
		rows := []scanRowJSON{}
		for _, r := range t.Tops[order].Sorted() {
			rows = append(rows, scanRowOf(&r))
		}
		out.Top[order] = rows
	}
	for _, n := range s.Nodes {
		out.Nodes = append(out.Nodes, scanNodeJSON{n.Addr, n.Replica, n.Done, n.Total, n.Listed, costOf(&n.Cost)})
	}
	for _, b := range s.Blind {
		out.Denied = append(out.Denied, deniedJSON(b))
	}
	return out
}

func scanGroupOf(s *survey.Sums) scanGroupJSON {
	return scanGroupJSON{Keys: s.Keys, States: s.States, Bytes: s.Bytes, NoTTL: s.NoTTL, Known: s.Known, Out: s.Out}
}

// groupsOf are the largest rows of a table, and the rest as one.
func groupsOf(t *survey.Table, most int, name func(g *scanGroupJSON, name string)) []scanGroupJSON {
	out := []scanGroupJSON{}
	rest := scanGroupOf(&t.Other)
	for i, n := range t.Names() {
		g := scanGroupOf(t.Rows[n])
		if i >= most {
			rest.Keys += g.Keys
			rest.States += g.States
			rest.Bytes += g.Bytes
			rest.NoTTL += g.NoTTL
			rest.Known += g.Known
			rest.Out += g.Out
			continue
		}
		name(&g, n)
		out = append(out, g)
	}
	if rest.Keys > 0 {
		rest.Name, rest.Other = "other", true
		out = append(out, rest)
	}
	return out
}

func scanRowOf(r *survey.Row) scanRowJSON {
	out := scanRowJSON{
		Key: exact(r.Key), Node: r.Node, Type: exact(r.Type), Layout: r.Layout, Own: r.Own, Sure: r.Sure, ID: exact(r.ID), Rule: exact(r.Rule),
		Length: r.Length, Used: r.Used, Remaining: r.Remaining, Capacity: r.Capacity, Next: "unknown-limit",
	}
	if r.Bytes >= 0 {
		out.Bytes = &r.Bytes
	}
	if r.TTL >= 0 {
		ms := r.TTL / int64(time.Millisecond)
		out.TTLMS = &ms
	}
	if r.Idle >= 0 {
		s := time.Duration(r.Idle).Seconds()
		out.IdleS = &s
	}
	if r.Frequency >= 0 {
		out.Frequency = &r.Frequency
	}
	if r.Wait == nil {
		return out
	}
	switch wait := time.Duration(*r.Wait); wait {
	case limit.Never:
		out.Next = "never"
	case limit.Unknown:
		out.Next = "when-released"
	case 0:
		out.Next = "now"
	default:
		ms := milliseconds(wait)
		out.Next, out.WaitMS = "later", &ms
	}
	return out
}

func costOf(c *survey.Cost) scanCostJSON {
	out := scanCostJSON{Commands: c.Commands, BytesSent: c.Sent, BytesReceived: c.Received, TookS: time.Duration(c.Took).Seconds()}
	if c.CPUKnown {
		out.ServerCPUS, out.OthersCommands = &c.CPU, &c.Others
	}
	return out
}

// writeScanCSV writes a line for each key that is among the foremost.
func writeScanCSV(w io.Writer, s *survey.Survey) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"list", "place", "key", "node", "type", "layout", "sure", "id", "rule", "bytes", "ttl_ms", "idle_s", "used", "remaining", "capacity", "next", "wait_ms"}); err != nil {
		return err
	}
	t := s.Tally()
	whole := func(n *int64) string {
		if n == nil {
			return ""
		}
		return strconv.FormatInt(*n, 10)
	}
	part := func(f *float64) string {
		if f == nil {
			return ""
		}
		return strconv.FormatFloat(*f, 'f', -1, 64)
	}
	for _, order := range survey.Orders {
		for i, row := range t.Tops[order].Sorted() {
			r := scanRowOf(&row)
			line := []string{order, strconv.Itoa(i + 1), report.Cell(row.Key), r.Node, report.Cell(row.Type), report.Cell(r.Layout), r.Sure.String(), report.Cell(row.ID), report.Cell(row.Rule),
				whole(r.Bytes), whole(r.TTLMS), part(r.IdleS), whole(r.Used), whole(r.Remaining), whole(r.Capacity), r.Next, part(r.WaitMS)}
			if err := c.Write(line); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}
