package profiles

import (
	"fmt"
	"sort"
	"time"
)

// Override is what a command line changes about a profile. The zero value
// changes nothing.
type Override struct {
	Duration time.Duration // length of the run
	// Clients is the total over all populations, shared out in proportion to
	// what they have, at least one each.
	Clients int
	// Rate is the total of the populations that have a rate, scaled in
	// proportion: the mean of a sine, the plateau beside a spike, the top of a
	// ramp or of steps. Closed loops, bursts and traces are left as they are.
	Rate float64
	// Keys is the number of keys of every population: 1 is one for all its
	// callers; more go round the callers, or keep being drawn at random.
	Keys int
	// KeyPrefix replaces the prefix when all populations have the same one, and
	// goes in front of each otherwise, so that who had keys of their own keeps
	// them.
	KeyPrefix   string
	KeyFile     string         // every population takes its keys from this file
	Think       *time.Duration // of every closed loop; without its jitter when 0
	Behaviour   string         // of every population
	MaxAttempts *int           // of every population; 0 leaves it to the behaviour
}

// Override returns a changed copy, or an *Error when a change means nothing
// for this profile or makes it impossible.
func (p *Profile) Override(o Override) (*Profile, error) {
	q := p.clone()
	for _, change := range []func(Override) *Error{q.setClients, q.setRate, q.setKeys, q.setThink} {
		if e := change(o); e != nil {
			return nil, e
		}
	}
	if o.Duration != 0 {
		q.Duration = o.Duration
	}
	for i := range q.Populations {
		if o.Behaviour != "" {
			q.Populations[i].Behaviour = o.Behaviour
		}
		if o.MaxAttempts != nil {
			q.Populations[i].MaxAttempts = *o.MaxAttempts
		}
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	return q, nil
}

// clone shares nothing with p.
func (p *Profile) clone() *Profile {
	q := *p
	q.Populations = append([]Population(nil), p.Populations...)
	for i := range q.Populations {
		r := &q.Populations[i]
		r.Cost = append([]Cost(nil), r.Cost...)
		r.Routes = append([]Route(nil), r.Routes...)
		r.Arrivals.Steps = append([]StepOf(nil), r.Arrivals.Steps...)
	}
	return &q
}

func (p *Profile) setClients(o Override) *Error {
	if o.Clients == 0 {
		return nil
	}
	// Populations of new callers have none to share; they count as one each
	// when there is nobody else.
	var have []int
	total := 0
	for i := range p.Populations {
		if p.Populations[i].Clients > 0 {
			have, total = append(have, i), total+p.Populations[i].Clients
		}
	}
	weight := func(i int) float64 { return float64(p.Populations[i].Clients) / float64(total) }
	if len(have) == 0 {
		for i := range p.Populations {
			have = append(have, i)
		}
		weight = func(int) float64 { return 1 / float64(len(have)) }
	}
	if o.Clients < len(have) {
		return &Error{
			Msg:  fmt.Sprintf("%d clients are too few for the profile's %d populations", o.Clients, len(have)),
			Hint: fmt.Sprintf("give at least %d", len(have)),
		}
	}
	shares := make([]float64, len(have))
	for k, i := range have {
		shares[k] = weight(i)
	}
	for k, n := range shareOut(o.Clients, shares) {
		p.Populations[have[k]].Clients = n
	}
	return nil
}

// shareOut splits n in proportion to shares, which sum to 1, at least one
// each: by largest remainder, ties to the first, and the largest part pays for
// those that would have had none. n is at least len(shares).
func shareOut(n int, shares []float64) []int {
	out := make([]int, len(shares))
	left := n
	var waiting []int // by falling remainder
	for i, s := range shares {
		out[i] = max(int(s*float64(n)), 1)
		left -= out[i]
		waiting = append(waiting, i)
	}
	remainder := func(i int) float64 { return shares[i]*float64(n) - float64(out[i]) }
	sort.SliceStable(waiting, func(a, b int) bool { return remainder(waiting[a]) > remainder(waiting[b]) })
	for k := 0; left > 0; k, left = k+1, left-1 {
		out[waiting[k%len(waiting)]]++
	}
	for ; left < 0; left++ {
		largest := 0
		for i := range out {
			if out[i] > out[largest] {
				largest = i
			}
		}
		out[largest]--
	}
	return out
}

// nominal is the rate that an override speaks of; 0 when there is none.
func (a *Arrivals) nominal() float64 {
	switch a.Kind {
	case Constant, Poisson, Sine:
		return a.Rate
	case Ramp:
		return max(a.Rate, a.To)
	case Spike:
		if a.Rate == 0 {
			return a.To
		}
		return a.Rate
	case Step:
		top := 0.0
		for _, s := range a.Steps {
			top = max(top, s.Rate)
		}
		return top
	}
	return 0
}

func (p *Profile) setRate(o Override) *Error {
	if o.Rate == 0 {
		return nil
	}
	total, rated := 0.0, 0
	for i := range p.Populations {
		if r := p.Populations[i].Arrivals.nominal(); r > 0 {
			total, rated = total+r, rated+1
		}
	}
	if rated == 0 {
		return &Error{
			Msg:  fmt.Sprintf("profile %s has no rate to set to %s", p.Name, formatRate(o.Rate)),
			Hint: "closed loops go by clients and think time; take another profile, such as steady, to send at a rate",
		}
	}
	for i := range p.Populations {
		a := &p.Populations[i].Arrivals
		if a.nominal() == 0 {
			continue
		}
		// Multiplying first keeps whole rates whole: 10/s of 50/s at 200/s is 40/s.
		scale := func(r float64) float64 { return r * o.Rate / total }
		a.Rate, a.To = scale(a.Rate), scale(a.To)
		if a.Amplitude > 0 {
			a.Amplitude = min(scale(a.Amplitude), a.Rate) // whatever the rounding
		}
		for k := range a.Steps {
			a.Steps[k].Rate = scale(a.Steps[k].Rate)
		}
	}
	return nil
}

func (p *Profile) setKeys(o Override) *Error {
	if o.KeyFile != "" && (o.Keys != 0 || o.KeyPrefix != "") {
		return &Error{Msg: "a key file cannot go with a number of keys or a key prefix", Hint: "the file's lines are the keys"}
	}
	prefixes := map[string]bool{}
	for i := range p.Populations {
		k := &p.Populations[i].Keys
		if k.Kind == KeyFile && (o.Keys != 0 || o.KeyPrefix != "") {
			return &Error{
				Msg:  fmt.Sprintf("population %s has its keys from the file %s", shown(p.Populations[i].Name), shown(k.File)),
				Hint: "leave out the number of keys and the prefix, or give another key file",
			}
		}
		if k.Kind != KeyFile {
			prefixes[k.prefix()] = true
		}
	}
	for i := range p.Populations {
		k := &p.Populations[i].Keys
		if o.KeyFile != "" {
			*k = Keys{Kind: KeyFile, File: o.KeyFile}
			continue
		}
		switch {
		case o.Keys == 0:
		case o.Keys == 1:
			*k = Keys{Kind: OneKey, Prefix: k.Prefix}
		case k.Kind == KeyUniform || k.Kind == KeyZipf:
			k.Count = o.Keys
		default:
			*k = Keys{Kind: KeyCycle, Count: o.Keys, Prefix: k.Prefix}
		}
		if o.KeyPrefix != "" && len(prefixes) > 1 {
			k.Prefix = o.KeyPrefix + k.prefix()
		} else if o.KeyPrefix != "" {
			k.Prefix = o.KeyPrefix
		}
	}
	return p.keysInReach(o.Keys)
}

// keysInReach refuses a number of keys that no population would use: round the
// callers, each of whom keeps one, there are never more than callers.
func (p *Profile) keysInReach(keys int) *Error {
	most := 0
	for i := range p.Populations {
		q := &p.Populations[i]
		if q.Keys.Kind != KeyCycle || q.Clients == 0 {
			return nil // drawn for each call, or every call is a new caller
		}
		most = max(most, q.Clients)
	}
	if keys <= most {
		return nil
	}
	return &Error{
		Msg:  fmt.Sprintf("%d keys are more than profile %s can use: each of its %d clients keeps one", keys, p.Name, most),
		Hint: fmt.Sprintf("give it %d clients as well, or take the profile many-keys", keys),
	}
}

func (k *Keys) prefix() string {
	if k.Prefix == "" {
		return DefaultPrefix
	}
	return k.Prefix
}

func (p *Profile) setThink(o Override) *Error {
	if o.Think == nil {
		return nil
	}
	found := false
	for i := range p.Populations {
		if a := &p.Populations[i].Arrivals; a.Kind == Closed {
			found, a.Think = true, *o.Think
			if a.Think == 0 {
				a.ThinkJitter = 0
			}
		}
	}
	if !found {
		return &Error{
			Msg:  fmt.Sprintf("profile %s has no closed loop, so no think time", p.Name),
			Hint: "its calls come at a rate: set that instead, or take the profile retry-storm",
		}
	}
	return nil
}
