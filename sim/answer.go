package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weir-cli/weir/report"
)

// Answerer are Params that say in a sentence or two what their run came to.
// Those that judge a promise need none: the verdict is their answer.
type Answerer interface {
	Answer(f Answered) string
}

// Answered are the figures that an answer is made of. One that the run did not
// report, as when it was cut short, leaves the run without an answer.
type Answered struct {
	figures map[string]float64
	missing *bool
}

func (f Answered) v(name string) float64 {
	v, ok := f.figures[name]
	if !ok {
		*f.missing = true
	}
	return v
}

// has tells whether the run reported a figure that not every run does.
func (f Answered) has(name string) bool { _, ok := f.figures[name]; return ok }

// n is a figure for people: thousands set off, three decimals at most.
func (f Answered) n(name string) string { return ShortNumber(f.v(name)) }

// ShortNumber is a number for people: thousands set off, three decimals at
// most, one above a thousand; below 0.1 three digits that count.
func ShortNumber(v float64) string {
	size := math.Abs(v)
	switch {
	case size >= 1e15:
		return strconv.FormatFloat(v, 'g', 6, 64)
	case size >= 1000:
		v = math.Round(v*10) / 10
	case size >= 0.1:
		v = math.Round(v*1000) / 1000
	default:
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n != 0 {
		whole = report.Count(n)
	}
	if part != "" {
		return whole + "." + part
	}
	return whole
}

// answer is the sentence about a whole run; "" when its verdict is the answer.
func (s *Scenario) answer(figures map[string]float64) string {
	a, ok := s.Params.(Answerer)
	if !ok {
		return ""
	}
	missing := false
	text := a.Answer(Answered{figures, &missing})
	if missing {
		return ""
	}
	return text
}

func (p *backend) Answer(f Answered) string {
	s := fmt.Sprintf("%s of %s calls a second succeed at the end", f.n("success_at_end_per_s"), ShortNumber(f.v("calls")/p.Duration.Seconds()))
	if p.OutageFor > 0 {
		switch back := f.v("recovery_s"); {
		case f.v("recovered") == 0:
			s = fmt.Sprintf("it does not come back: %s s after the outage ", ShortNumber((p.Duration-p.OutageAt-p.OutageFor).Seconds())) + s
		case back == 0:
			s = "it comes back as soon as the outage ends; " + s
		case back > 0:
			s = fmt.Sprintf("it comes back %s s after the outage; ", ShortNumber(back)) + s
		default:
			s = "it comes back, though single seconds still fall short; " + s
		}
		s += fmt.Sprintf(". A call makes %s requests in the outage and %s at the end, and", f.n("amplification_in_outage"), f.n("amplification_at_end"))
	} else {
		s += fmt.Sprintf(", with %s requests to a call, and", f.n("amplification_at_end"))
	}
	return s + fmt.Sprintf(" %s requests were served that nobody waited for any more.", f.n("wasted_work"))
}

func (p *herd) Answer(f Answered) string {
	s := fmt.Sprintf("%s of %s callers got in, with %s attempts each on average", f.n("admitted"), report.Count(p.Callers), f.n("attempts_per_caller"))
	if f.v("all_in_s") >= 0 {
		s += fmt.Sprintf("; the last after %s s, where %s s is the least possible", f.n("all_in_s"), f.n("least_possible_s"))
	}
	return s + fmt.Sprintf(". Up to %s attempts came within 10 ms.", f.n("peak_10ms"))
}

func (p *peaks) Answer(f Answered) string {
	return fmt.Sprintf("at worst %s retries came within %s, %s a second. The first retries of %s clients were spread over %s s, with up to %s at once where even spacing makes %s.",
		f.n("peak"), p.Bin.String(), f.n("peak_per_s"), report.Count(p.Clients), f.n("first_spread_s"), f.n("first_peak"), f.n("even_per_bin"))
}

func (p *layers) Answer(f Answered) string {
	return fmt.Sprintf("%s requests from outside became %s calls at the backend, %s for each on average and %s at most; %s requests failed.",
		f.n("requests"), f.n("backend_calls"), f.n("calls_per_request"), f.n("most_for_one_request"), f.n("failed"))
}

func (p *attack) Answer(f Answered) string {
	return fmt.Sprintf("of %s attempts a limit per address lets %s through, one per account %s, one for the route %s, and all three together %s. Honest users lose %s, %s, %s and %s of their %s requests.",
		f.n("attack_attempts"), f.n("per_address_admits"), f.n("per_account_admits"), f.n("per_route_admits"), f.n("all_three_admit"),
		f.n("honest_refused_per_address"), f.n("honest_refused_per_account"), f.n("honest_refused_per_route"), f.n("honest_refused_by_all_three"), f.n("honest_requests"))
}

func (p *billing) Answer(f Answered) string {
	s := fmt.Sprintf("of %s requests served, running totals miscount by %s and increments by %s; %s were lost in a crash.",
		f.n("served"), f.n("totals_error"), f.n("increments_error"), f.n("lost_in_crash"))
	if f.v("quota_reached_s") < 0 {
		return s + " The quota was not used up."
	}
	s += fmt.Sprintf(" The quota was used up at %s s,", f.n("quota_reached_s"))
	if f.v("last_gateway_knows_s") >= 0 {
		s += fmt.Sprintf(" and the last gateway knew at %s s:", f.n("last_gateway_knows_s"))
	} else {
		s += " and not every gateway knew at the end:"
	}
	return s + fmt.Sprintf(" %s requests were served past it.", f.n("served_past_quota"))
}

func (p *race) Answer(f Answered) string {
	return fmt.Sprintf("read, compute and write in three steps let %s of %s calls pass, where one atomic step lets %s pass.",
		f.n("three_step_allowed"), f.n("calls"), f.n("atomic_allowed"))
}

func (p *logins) Answer(f Answered) string {
	return fmt.Sprintf("of %s tries while the store is out, %s pass with the full limit in every gateway and %s with a share in each, where the limit promises %s.",
		f.n("attempts"), f.n("full_limit_admitted"), f.n("share_admitted"), f.n("promised"))
}

func (p *exports) Answer(f Answered) string {
	return fmt.Sprintf("checked together, the exports refused cost the plan %s tokens; checked one limit after the other they cost it %s. In both, %s and %s of the exports pass.",
		f.n("together_plan_tokens_lost"), f.n("apart_plan_tokens_lost"), f.n("together_exports_admitted"), f.n("apart_exports_admitted"))
}

func (p *firewall) Answer(f Answered) string {
	s := fmt.Sprintf("%s of %s requests passed and %s were blocked", f.n("passed"), ShortNumber(f.v("passed")+f.v("blocked")), f.n("blocked"))
	if !f.has("blocking_from_s") {
		return s + ": the rule never began to block."
	}
	return s + fmt.Sprintf(". Blocking began %s s after the storm, which had sent %s by then, and went on for %s s after it. %s of what it blocked was not the storm.",
		f.n("blocking_after_storm_began_s"), f.n("passed_before_block_storm"), f.n("blocking_after_storm_ended_s"), ShortNumber(f.v("blocked")-f.v("blocked_storm")))
}

func (p *windowEdge) Answer(f Answered) string {
	return fmt.Sprintf("of %s calls around the edge, in any 60 s, the fixed window lets up to %s through, the sliding log %s, the sliding counter %s, the short window %s and the token bucket %s.",
		f.n("calls"), f.n("fixed_window_max_in_60s"), f.n("sliding_log_max_in_60s"), f.n("sliding_counter_max_in_60s"), f.n("short_window_max_in_60s"), f.n("token_bucket_max_in_60s"))
}

func (p *fleet) Answer(f Answered) string {
	return fmt.Sprintf("%s of %s requests admitted, where one bucket for each key would admit %s. The store got %s calls a second, %s for each request; the hottest of %d shards %s, %s times the mean.",
		f.n("admitted"), f.n("requests"), f.n("admitted_by_one_bucket_each"), f.n("store_calls_per_s"), f.n("store_calls_per_request"),
		p.Shards, f.n("hottest_shard_calls_per_s"), f.n("hottest_shard_over_mean"))
}

func (p *regionsParams) Answer(f Answered) string {
	limit, _ := p.Limit.rat().Float64()
	s := ""
	if f.v("highest_sum_of_shares") > limit {
		s = fmt.Sprintf("the shares added up to %s a second at %s s, above the limit of %s", f.n("highest_sum_of_shares"), f.n("highest_sum_of_shares_at_s"), ShortNumber(limit))
	} else {
		s = fmt.Sprintf("the shares never added up to more than the limit of %s a second, and to no less than %s", ShortNumber(limit), f.n("lowest_sum_of_shares"))
	}
	if f.has("settled_s") {
		s += fmt.Sprintf("; they settled by %s s", f.n("settled_s"))
	} else {
		s += "; they did not settle"
	}
	s += fmt.Sprintf(". %s were admitted in the busiest second and %s in the last.", f.n("busiest_second"), f.n("admitted_in_last_second"))
	if f.v("reclaims") > 0 {
		s += fmt.Sprintf(" Shares were taken over %s times, first at %s s.", f.n("reclaims"), f.n("first_reclaim_s"))
	}
	return s
}

func (p *regionSearchParams) Answer(f Answered) string {
	var parts []string
	for _, d := range p.Designs {
		for _, c := range p.Cases {
			at := d + "_" + c.Name + "_"
			parts = append(parts, fmt.Sprintf("with %s, %s of %s runs of %s pass the limit (highest sum %s)",
				d, f.n(at+"runs_above_limit"), f.n(at+"runs"), c.Name, f.n(at+"highest_sum_of_shares")))
		}
	}
	return strings.Join(parts, "; ") + "."
}
