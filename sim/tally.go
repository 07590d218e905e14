package sim

import (
	"fmt"
	"maps"
	"time"

	"github.com/weir-cli/weir/limit"
)

// maxSeries bounds the per-second columns that are kept.
const maxSeries = 100_000

// maxNumbered bounds the numbered figures of one name. The columns go on.
const maxNumbered = 600

// tally counts what the model asks of a run on the trace.
type tally struct {
	stormFrom, stormTo Micros

	calls, admitted [callKinds]int64
	inStorm         int64 // the key's admissions while the storm runs
	first1, first15 int64 // of these, in its first second and 1.5 seconds
	storm           []int64
	minutes         []int64
	most            *windows

	short   [64]int64       // refused storm calls by Retry-After in seconds
	long    map[int64]int64 // and those of 64 seconds and more
	noRetry int64
	longest time.Duration // exact wait of a refused storm call
}

func newTally(from, to Micros) *tally {
	return &tally{stormFrom: from, stormTo: to, most: newWindows(Second, 60*Second), long: map[int64]int64{}}
}

// bump adds one to s[i], growing s.
func bump(s *[]int64, i int64) {
	for int64(len(*s)) <= i && i < maxSeries {
		*s = append(*s, 0)
	}
	if i < maxSeries {
		(*s)[i]++
	}
}

// admit counts a call of the key that passes at the instant at, which must
// not fall from one to the next.
func (t *tally) admit(kind callKind, at Micros) {
	t.admitted[kind]++
	t.most.add(at)
	bump(&t.minutes, int64(at/(60*Second)))
	if at < t.stormFrom || at >= t.stormTo {
		return
	}
	t.inStorm++
	since := at - t.stormFrom
	if since < Second {
		t.first1++
	}
	if since < Second*3/2 {
		t.first15++
	}
	bump(&t.storm, int64(at/Second-t.stormFrom/Second))
}

// refuse counts a call that does not.
func (t *tally) refuse(kind callKind, d *limit.Decision) {
	if kind != stormCall {
		return
	}
	if d.RetryAfter < 0 {
		t.noRetry++
		return
	}
	if s := retryAfter(d.RetryAfter); s < int64(len(t.short)) {
		t.short[s]++
	} else {
		t.long[s]++
	}
	t.longest = max(t.longest, d.RetryAfter)
}

// refusals are the refused storm calls by Retry-After.
func (t *tally) refusals() map[int64]int64 {
	m := maps.Clone(t.long)
	for s, n := range t.short {
		if n > 0 {
			m[int64(s)] = n
		}
	}
	return m
}

// seconds is how many aligned seconds the storm touches.
func (t *tally) seconds() int64 {
	if t.stormTo <= t.stormFrom {
		return 0
	}
	return int64((t.stormTo+Second-1)/Second - t.stormFrom/Second)
}

// report sets the figures.
func (t *tally) report(o *Outcome) {
	storm := t.storm
	for int64(len(storm)) < min(t.seconds(), maxSeries) {
		storm = append(storm, 0)
	}
	o.Set("admitted_in_storm", float64(t.inStorm))
	o.Set("admitted_in_storm_first_1s", float64(t.first1))
	o.Set("admitted_in_storm_first_1_5s", float64(t.first15))
	if len(storm) > 0 {
		least, most := storm[0], storm[0]
		for _, n := range storm {
			least, most = min(least, n), max(most, n)
		}
		o.Set("storm_second_most_admitted", float64(most))
		o.Set("storm_second_least_admitted", float64(least))
		o.Series = append(o.Series, Series{Name: "admitted_per_storm_second", From: (t.stormFrom / Second * Second).Seconds(), Step: 1, Values: floats(storm)})
	}
	o.Set("max_in_1s", float64(t.most.spans[0].best))
	o.Set("max_in_60s", float64(t.most.spans[1].best))
	for i, n := range t.minutes {
		if i < 60 {
			o.Set(fmt.Sprintf("admitted_in_minute_%d", i+1), float64(n))
		}
	}
	var calls, admitted int64
	for k := normalCall; k < callKinds; k++ {
		calls += t.calls[k]
		admitted += t.admitted[k]
	}
	o.Set("calls", float64(calls))
	o.Set("admitted", float64(admitted))
	o.Set("normal_calls", float64(t.calls[normalCall]))
	o.Set("normal_admitted", float64(t.admitted[normalCall]))
	o.Set("page_load_calls", float64(t.calls[pageCall]))
	o.Set("page_load_admitted", float64(t.admitted[pageCall]))
	o.Set("storm_calls", float64(t.calls[stormCall]))
	o.Set("storm_admitted", float64(t.admitted[stormCall]))
	o.Set("storm_refused", float64(t.calls[stormCall]-t.admitted[stormCall]))
	o.Set("storm_refused_without_retry_after", float64(t.noRetry))
	refusals := t.refusals()
	secs := sortedInts(refusals)
	for _, s := range secs {
		o.Set(fmt.Sprintf("storm_refused_retry_after_%ds", s), float64(refusals[s]))
	}
	if len(secs) > 0 {
		o.Set("storm_retry_after_shortest_s", float64(secs[0]))
		o.Set("storm_retry_after_longest_s", float64(secs[len(secs)-1]))
		o.Set("storm_wait_longest_s", t.longest.Seconds())
	}
	o.setEach("admitted_in_storm_second_%d", storm)
}

// setEach sets a figure for each of counts, numbered from 1 in the name.
func (o *Outcome) setEach(name string, counts []int64) {
	for i, n := range counts[:min(len(counts), maxNumbered)] {
		o.Set(fmt.Sprintf(name, i+1), float64(n))
	}
}

// tallyFigures explains what report sets.
var tallyFigures = []FigureInfo{
	{"admitted_in_storm", "requests", "calls of the key that pass while the storm runs"},
	{"admitted_in_storm_first_1s", "requests", "of these, in the storm's first second"},
	{"admitted_in_storm_first_1_5s", "requests", "of these, in the storm's first 1.5 seconds"},
	{"storm_second_most_admitted", "requests", "most that pass in an aligned second of the storm"},
	{"storm_second_least_admitted", "requests", "least that pass in an aligned second of the storm"},
	{"max_in_1s", "requests", "most that pass in any second of the trace, aligned or not"},
	{"max_in_60s", "requests", "most that pass in any 60 seconds of the trace, aligned or not"},
	{"admitted_in_minute_N", "requests", "what passes in minute N of the trace, from 1"},
	{"calls", "requests", "calls of the key"},
	{"admitted", "requests", "calls of the key that pass"},
	{"normal_calls", "requests", "normal calls"},
	{"normal_admitted", "requests", "normal calls that pass"},
	{"page_load_calls", "requests", "calls of the page load"},
	{"page_load_admitted", "requests", "calls of the page load that pass"},
	{"storm_calls", "requests", "calls of the storm"},
	{"storm_admitted", "requests", "calls of the storm that pass"},
	{"storm_refused", "requests", "calls of the storm that are refused"},
	{"storm_refused_without_retry_after", "requests", "of these, those that no wait could help"},
	{"storm_refused_retry_after_Ns", "requests", "of these, those told to wait N whole seconds"},
	{"storm_retry_after_shortest_s", "s", "shortest Retry-After of a refused storm call"},
	{"storm_retry_after_longest_s", "s", "longest Retry-After of a refused storm call"},
	{"storm_wait_longest_s", "s", "longest exact wait of a refused storm call, before rounding up"},
	{"admitted_in_storm_second_N", "requests", "calls of the key that pass in aligned second N of the storm, from 1"},
}

func floats(n []int64) []float64 {
	out := make([]float64, len(n))
	for i, v := range n {
		out[i] = float64(v)
	}
	return out
}
