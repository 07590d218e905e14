package sim

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weir-cli/weir/load"
)

// backend is a service with a fixed capacity behind clients that time out and
// try again: where a short outage can become a lasting one.
type backend struct {
	Offered   Rate   `yaml:"offered" about:"calls a second that clients want to make"`
	Arrivals  string `yaml:"arrivals" about:"even or random (Poisson)"`
	Capacity  Rate   `yaml:"capacity" about:"requests a second that the service can do"`
	Timeout   Micros `yaml:"timeout" about:"how long a client waits for an answer, from sending"`
	Behaviour string `yaml:"behaviour" about:"what a client does after a timeout or a refusal, as in weir behaviours"`
	Clients   int64  `yaml:"clients" about:"how many clients share out the calls; each has one budget"`
	Queue     int64  `yaml:"queue" about:"requests that may wait, 0 for no bound; more are refused at once"`
	ShedAge   Micros `yaml:"shed_age" about:"requests that waited longer are dropped when their turn comes; 0 for never"`
	Stops     bool   `yaml:"stops_expired" about:"the server skips requests whose client has stopped waiting"`
	OutageAt  Micros `yaml:"outage_at" about:"when the outage begins"`
	OutageFor Micros `yaml:"outage_for" about:"how long it lasts"`
	OutageHow string `yaml:"outage_how" about:"stall (nothing is served), fail (all is refused at once) or slow"`
	SlowShare int64  `yaml:"slow_percent" about:"capacity that is left in a slow outage"`
	Duration  Micros `yaml:"duration" about:"length of the run"`
	Seed      int64  `yaml:"seed" about:"of random arrivals and of clients' jitter"`
}

func backendKind() Kind {
	return Kind{
		Name:  "backend",
		About: "A service of fixed capacity, clients that time out and retry, and an outage in the middle",
		Rules: []string{
			"one server takes requests in the order of arrival, each for 1/capacity",
			"a client counts its timeout from sending; the server goes on with a request that nobody waits for, unless stops_expired",
			"at equal times: what was put on the agenda first comes first",
			"behaviours and budgets are those of load; all calls of one client share its budget",
			"a failed call is one whose client gave up",
		},
		Figures: []FigureInfo{
			{"calls", "calls", "calls that clients wanted to make"},
			{"succeeded", "calls", "calls answered in time, by whichever attempt"},
			{"failed", "calls", "calls given up"},
			{"attempts", "requests", "requests sent, retries included"},
			{"retries", "requests", "requests that were not the first of their call"},
			{"timeouts", "requests", "requests whose client stopped waiting"},
			{"turned_away", "requests", "requests refused at once, by a full queue or an outage"},
			{"shed", "requests", "requests dropped from the queue because they had waited too long"},
			{"wasted_work", "requests", "requests served after their client had stopped waiting"},
			{"success_before_per_s", "1/s", "successes a second over the 10 s before the outage"},
			{"success_during_per_s", "1/s", "successes a second during the outage"},
			{"success_at_end_per_s", "1/s", "successes a second over the last 30 s"},
			{"attempts_at_end_per_s", "1/s", "requests a second over the last 30 s"},
			{"amplification_in_outage", "ratio", "requests per call during the outage"},
			{"amplification_at_end", "ratio", "requests per call over the last 30 s"},
			{"recovered", "0/1", "1 when the last 30 s succeed at 95% or more of the rate before the outage"},
			{"recovery_s", "s", "from the end of the outage to the first second from which all succeed at 95% or more of it; -1 when none"},
			{"most_waiting", "requests", "most requests in the queue"},
			{"longest_wait_s", "s", "longest time from sending to the start of service"},
		},
		Plots: []string{"succeeded", "attempts"},
		New: func() Params {
			return &backend{Offered: PerSecond(280), Arrivals: "even", Capacity: PerSecond(300), Timeout: Second,
				Behaviour: "fixed:1ms,attempts=2", Clients: 1, OutageAt: 60 * Second, OutageFor: 10 * Second, OutageHow: "stall",
				SlowShare: 50, Duration: 240 * Second, Seed: 1}
		},
	}
}

const (
	arriveEvenly = "even"
	arriveRandom = "random"
	outageStalls = "stall"
	outageFails  = "fail"
	outageSlows  = "slow"
)

func (p *backend) Validate() error {
	if err := trafficFits(p.Offered, p.Duration); err != nil {
		return err
	}
	if p.Capacity.Units <= 0 || p.Capacity.Per <= 0 || p.serviceTime() < 1 {
		return &ParamError{"capacity", p.Capacity.String() + " is not between 0 and 1,000,000 a second", "--set capacity=300/s"}
	}
	if err := firstError(spanWithin("timeout", p.Timeout, 1, maxTime), spanWithin("shed_age", p.ShedAge, 0, maxTime), spanWithin("outage_at", p.OutageAt, 0, maxTime), spanWithin("outage_for", p.OutageFor, 0, maxTime)); err != nil {
		return err
	}
	if p.Clients < 1 || p.Clients > 10_000_000 {
		return &ParamError{"clients", strconv.FormatInt(p.Clients, 10) + " is not between 1 and 10,000,000", "--set clients=1"}
	}
	if p.Queue < 0 {
		return &ParamError{"queue", strconv.FormatInt(p.Queue, 10) + " is below 0; 0 is no bound", "--set queue=0"}
	}
	if p.Arrivals != arriveEvenly && p.Arrivals != arriveRandom {
		return &ParamError{"arrivals", fmt.Sprintf("%q is neither %s nor %s", p.Arrivals, arriveEvenly, arriveRandom), "--set arrivals=even"}
	}
	if p.OutageHow != outageStalls && p.OutageHow != outageFails && p.OutageHow != outageSlows {
		return &ParamError{"outage_how", fmt.Sprintf("%q is none of %s, %s and %s", p.OutageHow, outageStalls, outageFails, outageSlows), "--set outage_how=stall"}
	}
	if p.SlowShare < 1 || p.SlowShare > 100 {
		return &ParamError{"slow_percent", strconv.FormatInt(p.SlowShare, 10) + " is not a percentage of the capacity", "--set slow_percent=50"}
	}
	if _, err := load.ParseBehaviour(p.Behaviour); err != nil {
		return &ParamError{"behaviour", err.Error(), "--set behaviour=fixed:1ms,attempts=2"}
	}
	return nil
}

// serviceTime is how long one request takes at full capacity.
func (p *backend) serviceTime() Micros {
	return Micros(int64(p.Capacity.Per/time.Microsecond) / p.Capacity.Units)
}

// out reports whether an instant lies in the outage.
func (p *backend) out(at Micros) bool { return at >= p.OutageAt && at < p.OutageAt+p.OutageFor }
