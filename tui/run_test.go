package tui

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/report"
)

var update = flag.Bool("update", false, "write the golden files and the saved run again")

const savedRun = "testdata/run.ndjson"

// runNames has names as nobody should choose them.
var runNames = report.Names{
	Key: func(i uint32) string {
		return []string{"k-1", "tenant \x1b[31mred\x1b[0m", "מפתח-7", "鍵-three", "k-5\u202e", "quiet"}[i]
	},
	Target: func(i uint16) string { return []string{"10.0.0.1:80", "10.0.0.2:80", "a\nb", "10.0.0.4:80"}[i] },
}

var runPromise = report.Promise{Text: "10/s,burst=20", Units: 10, Per: 1e9, Burst: 20}

// makeRun is a run of twelve seconds: a key with four buckets that each grant
// the whole promise, and thirty of its clients that come back together; others
// that get what they may; an outage of a target.
func makeRun() []report.Event {
	r := rand.New(rand.NewPCG(1, 2))
	var events []report.Event
	full := map[[2]int]float64{} // key and target to when its bucket is full again
	type caller struct {
		at      int64
		key     uint32
		client  uint32
		attempt uint16
		think   int64
	}
	var queue []caller
	for i := range 30 {
		queue = append(queue, caller{at: int64(i) * 1e6, key: 0, client: uint32(i), attempt: 1, think: 400e6})
	}
	for i := range 10 {
		queue = append(queue, caller{at: int64(i) * 130e6, key: uint32(1 + i%5), client: uint32(30 + i), attempt: 1, think: 700e6})
	}
	for len(queue) > 0 {
		sort.SliceStable(queue, func(i, j int) bool { return queue[i].at < queue[j].at })
		c := queue[0]
		queue = queue[1:]
		if c.at >= 12e9 {
			continue
		}
		target := len(events) % 4
		sent := c.at + int64(r.IntN(300_000))
		e := report.Event{Due: c.at, Sent: sent, First: sent + 4e6 + int64(r.IntN(3e6)), Wait: -1, Client: c.client, Key: c.key,
			Target: uint16(target), Attempt: c.attempt, Cost: 1, Has: report.HasFirst}
		e.Done = e.First + 200_000
		at := [2]int{int(c.key), target}
		next := max(full[at], float64(c.at)) + 1e8
		switch {
		case target == 2 && c.at > 8e9 && c.at < 9e9:
			e.Verdict, e.Status, e.Class = report.Failed, 502, report.BadStatus
			c.attempt, c.at = 1, e.Done+c.think
		case next-float64(c.at) <= 20e8:
			full[at] = next
			e.Verdict, e.Status = report.Admitted, 200
			e.Has |= report.HasLimit | report.HasRemaining | report.HasReset
			e.Limit, e.Remaining, e.Reset = 20, int64(20-(next-float64(c.at))/1e8), int64(next-float64(c.at))
			c.attempt, c.at = 1, e.Done+c.think/4
		default:
			e.Verdict, e.Status, e.Wait = report.Refused, 429, 1e9
			e.Has |= report.HasRetryAfter
			e.RetryAfter = 1e9
			c.attempt, c.at = c.attempt+1, e.Done+e.Wait
			if c.client%2 == 0 {
				c.at = (e.Done/1e9 + 2) * 1e9 // together, on the second
				e.Wait = c.at - e.Done
			}
		}
		events = append(events, e)
		queue = append(queue, c)
	}
	sort.SliceStable(events, func(i, j int) bool { return events[i].Done < events[j].Done })
	return events
}

// TestMakeRun keeps the saved run that all screens here are drawn from.
func TestMakeRun(t *testing.T) {
	if !*update {
		t.Skip("only with -update")
	}
	var b bytes.Buffer
	meta := report.Meta{Source: "load", Name: "golden", Seed: 7, Repeat: "weir load http://127.0.0.1:8080 --seed=7"}
	w := report.NewEventWriter(&b, runNames, meta, time.Unix(1_700_000_000, 0), &runPromise)
	for _, e := range makeRun() {
		w.Write(&e)
	}
	meta.Duration = 12e9
	meta.Marks = []report.Mark{{AtS: 4.2, Text: "rule\x1b[2J"}, {AtS: 8, Text: "outage of 10.0.0.3"}}
	if err := w.End(meta); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(savedRun, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// openRun is the saved run as the dashboard shows it.
func openRun(t testing.TB, play bool) (*Tape, *report.Result) {
	t.Helper()
	text, err := os.ReadFile(savedRun)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := report.NewEventReader(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	r, frames, err := report.RebuildFilm(saved, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewTape(About{Kind: "saved load", Name: r.Name, Promise: saved.Promise(), Sending: -1, Length: 12e9, Result: r, Marks: r.Marks}, frames, play), r
}
