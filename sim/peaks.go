package sim

import (
	"context"
	"strconv"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// peaks is how closely together clients return that all failed at one
// instant, by what they do next.
type peaks struct {
	Clients   int64  `yaml:"clients" about:"how many fail at 0"`
	Behaviour string `yaml:"behaviour" about:"what they do next, as in weir behaviours"`
	Retries   int64  `yaml:"retries" about:"how many retries of each are looked at"`
	Timer     Micros `yaml:"timer_width" about:"a timer fires evenly spread over this after its wait"`
	Bin       Micros `yaml:"bin" about:"width of the bins that peaks are counted in"`
	Status    int64  `yaml:"status" about:"that every attempt is answered with"`
	Told      Micros `yaml:"retry_after" about:"wait that every answer asks for; 0 for none"`
	Seed      int64  `yaml:"seed" about:"of the clients' random draws"`
}

func peaksKind() Kind {
	return Kind{
		Name:  "retry-peaks",
		About: "Clients that all fail at one instant, and how closely together their retries come",
		Rules: []string{
			"all clients fail at 0, and every retry fails at once",
			"waits are those of load's behaviours, each client with its own random stream",
			"a timer fires evenly spread over timer_width after its wait",
			"peaks are counted in aligned bins",
		},
		Figures: []FigureInfo{
			{"retries", "requests", "retries of all clients together"},
			{"gave_up", "clients", "clients that stopped before the retries were over"},
			{"peak", "requests", "most retries in one bin"},
			{"peak_at_s", "s", "when that bin began"},
			{"peak_per_s", "1/s", "the peak as a rate"},
			{"first_peak", "requests", "most first retries in one bin"},
			{"first_from_s", "s", "when the first retry came"},
			{"first_spread_s", "s", "from the first first retry to the last"},
			{"even_per_bin", "requests", "first retries per bin if they were spread evenly over that time: clients * bin / spread"},
		},
		New: func() Params {
			return &peaks{Clients: 100_000, Behaviour: "full-jitter:1s,30s", Retries: 5, Timer: 10_000, Bin: 10_000, Status: 503, Seed: 1}
		},
	}
}

func (p *peaks) Validate() error {
	if p.Clients < 1 || p.Clients > 10_000_000 {
		return &ParamError{"clients", strconv.FormatInt(p.Clients, 10) + " is not between 1 and 10,000,000", "--set clients=100k"}
	}
	if p.Retries < 1 || p.Retries > 1000 {
		return &ParamError{"retries", strconv.FormatInt(p.Retries, 10) + " is not between 1 and 1,000", "--set retries=5"}
	}
	if err := firstError(spanWithin("timer_width", p.Timer, 1, maxTime), spanWithin("bin", p.Bin, 1, maxTime), spanWithin("retry_after", p.Told, 0, maxTime)); err != nil {
		return err
	}
	if p.Status < 400 || p.Status > 599 {
		return &ParamError{"status", strconv.FormatInt(p.Status, 10) + " is not an error status", "--set status=503"}
	}
	if _, err := load.ParseBehaviour(p.Behaviour); err != nil {
		return &ParamError{"behaviour", err.Error(), "--set behaviour=full-jitter:1s,30s"}
	}
	return nil
}

func (p *peaks) Run(ctx context.Context, o *Outcome) error {
	behaviour, err := load.ParseBehaviour(p.Behaviour)
	if err != nil {
		return err
	}
	all, first := map[Micros]int64{}, map[Micros]int64{}
	var retries, gaveUp int64
	earliest, latest := Micros(-1), Micros(0)
	for c := range p.Clients {
		if c&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := load.NewRand(p.Seed, uint32(c), 0)
		var mem load.Memory
		at := Micros(0)
		for attempt := 1; attempt <= int(p.Retries); attempt++ {
			out := load.Outcome{Verdict: report.Refused, Status: uint16(p.Status), Attempt: attempt, Elapsed: time.Duration(at) * time.Microsecond, Answer: p.answer()}
			d := load.Decide(behaviour, out, int64(at)*1000, &mem, &r, load.Limits{MaxWait: 24 * time.Hour})
			if !d.Retry {
				gaveUp++
				break
			}
			at += Micros(d.Wait/time.Microsecond) + Micros(r.Int64n(int64(p.Timer)))
			retries++
			all[at/p.Bin]++
			if attempt == 1 {
				first[at/p.Bin]++
				if earliest < 0 || at < earliest {
					earliest = at
				}
				latest = max(latest, at)
			}
		}
	}
	top, topAt := highest(all)
	topFirst, _ := highest(first)
	o.Set("retries", float64(retries))
	o.Set("gave_up", float64(gaveUp))
	o.Set("peak", float64(top))
	o.Set("peak_at_s", (topAt * p.Bin).Seconds())
	o.Set("peak_per_s", float64(top)/p.Bin.Seconds())
	o.Set("first_peak", float64(topFirst))
	o.Set("first_from_s", max(earliest, 0).Seconds())
	spread := latest - max(earliest, 0)
	o.Set("first_spread_s", spread.Seconds())
	o.Set("even_per_bin", ratioOf(float64(p.Clients)*p.Bin.Seconds(), max(spread, p.Bin).Seconds()))
	return nil
}

// highest is the fullest bin, the earliest of equals.
func highest(bins map[Micros]int64) (n int64, at Micros) {
	for b, c := range bins {
		if c > n || c == n && b < at {
			n, at = c, b
		}
	}
	return n, at
}
