package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
)

// herd is a crowd of callers refused at one instant, and what the limiter
// tells them decides how they come back.
type herd struct {
	Callers  int64  `yaml:"callers" about:"how many arrive at 0"`
	Rate     Rate   `yaml:"rate" about:"of the bucket"`
	Burst    int64  `yaml:"burst" about:"of the bucket, which is full at the start"`
	Told     string `yaml:"told" about:"same, jitter or reserved"`
	Jitter   Micros `yaml:"jitter" about:"most that is added to a wait with told: jitter"`
	Whole    bool   `yaml:"whole_seconds" about:"round what is told up to whole seconds, as Retry-After is"`
	Duration Micros `yaml:"duration" about:"length of the run"`
	Seed     int64  `yaml:"seed" about:"of the jitter"`
}

const (
	toldSame     = "same"
	toldJitter   = "jitter"
	toldReserved = "reserved"
)

func herdKind() Kind {
	return Kind{
		Name:  "herd",
		About: "Callers that arrive at one instant, and come back as the limiter tells them",
		Rules: []string{
			"central token bucket, full at the start",
			"all callers send at 0, in order; a refused one sends again exactly when it was told to",
			"same: everybody is told the exact wait until the next token",
			"jitter: that wait and a uniform random part of jitter",
			"reserved: each refused caller is given the next free slot, 1/rate apart, and the token that comes then is its own",
			"with whole_seconds a wait is rounded up to whole seconds, as Retry-After is",
		},
		Figures: []FigureInfo{
			{"attempts", "requests", "requests of all callers together"},
			{"refused", "requests", "requests refused"},
			{"attempts_per_caller", "requests", "requests per caller that got in, on average"},
			{"admitted", "callers", "callers that got in"},
			{"admitted_by_1s", "callers", "callers that got in within the first second"},
			{"peak_10ms", "requests", "most requests in any aligned 10 ms after the first instant"},
			{"peak_1s", "requests", "most requests in any aligned second after the first instant"},
			{"all_in_s", "s", "when the last caller got in; -1 when some had not at the end"},
			{"least_possible_s", "s", "when the last one could get in at the earliest: (callers - burst) / rate"},
			{"most_attempts_of_one", "requests", "requests of the caller that needed most"},
		},
		New: func() Params {
			return &herd{Callers: 1000, Rate: PerSecond(100), Burst: 100, Told: toldSame, Jitter: Second, Duration: 120 * Second, Seed: 1}
		},
	}
}

func (p *herd) Validate() error {
	if p.Callers < 1 || p.Callers > 10_000_000 {
		return &ParamError{"callers", strconv.FormatInt(p.Callers, 10) + " is not between 1 and 10,000,000", "--set callers=1000"}
	}
	if p.Told != toldSame && p.Told != toldJitter && p.Told != toldReserved {
		return &ParamError{"told", fmt.Sprintf("%q is none of %s, %s and %s", p.Told, toldSame, toldJitter, toldReserved), "--set told=same"}
	}
	if err := firstError(spanWithin("jitter", p.Jitter, 0, maxTime), spanWithin("duration", p.Duration, 1, maxTime)); err != nil {
		return err
	}
	return bucketFits("", p.Rate, p.Burst, p.Duration)
}

func (p *herd) Run(ctx context.Context, o *Outcome) error {
	limiter, err := limit.Spec{Rate: p.Rate.Rate, Burst: p.Burst}.New()
	if err != nil {
		return err
	}
	var (
		state    limit.State
		queue    agenda[int64]
		tries    = make([]int32, p.Callers)
		reserved = make(map[int64]bool)
		slots    int64
		n        herdTally
		ended    error
	)
	for c := range p.Callers {
		queue.add(0, c)
	}
	for steps := 0; ; steps++ {
		if queue.peek() >= p.Duration {
			break
		}
		at, c := queue.next()
		if steps&0xffff == 0 && ctx.Err() != nil {
			ended = ctx.Err()
			break
		}
		tries[c]++
		n.attempt(at)
		if reserved[c] {
			n.admit(at)
			continue
		}
		d := limiter.Take(&state, int64(at)*1000, 1)
		if d.OK {
			n.admit(at)
			continue
		}
		n.refused++
		wait := Micros((d.RetryAfter + time.Microsecond - 1) / time.Microsecond)
		switch p.Told {
		case toldJitter:
			r := load.NewRand(p.Seed, uint32(c), uint64(tries[c]))
			wait += Micros(r.Int64n(int64(p.Jitter) + 1))
		case toldReserved:
			// The k-th slot is the k-th token from the first refusal on.
			slots++
			reserved[c] = true
			wait = max(Micros(ceilDiv(slots*int64(p.Rate.Per/time.Microsecond), p.Rate.Units))-at, 1)
		}
		if p.Whole {
			wait = (wait + Second - 1) / Second * Second
		}
		queue.add(at+max(wait, 1), c)
	}
	n.report(o, p, tries)
	return ended
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// herdTally counts requests by 10 ms and second, the first instant apart.
type herdTally struct {
	attempts, refused, admitted, early int64
	last                               Micros
	bins                               map[Micros]int64
	secs                               map[Micros]int64
}

func (n *herdTally) attempt(at Micros) {
	n.attempts++
	if at == 0 {
		return
	}
	if n.bins == nil {
		n.bins, n.secs = map[Micros]int64{}, map[Micros]int64{}
	}
	n.bins[at/10_000]++
	n.secs[at/Second]++
}

func (n *herdTally) admit(at Micros) {
	n.admitted++
	if at < Second {
		n.early++
	}
	n.last = max(n.last, at)
}

func (n *herdTally) report(o *Outcome, p *herd, tries []int32) {
	most := int32(0)
	for _, t := range tries {
		most = max(most, t)
	}
	peak := func(m map[Micros]int64) (top int64) {
		for _, c := range m {
			top = max(top, c)
		}
		return top
	}
	o.Set("attempts", float64(n.attempts))
	o.Set("refused", float64(n.refused))
	o.Set("attempts_per_caller", ratioOf(float64(n.attempts), float64(n.admitted)))
	o.Set("admitted", float64(n.admitted))
	o.Set("admitted_by_1s", float64(n.early))
	o.Set("peak_10ms", float64(peak(n.bins)))
	o.Set("peak_1s", float64(peak(n.secs)))
	all := -1.0
	if n.admitted == p.Callers {
		all = n.last.Seconds()
	}
	o.Set("all_in_s", all)
	o.Set("least_possible_s", max(0, float64(p.Callers-p.Burst)/p.Rate.Float()))
	o.Set("most_attempts_of_one", float64(most))
}
