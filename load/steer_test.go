package load

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// steered runs a profile and calls change at every poll.
func steered(t *testing.T, w *world, p *profiles.Profile, change func(e *Engine, now int64)) *report.Result {
	t.Helper()
	return steeredTo(t, w, p, 1e6, change)
}

// steeredTo is steered with a bound on the attempts.
func steeredTo(t *testing.T, w *world, p *profiles.Profile, most int64, change func(e *Engine, now int64)) *report.Result {
	t.Helper()
	plan, err := Compile(p, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := report.NewCollector(report.Setup{})
	e, err := New(Config{Plan: plan, Seed: 1, Senders: []Sender{w}, Shards: []*report.Shard{c.Shard()}, MaxAttempts: most,
		Clock: func() int64 { return w.now }, Targets: 1, DropAfter: time.Second, Grace: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w.onPoll = func(now int64) { change(e, now) }
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	r := c.Finish(report.Meta{Duration: int64(plan.Duration)})
	if n := r.Totals; n.Planned != n.Offered+n.Dropped || n.Offered != n.Admitted+n.Refused+n.Failed || e.Offered() != n.Offered {
		t.Fatalf("the sums do not balance: %+v, the engine offered %d", n, e.Offered())
	}
	if r.Totals.Offered > most {
		t.Fatalf("%d attempts of at most %d", r.Totals.Offered, most)
	}
	return r
}

// sentIn counts what left in each of the run's parts of length d.
func sentIn(w *world, d time.Duration, parts int) []int {
	n := make([]int, parts)
	for _, ev := range w.sent {
		if i := int(ev.Sent / int64(d)); i < parts {
			n[i]++
		}
	}
	return n
}

func near(t *testing.T, got []int, want ...int) {
	t.Helper()
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 5 {
			t.Fatalf("sent %v, want about %v", got, want)
		}
	}
}

// An open loop of 100 a second: doubled, halved, and back. At four times its
// pace the plan is used up before the end and begins again.
func TestPaceOfAnOpenLoop(t *testing.T) {
	at := func(factors ...float64) func(*Engine, int64) {
		return func(e *Engine, now int64) {
			if i := int(now / int64(2*time.Second)); i < len(factors) {
				e.SetPace(factors[i])
			}
		}
	}
	for _, tt := range []struct {
		name    string
		factors []float64
		want    []int
	}{
		{"as planned", []float64{1, 1, 1, 1, 1}, []int{200, 200, 200, 200, 200}},
		{"up and down", []float64{1, 2, 0.5, 1, 4}, []int{200, 400, 100, 200, 800}},
		{"used up", []float64{4, 4, 4, 4, 4}, []int{800, 800, 800, 800, 800}},
		{"no factor", []float64{1, -3, math.NaN(), math.Inf(1), 0}, []int{200, 200, 200, 200, 200}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s")}
			steered(t, w, openLoop(100, 10*time.Second), at(tt.factors...))
			near(t, sentIn(w, 2*time.Second, 5), tt.want...)
			for i, ev := range w.sent {
				if ev.Sent >= 10e9 || ev.Sent-ev.Due > int64(60*time.Millisecond) {
					t.Fatalf("attempt %d was due at %d and left at %d", i, ev.Due, ev.Sent)
				}
			}
		})
	}
}

// A closed loop pauses half as long at twice the pace.
func TestPaceOfAClosedLoop(t *testing.T) {
	p := closedLoop(10, "storm", 10*time.Second, 0)
	p.Populations[0].Arrivals.Think = 99 * time.Millisecond
	w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s")}
	steered(t, w, p, func(e *Engine, now int64) {
		if now >= 5e9 {
			e.SetPace(2)
		}
	})
	n := sentIn(w, 5*time.Second, 2)
	if n[0] < 490 || n[0] > 510 || n[1] < 960 || n[1] > 1000 {
		t.Errorf("sent %v, want about 500 and 980", n)
	}
}

// A storm that is told to honour Retry-After calms down within a second, and
// storms again when told so.
func TestBehaviourOfAll(t *testing.T) {
	calm, err := ParseBehaviour("retry-after,spread")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{latency: int64(100 * time.Millisecond), limiter: limiterOf(t, "10/s,burst=20")}
	steered(t, w, closedLoop(40, "storm", 15*time.Second, 100*time.Millisecond), func(e *Engine, now int64) {
		switch {
		case now >= 10e9:
			e.SetBehaviour(nil)
		case now >= 5e9:
			e.SetBehaviour(calm)
		}
	})
	n := sentIn(w, 5*time.Second, 3)
	if n[0] < 1900 || n[1] > n[0]/3 || n[2] < 1700 {
		t.Errorf("sent %v: want a storm, calm, and a storm", n)
	}
}

// A pause of two seconds: nothing leaves in it, the plan goes on from where it
// stood, and nobody comes back in a herd or counts as late.
func TestPause(t *testing.T) {
	pause := func(e *Engine, now int64) { e.SetPaused(now >= 3.95e9 && now < 5.95e9) }
	t.Run("open loop", func(t *testing.T) {
		w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s")}
		r := steered(t, w, openLoop(100, 10*time.Second), pause)
		near(t, sentIn(w, 2*time.Second, 5), 200, 195, 0, 200, 200)
		if r.Totals.Dropped != 0 {
			t.Errorf("%d count as dropped", r.Totals.Dropped)
		}
		for i, ev := range w.sent {
			if ev.Sent-ev.Due > int64(60*time.Millisecond) {
				t.Fatalf("attempt %d was due at %d and left at %d", i, ev.Due, ev.Sent)
			}
		}
	})
	t.Run("with another pace", func(t *testing.T) {
		w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s")}
		steered(t, w, openLoop(100, 10*time.Second), func(e *Engine, now int64) {
			pause(e, now)
			if now >= 5e9 {
				e.SetPace(2) // in the pause; it holds from its end on
			}
		})
		near(t, sentIn(w, 2*time.Second, 5), 200, 195, 0, 400, 400)
	})
	t.Run("closed loop", func(t *testing.T) {
		p := closedLoop(50, "storm", 10*time.Second, 0)
		p.Populations[0].Arrivals.Think = 499 * time.Millisecond
		w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s")}
		steered(t, w, p, func(e *Engine, now int64) { e.SetPaused(now >= 4.05e9 && now < 5.8e9) })
		// All come every half second, the next time a pause of 1.75 s later.
		near(t, sentIn(w, 500*time.Millisecond, 20)[7:15], 50, 50, 0, 0, 0, 50, 50, 50)
	})
	t.Run("without a connection", func(t *testing.T) {
		// One more waits for the connection every second, until some wait too long.
		run := func(length time.Duration, change func(*Engine, int64)) *report.Result {
			w := &world{latency: int64(200 * time.Millisecond), room: 1, limiter: limiterOf(t, "1M/s")}
			return steered(t, w, openLoop(6, length), change)
		}
		goesOn := run(10*time.Second, pause)
		toTheEnd := run(10*time.Second, func(e *Engine, now int64) { e.SetPaused(now >= 7.95e9) })
		whole := run(8*time.Second, func(*Engine, int64) {})
		// The connection is free when the pause ends, which spares one the drop.
		if n := whole.Totals.Dropped - 1; goesOn.Totals.Dropped != n || toTheEnd.Totals.Dropped != n {
			t.Errorf("%d and %d were dropped, want %d", goesOn.Totals.Dropped, toTheEnd.Totals.Dropped, n)
		}
	})
	t.Run("to the end", func(t *testing.T) {
		w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s")}
		steered(t, w, openLoop(100, 10*time.Second), func(e *Engine, now int64) { e.SetPaused(now >= 4e9) })
		near(t, sentIn(w, 2*time.Second, 5), 200, 200, 0, 0, 0)
	})
}

// Whatever a person does, and whenever: what was planned is accounted for,
// nothing leaves in a pause, and no more than asked for.
func TestSteeringAtRandom(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := openLoop(float64(50+r.IntN(200)), 8*time.Second)
		if seed%3 == 0 {
			p = closedLoop(1+r.IntN(60), "storm", 8*time.Second, 0)
			p.Populations[0].Arrivals.Think = time.Duration(1 + r.Int64N(int64(time.Second)))
		}
		w := &world{latency: 1 + r.Int64N(int64(400*time.Millisecond)), room: 1 + r.IntN(20), limiter: limiterOf(t, "30/s,burst=20")}
		stopAt := int64(math.MaxInt64)
		if seed%4 == 1 {
			stopAt = r.Int64N(int64(8 * time.Second))
		}
		most := int64(1e6)
		if seed%5 == 2 {
			most = 1 + r.Int64N(400)
		}
		behaviours := []Behaviour{nil}
		for _, text := range []string{"storm", "retry-after,spread", "give-up", "exponential"} {
			b, err := ParseBehaviour(text)
			if err != nil {
				t.Fatal(err)
			}
			behaviours = append(behaviours, b)
		}
		paused, since, before := false, int64(0), 0
		steeredTo(t, w, p, most, func(e *Engine, now int64) {
			// A loop hears of it when it next looks, within 50 ms.
			if n := len(w.sent); paused && now-since > int64(60*time.Millisecond) && n > before && w.sent[n-1].Sent > since+int64(60*time.Millisecond) && now < int64(8*time.Second) {
				t.Fatalf("seed %d: one left at %d, in a pause since %d", seed, w.sent[n-1].Sent, since)
			}
			if now >= stopAt {
				e.Stop()
				stopAt = math.MaxInt64
				paused = false // what waits for a connection still leaves
				return
			}
			switch r.IntN(40) {
			case 0, 1:
				paused, since, before = !paused, now, len(w.sent)
				e.SetPaused(paused)
			case 2:
				e.SetPace(math.Ldexp(1, r.IntN(9)-4))
			case 3:
				e.SetBehaviour(behaviours[r.IntN(len(behaviours))])
			}
		})
	}
}
