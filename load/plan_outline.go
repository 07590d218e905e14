package load

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// Outline is a plan for reading: what a dry run prints, and its JSON form.
// Keys from files appear as short hashes.
type Outline struct {
	Schema    string    `json:"schema"` // "weir.plan/v1"
	Name      string    `json:"name"`
	About     string    `json:"about,omitempty"`
	Seed      int64     `json:"seed"`
	DurationS float64   `json:"duration_s"`
	Start     time.Time `json:"start"` // what aligned arrivals go by
	Clients   uint32    `json:"clients"`
	Keys      int       `json:"keys"`
	// Planned counts the open-loop calls; a closed loop's depend on answers.
	Planned      uint64 `json:"planned"`
	PlannedExact bool   `json:"planned_exact"`
	// PeakPerSecond is the most calls due in one second of the run, seen in the
	// first PeakOf calls of the plan.
	PeakPerSecond uint64              `json:"peak_per_second"`
	PeakAtS       int64               `json:"peak_at_s"`
	PeakOf        uint64              `json:"peak_of"`
	Populations   []OutlinePopulation `json:"populations"`
	First         []OutlineCall       `json:"first_calls"`
}

// OutlinePopulation is a group of clients in words.
type OutlinePopulation struct {
	Name        string   `json:"name"`
	FirstClient uint32   `json:"first_client"`
	Clients     uint32   `json:"clients"`
	NewCallers  bool     `json:"new_callers"` // Clients is then the most there can be
	Open        bool     `json:"open"`
	Arrivals    string   `json:"arrivals"`
	Keys        string   `json:"keys"`
	Behaviour   string   `json:"behaviour"`
	MaxAttempts int      `json:"max_attempts,omitempty"`
	Costs       []string `json:"costs,omitempty"`
	Routes      []string `json:"routes,omitempty"`
}

// OutlineCall is one first attempt.
type OutlineCall struct {
	DueNS      int64  `json:"due_ns"`
	Client     uint32 `json:"client"`
	Population string `json:"population"`
	Key        string `json:"key"`
	Cost       uint32 `json:"cost"`
	Route      string `json:"route,omitempty"`
}

// walked is how many calls are looked at to find the peak.
const walked = 20_000_000

// Outline describes the plan with its first calls, at most first of them.
func (p *Plan) Outline(first int) Outline {
	o := Outline{
		Schema: "weir.plan/v1", Name: p.Name, About: p.About, Seed: p.Seed,
		DurationS: p.Duration.Seconds(), Start: time.Unix(0, p.Start).UTC(),
		Clients: p.Clients, Keys: p.NKeys(),
		Planned: p.Planned(), PlannedExact: p.PlannedExact(),
	}
	for i := range p.Populations {
		o.Populations = append(o.Populations, p.outline(i))
	}
	calls := make([]Slot, 0, first)
	var inSecond uint64
	at := int64(-1)
	for s := p.Schedule(); o.PeakOf < walked; o.PeakOf++ {
		slot, ok := s.Next()
		if !ok {
			break
		}
		if len(calls) < first {
			calls = append(calls, slot)
		}
		if t := slot.Due / second; t != at {
			at, inSecond = t, 0
		}
		if inSecond++; inSecond > o.PeakPerSecond {
			o.PeakPerSecond, o.PeakAtS = inSecond, at
		}
	}
	for i := range p.Populations {
		calls = append(calls, p.firstOfClosed(i, first)...)
	}
	slices.SortStableFunc(calls, func(a, b Slot) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Population, b.Population))
	})
	for _, s := range calls[:min(first, len(calls))] {
		o.First = append(o.First, OutlineCall{
			DueNS: s.Due, Client: s.Client, Population: p.Populations[s.Population].Name,
			Key: p.KeyLabel(s.Key), Cost: s.Cost, Route: p.Routes[s.Route].String(),
		})
	}
	return o
}

// firstOfClosed is the first calls of a closed loop that start within the run.
func (p *Plan) firstOfClosed(population, most int) (calls []Slot) {
	q := &p.Populations[population]
	if q.Open {
		return nil
	}
	for i := range min(q.Clients, uint32(most)) {
		s := Slot{Due: p.ClosedStart(population, i), Client: q.First + i, Population: uint16(population)}
		if s.Due >= int64(p.Duration) {
			break
		}
		s.Key, s.Cost, s.Route = p.Draw(population, s.Client, 0)
		calls = append(calls, s)
	}
	return calls
}

// String is "GET /path", "/path", or "" for the run's own.
func (r Route) String() string { return strings.TrimSpace(r.Method + " " + r.Path) }

func (p *Plan) outline(i int) OutlinePopulation {
	q, ru := &p.Populations[i], &p.rules[i]
	o := OutlinePopulation{
		Name: q.Name, FirstClient: q.First, Clients: q.Clients, NewCallers: q.NewCallers, Open: q.Open,
		Arrivals: arrivalText(&q.Arrivals), Keys: p.keyText(i),
		Behaviour: q.Behaviour, MaxAttempts: q.MaxAttempts,
	}
	if q.Arrivals.Kind == profiles.Trace {
		o.Arrivals = fmt.Sprintf("%s calls of the file %s", report.Count(int64(ru.count)), q.Arrivals.File)
	}
	if len(ru.costs.value) > 1 || ru.costs.value[0] != 1 {
		for k, c := range ru.costs.value {
			o.Costs = append(o.Costs, fmt.Sprintf("%d (%s)", c, ru.costs.share(k)))
		}
	}
	if len(ru.routeOf) > 1 || ru.routeOf[0] != 0 {
		for k, r := range ru.routeOf {
			text := fmt.Sprintf("%s (%s)", p.Routes[r], ru.routes.share(k))
			if ru.routeCost[k] > 0 {
				text += fmt.Sprintf(" at cost %d", ru.routeCost[k])
			}
			o.Routes = append(o.Routes, text)
		}
	}
	return o
}

// share is the part of the draws that choice k gets, in percent.
func (m *mix) share(k int) string {
	w := m.upTo[k]
	if k > 0 {
		w -= m.upTo[k-1]
	}
	return strconv.FormatFloat(100*w/m.upTo[len(m.upTo)-1], 'g', 3, 64) + "%"
}

func (p *Plan) keyText(i int) string {
	k := &p.rules[i].keys
	if k.kind == profiles.KeyFile {
		return fmt.Sprintf("%s lines of the file %s, round the callers", report.Count(int64(len(k.lines))), p.Populations[i].Keys.File)
	}
	names := p.KeyLabel(k.first)
	if k.n > 1 {
		names += " to " + p.KeyLabel(k.first+uint32(k.n-1))
	}
	switch k.kind {
	case profiles.KeyEach:
		return "one for each caller, " + names
	case profiles.KeyCycle:
		return names + ", round the callers"
	case profiles.KeyUniform:
		return names + ", drawn evenly for each call"
	case profiles.KeyZipf:
		return fmt.Sprintf("%s, drawn for each call, rank r in proportion to 1/r^%g", names, k.zipf.s)
	}
	return names + ", shared by all"
}

func rateText(r float64) string { return strconv.FormatFloat(r, 'g', 6, 64) + "/s" }

// arrivalText says in words when calls come.
func arrivalText(a *profiles.Arrivals) string {
	clock := "of the run"
	if a.Aligned {
		clock = "of the wall clock"
	}
	switch a.Kind {
	case profiles.Closed:
		text := fmt.Sprintf("closed loop, the next call %v after the last has ended", a.Think)
		if a.Think == 0 {
			text = "closed loop, the next call when the last has ended"
		}
		if a.ThinkJitter > 0 {
			text += fmt.Sprintf(" ±%g%%", 100*a.ThinkJitter)
		}
		if a.Stagger > 0 {
			text += fmt.Sprintf(", first calls spread over %v", a.Stagger)
		}
		return text
	case profiles.Constant:
		return rateText(a.Rate) + ", evenly"
	case profiles.Poisson:
		return "at random, " + rateText(a.Rate) + " on average"
	case profiles.Ramp:
		return fmt.Sprintf("from %s to %s over the run", rateText(a.Rate), rateText(a.To))
	case profiles.Spike:
		return fmt.Sprintf("%s, but %s from %v for %v", rateText(a.Rate), rateText(a.To), a.At, a.For)
	case profiles.Sine:
		return fmt.Sprintf("around %s by %s every %v", rateText(a.Rate), rateText(a.Amplitude), a.Period)
	case profiles.Burst:
		size := strconv.Itoa(a.Min)
		if a.Max > a.Min {
			size += " to " + strconv.Itoa(a.Max)
		}
		return fmt.Sprintf("%s calls at once every %v %s", size, a.Period, clock)
	case profiles.Edge:
		return fmt.Sprintf("%d calls in the %v before every %v %s, and %d in the %v after", a.Count, a.Spread, a.Period, clock, a.Count, a.Spread)
	case profiles.Expiry:
		return fmt.Sprintf("each client once within %v, then %v before every %v since", a.Stagger, a.Lead, a.Period)
	case profiles.Step:
		var steps []string
		for i, s := range a.Steps {
			if i == 6 {
				steps = append(steps, fmt.Sprintf("and %d more steps", len(a.Steps)-i))
				break
			}
			steps = append(steps, fmt.Sprintf("%s for %v", rateText(s.Rate), s.For))
		}
		return strings.Join(steps, ", ")
	}
	return string(a.Kind)
}
