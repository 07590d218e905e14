package sim

import (
	"context"
	"strconv"

	"github.com/weir-cli/weir/load"
)

// layers are services that call each other in a row, each of which tries
// again when the one below it fails.
type layers struct {
	Layers   int64   `yaml:"layers" about:"services above the backend"`
	Attempts int64   `yaml:"attempts" about:"that each makes of one call, the first included"`
	Failure  float64 `yaml:"failure_share" about:"of backend calls that fail"`
	Requests int64   `yaml:"requests" about:"from outside"`
	Seed     int64   `yaml:"seed" about:"of the failures"`
}

func layersKind() Kind {
	return Kind{
		Name:  "retry-layers",
		About: "Services in a row that each retry, and what the last one gets of one request",
		Rules: []string{
			"a layer calls the one below until it succeeds or its attempts are over",
			"the last layer calls a backend that fails each call with failure_share",
		},
		Figures: []FigureInfo{
			{"requests", "requests", "requests from outside"},
			{"backend_calls", "calls", "calls at the backend"},
			{"calls_per_request", "calls", "calls at the backend for one request, on average"},
			{"most_for_one_request", "calls", "calls at the backend for the worst request"},
			{"worst_case", "calls", "attempts to the power of layers: what every request costs in an outage"},
			{"failed", "requests", "requests that failed for good"},
		},
		New: func() Params {
			return &layers{Layers: 3, Attempts: 3, Failure: 1, Requests: 1000, Seed: 1}
		},
	}
}

func (p *layers) Validate() error {
	if p.Layers < 1 || p.Layers > 16 {
		return &ParamError{"layers", strconv.FormatInt(p.Layers, 10) + " is not between 1 and 16", "--set layers=3"}
	}
	if p.Attempts < 1 || p.Attempts > 100 {
		return &ParamError{"attempts", strconv.FormatInt(p.Attempts, 10) + " is not between 1 and 100", "--set attempts=3"}
	}
	if p.Failure < 0 || p.Failure > 1 {
		return &ParamError{"failure_share", strconv.FormatFloat(p.Failure, 'g', -1, 64) + " is not between 0 and 1", "--set failure_share=1"}
	}
	if p.Requests < 1 || p.Requests > 1_000_000_000 {
		return &ParamError{"requests", strconv.FormatInt(p.Requests, 10) + " is not between 1 and 1,000,000,000", "--set requests=1000"}
	}
	if p.worst()*float64(p.Requests) > 1e11 {
		return &ParamError{"layers", "with these attempts and requests is more than 100 billion calls", "--set requests=1"}
	}
	return nil
}

func (p *layers) worst() float64 {
	w := 1.0
	for range p.Layers {
		w *= float64(p.Attempts)
	}
	return w
}

func (p *layers) Run(ctx context.Context, o *Outcome) error {
	r := load.NewRand(p.Seed, 0, 0)
	var total, most, failed, done int64
	var ended error
	for ; done < p.Requests; done++ {
		if done&0xff == 0 && ctx.Err() != nil {
			ended = ctx.Err()
			break
		}
		calls, ok := p.call(&r, p.Layers)
		total += calls
		most = max(most, calls)
		if !ok {
			failed++
		}
	}
	o.Set("requests", float64(done))
	o.Set("backend_calls", float64(total))
	o.Set("calls_per_request", ratioOf(float64(total), float64(done)))
	o.Set("most_for_one_request", float64(most))
	o.Set("worst_case", p.worst())
	o.Set("failed", float64(failed))
	return ended
}

// call is one request to a layer with this many layers from here to the
// backend: how many calls the backend got, and whether it went well.
func (p *layers) call(r *load.Rand, depth int64) (calls int64, ok bool) {
	if depth == 0 {
		return 1, r.Float64() >= p.Failure
	}
	for range p.Attempts {
		n, ok := p.call(r, depth-1)
		calls += n
		if ok {
			return calls, true
		}
	}
	return calls, false
}
