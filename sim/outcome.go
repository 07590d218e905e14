package sim

import "github.com/weir-cli/weir/report"

// Outcome takes what a run reports. Its zero value is ready.
type Outcome struct {
	// Figures are the named figures, in the order in which they were set.
	Figures []Figure
	// Collector, when the caller set it, takes one event per decided attempt
	// (Sent, First and Done are the decision instant, in nanoseconds); the
	// usual result document is made from it. Kinds without single requests
	// leave it alone.
	Collector *report.Collector
	// Series are further columns over time, such as shares of regions.
	Series []Series
	// Notes say what was assumed or left out.
	Notes []string
	// Progress, when set, is told now and then how much of the work is done,
	// from 0 to 1.
	Progress func(float64)

	at map[string]int // of each name in Figures
}

// Figure is one named number. Exact counts are whole.
type Figure struct {
	Name  string
	Value float64
}

// Series is a column over time: Values[i] is at From + i*Step seconds.
type Series struct {
	Name       string
	From, Step float64
	Values     []float64
}

// Set records a figure; the last value of a name stands.
func (o *Outcome) Set(name string, v float64) {
	if i, ok := o.at[name]; ok {
		o.Figures[i].Value = v
		return
	}
	if o.at == nil {
		o.at = map[string]int{}
	}
	o.at[name] = len(o.Figures)
	o.Figures = append(o.Figures, Figure{name, v})
}
