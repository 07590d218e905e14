package load

import "time"

// tick is how far apart wake-ups are kept once arrivals are dense: sends are
// then late by less than a tick.
const tick = int64(500 * time.Microsecond)

// denseArrivals is how many arrivals a tick make them dense, so that sending
// and collecting answers by the tick pays. Below it every arrival has its own
// wake-up, because gaps are only as even as the wake-ups are.
const denseArrivals = 3

// pace decides which arrivals share a wake-up. The zero value has seen none.
type pace struct {
	since int64 // start of the stretch that n counts
	n     int64
	meant int64 // the instant that next gave last
	woken int64 // the one at which arrivals left last
	dense bool
}

// sent takes note of n arrivals that left at now.
func (p *pace) sent(n int, now int64) {
	if n > 0 {
		// The instant that was meant and not the one that came of it: else every
		// late wake-up would push back all that follow.
		p.woken = max(min(p.meant, now), now-tick)
	}
	p.n += int64(n)
	if passed := now - p.since; passed >= 4*tick {
		p.dense = p.n*tick >= denseArrivals*passed
		p.since, p.n = now, 0
	}
}

// next is when to wake for the arrival that is due at due.
func (p *pace) next(due int64) int64 {
	p.meant = due
	if p.dense {
		p.meant = max(due, p.woken+tick)
	}
	return p.meant
}
