package sim

import "fmt"

// report sets the figures and columns of what has run so far.
func (w *regionRun) report(o *Outcome) {
	m := w.measure
	o.Series = append(o.Series, m.columns.list()...)
	if m.checks == 0 {
		return // interrupted before the first step
	}
	o.Set("admitted", nearest(m.admitted))
	o.Set("demanded", nearest(m.demanded))
	o.Set("highest_sum_of_shares", nearest(m.highest.sum))
	o.Set("highest_sum_of_shares_at_s", m.highest.at.Seconds())
	o.Set("lowest_sum_of_shares", nearest(m.lowest.sum))
	o.Set("lowest_sum_of_shares_at_s", m.lowest.at.Seconds())
	o.Set("highest_sum_of_shares_with_lost", nearest(m.highestLost.sum))
	o.Set("lowest_sum_of_shares_with_lost", nearest(m.lowestLost.sum))
	o.Set("share_seconds_below_limit", nearest(m.below))
	o.Set("share_seconds_below_limit_with_lost", nearest(m.belowLost))
	o.Set("largest_excess", nearest(m.excess.best))
	o.Set("largest_excess_from_s", m.excess.bestFrom.Seconds())
	o.Set("largest_excess_to_s", m.excess.bestTo.Seconds())
	o.Set("busiest_second", nearest(m.busiest.best))
	o.Set("busiest_second_from_s", m.busiest.bestFrom.Seconds())
	o.Set("busiest_aligned_second", nearest(m.busiestAligned))
	o.Set("admitted_in_last_second", nearest(m.lastSecond))
	if since, ok := m.settled(w); ok {
		o.Set("settled_s", since.Seconds())
	}
	if m.bound.broken {
		o.Set("bound_exceeded_at_s", m.bound.at.Seconds())
		o.Set("bound_exceeded_after_s", (m.bound.at - m.bound.from).Seconds())
	}
	o.Set("conservation_checks", float64(m.checks))
	o.Set("conservation_violations", float64(m.violations))
	o.Set("rebalances", float64(m.rebalances))
	o.Set("most_in_pools", nearest(m.pool))
	o.Set("most_grants_not_taken", nearest(m.inFlight))
	o.Set("reclaims", float64(len(m.reclaims)))
	for i, r := range m.reclaims {
		if i == 0 {
			o.Set("first_reclaim_s", r.at.Seconds())
		}
		o.Set("last_reclaim_s", r.at.Seconds())
		o.Set(reclaimName(r.by, r.of), r.at.Seconds())
	}
	for i, r := range w.regions {
		o.Set("final_share_"+lowerName(i), nearest(r.Share()))
		o.Set("admitted_"+lowerName(i), nearest(m.each[i]))
	}
	for i, n := range m.columns.seconds() {
		o.Set(fmt.Sprintf("admitted_in_second_%d", i+1), n)
	}
	if m.lost {
		o.Notes = append(o.Notes, "a lost Region's share does not count in the sum of shares, since nobody can spend it; the figures ending in _with_lost count it")
	}
}

func reclaimName(by, of int) string {
	return fmt.Sprintf("reclaim_of_%s_by_%s_s", lowerName(of), lowerName(by))
}

// figuredRegions is for how many Regions the figures of each are listed; more
// Regions have figures named alike.
const figuredRegions = 3

func regionFigures() []FigureInfo {
	list := []FigureInfo{
		{"admitted", "units", "what all Regions admitted"},
		{"demanded", "units", "what was demanded of all Regions"},
		{"highest_sum_of_shares", "1/s", "highest sum of the shares of all Regions that are up, after the rebalances of a step"},
		{"highest_sum_of_shares_at_s", "s", "when it was first met"},
		{"lowest_sum_of_shares", "1/s", "lowest sum of the shares of all Regions that are up, after the rebalances of a step"},
		{"lowest_sum_of_shares_at_s", "s", "when it was first met"},
		{"highest_sum_of_shares_with_lost", "1/s", "highest sum of shares with what lost Regions held when they were lost"},
		{"lowest_sum_of_shares_with_lost", "1/s", "lowest sum of shares with what lost Regions held when they were lost"},
		{"share_seconds_below_limit", "units", "sum over all steps of how far the sum of shares is below the limit, times the step"},
		{"share_seconds_below_limit_with_lost", "units", "the same with what lost Regions held when they were lost"},
		{"largest_excess", "units", "largest admitted - limit x time over all intervals of whole steps"},
		{"largest_excess_from_s", "s", "where that interval begins"},
		{"largest_excess_to_s", "s", "where that interval ends"},
		{"busiest_second", "units", "most admitted in any second, sliding by steps"},
		{"busiest_second_from_s", "s", "where the first such second begins"},
		{"busiest_aligned_second", "units", "most admitted in a second that begins at a whole second"},
		{"admitted_in_last_second", "units", "what was admitted in the last aligned second of the run"},
		{"settled_s", "s", "time from which every share stays near its final target; absent when one does not end there"},
		{"bound_exceeded_at_s", "s", "end of the first step at which the admissions since bound_from exceed limit x time + bound_margin; absent when none does"},
		{"bound_exceeded_after_s", "s", "the same, counted from bound_from"},
		{"conservation_checks", "steps", "steps at which shares + pools + grants not yet taken were compared with the limit plus what was reclaimed"},
		{"conservation_violations", "steps", "steps at which they differed; 0 with named grants"},
		{"rebalances", "rebalances", "rebalances of all Regions"},
		{"most_in_pools", "1/s", "most that all pools held"},
		{"most_grants_not_taken", "1/s", "most that was granted and not yet taken"},
		{"reclaims", "reclaims", "how often a Region took over from a silent one"},
		{"first_reclaim_s", "s", "when the first did; absent when none did"},
		{"last_reclaim_s", "s", "when the last did; absent when none did"},
	}
	for of := range figuredRegions {
		for by := range figuredRegions {
			if by != of {
				list = append(list, FigureInfo{reclaimName(by, of), "s", fmt.Sprintf("when Region %s took over from Region %s; absent when it did not", regionName(by), regionName(of))})
			}
		}
	}
	for i := range figuredRegions {
		list = append(list,
			FigureInfo{"final_share_" + lowerName(i), "1/s", fmt.Sprintf("share of Region %s at the end", regionName(i))},
			FigureInfo{"admitted_" + lowerName(i), "units", fmt.Sprintf("what Region %s admitted", regionName(i))})
	}
	return append(list, FigureInfo{"admitted_in_second_N", "units", "what all Regions admitted in aligned second N of the run, from 1"})
}
