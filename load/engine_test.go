package load

import (
	"container/heap"
	"math"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// world is a target in virtual time: a limiter that decides at once and
// answers after a latency, over a number of connections. Its clock moves when
// the engine polls, so a run of minutes takes no time and is exact.
type world struct {
	now     int64
	latency int64
	room    int
	limiter limit.Limiter
	state   limit.State
	answers answers
	scratch dialect.Answer
	sent    []report.Event
	onPoll  func(now int64)
	snooze  int64 // how much longer than asked it sleeps
}

type pending struct {
	a  *Attempt
	at int64
	d  limit.Decision
}

type answers []pending

func (q answers) Len() int           { return len(q) }
func (q answers) Less(i, j int) bool { return q[i].at < q[j].at }
func (q answers) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *answers) Push(x any)        { *q = append(*q, x.(pending)) }
func (q *answers) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func (w *world) Room(uint16, uint32) bool { return w.room == 0 || len(w.answers) < w.room }

func (w *world) Send(a *Attempt) {
	a.Event.Sent = w.now
	w.sent = append(w.sent, a.Event)
	heap.Push(&w.answers, pending{a, w.now + w.latency, w.limiter.Take(&w.state, w.now, int64(a.Event.Cost))})
}

func (w *world) Poll(until int64, _ bool, done func(*Attempt)) {
	if w.onPoll != nil {
		w.onPoll(w.now)
	}
	if len(w.answers) == 0 || w.answers[0].at > until {
		w.now = max(w.now, until+w.snooze)
		return
	}
	w.now = max(w.now, w.answers[0].at)
	for len(w.answers) > 0 && w.answers[0].at <= w.now {
		p := heap.Pop(&w.answers).(pending)
		ev := &p.a.Event
		ev.First, ev.Done, ev.Has = w.now, w.now, ev.Has|report.HasFirst
		ev.Status, ev.Verdict = 200, report.Admitted
		w.scratch = dialect.Answer{}
		if !p.d.OK {
			ev.Status, ev.Verdict = 429, report.Refused
			seconds := (p.d.RetryAfter + time.Second - 1) / time.Second
			w.scratch.Retry = dialect.Hint{Has: true, Wait: seconds * time.Second, Source: dialect.RetryAfter, Unit: dialect.Seconds}
			w.scratch.Wait, w.scratch.Limited = w.scratch.Retry, true
			ev.RetryAfter, ev.Has = int64(w.scratch.Wait.Wait), ev.Has|report.HasRetryAfter
		}
		p.a.Answer = &w.scratch
		done(p.a)
	}
}

func (w *world) Abort(done func(*Attempt)) {
	for len(w.answers) > 0 {
		done(heap.Pop(&w.answers).(pending).a)
	}
}

func (w *world) Close() error { return nil }

// runIn drives a profile through a world and returns the result.
func runIn(t *testing.T, w *world, p *profiles.Profile, change func(*Config)) *report.Result {
	t.Helper()
	plan, err := Compile(p, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := report.NewCollector(report.Setup{})
	cfg := Config{Plan: plan, Seed: 1, Senders: []Sender{w}, Shards: []*report.Shard{c.Shard()},
		Clock: func() int64 { return w.now }, Targets: 1, DropAfter: time.Second, Grace: 10 * time.Second}
	if change != nil {
		change(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	r := c.Finish(report.Meta{Duration: int64(plan.Duration)})
	tot := r.Totals
	if tot.Planned != tot.Offered+tot.Dropped || tot.Offered != tot.Admitted+tot.Refused+tot.Failed+tot.InFlight {
		t.Fatalf("the sums do not balance: %+v", tot)
	}
	return r
}

func limiterOf(t *testing.T, spec string) limit.Limiter {
	t.Helper()
	s, err := limit.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closedLoop(workers int, behaviour string, d, stagger time.Duration) *profiles.Profile {
	return &profiles.Profile{Name: "closed", Duration: d, Populations: []profiles.Population{{Name: "workers", Clients: workers,
		Keys: profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}, Behaviour: behaviour,
		Arrivals: profiles.Arrivals{Kind: profiles.Closed, Stagger: stagger}}}}
}

func openLoop(rate float64, d time.Duration) *profiles.Profile {
	return &profiles.Profile{Name: "open", Duration: d, Populations: []profiles.Population{{Name: "callers", Clients: 10,
		Keys: profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}, Behaviour: "give-up",
		Arrivals: profiles.Arrivals{Kind: profiles.Constant, Rate: rate}}}}
}

// Forty workers whose answers take 100 ms: the storm offers 400 a second and
// the same workers honouring Retry-After about a ninth of that, with the same
// number let through.
func TestStormAgainstObedience(t *testing.T) {
	offered := map[string]float64{}
	for _, behaviour := range []string{"storm", "retry-after"} {
		w := &world{latency: int64(100 * time.Millisecond), limiter: limiterOf(t, "10/s,burst=20")}
		r := runIn(t, w, closedLoop(40, behaviour, 120*time.Second, 100*time.Millisecond), nil)
		offered[behaviour] = float64(r.Totals.Offered) / 120
		if got := r.Totals.Admitted; got < 1215 || got > 1220 {
			t.Errorf("%s: admitted %d, want the bound of 1220 or a few under it", behaviour, got)
		}
	}
	if math.Abs(offered["storm"]-400) > 2 {
		t.Errorf("the storm offered %.1f/s, want 400", offered["storm"])
	}
	if got := offered["retry-after"]; got < 40 || got > 52 {
		t.Errorf("obedient workers offered %.1f/s, want about 46", got)
	}
}

func TestOpenLoopLeavesWhenDue(t *testing.T) {
	w := &world{latency: int64(3 * time.Millisecond), limiter: limiterOf(t, "1M/s")}
	r := runIn(t, w, openLoop(200, 10*time.Second), nil)
	if r.Totals.Offered != 2000 || r.Totals.Dropped != 0 {
		t.Fatalf("%+v, want 2000 offered and none dropped", r.Totals)
	}
	for i, ev := range w.sent {
		if ev.Sent != ev.Due {
			t.Fatalf("attempt %d was due at %d and left at %d", i, ev.Due, ev.Sent)
		}
	}
}

// A machine that oversleeps makes arrivals late; it loses none, not even those
// due just before the end.
func TestOversleepingLosesNothing(t *testing.T) {
	w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s"), snooze: int64(35 * time.Millisecond)}
	r := runIn(t, w, openLoop(100, 2*time.Second), nil)
	if r.Totals.Offered != 200 || r.Totals.Dropped != 0 {
		t.Errorf("%+v, want 200 offered", r.Totals)
	}
}

// With two connections and answers after a second, two a second can leave of
// a hundred: the rest is dropped and said to be, never sent late in silence.
func TestArrivalsWithoutAConnectionAreDropped(t *testing.T) {
	w := &world{latency: int64(time.Second), room: 2, limiter: limiterOf(t, "1M/s")}
	r := runIn(t, w, openLoop(100, 10*time.Second), nil)
	if r.Totals.Planned != 1000 {
		t.Errorf("planned %d, want 1000", r.Totals.Planned)
	}
	if r.Totals.Offered > 24 || r.Totals.Dropped < 976 {
		t.Errorf("offered %d and dropped %d", r.Totals.Offered, r.Totals.Dropped)
	}
	if late := r.Sender.LateMS.Max; late > 1000.5 {
		t.Errorf("something left %.1f ms late, after it should have been dropped", late)
	}
}

func TestAttemptBudgetEndsTheRun(t *testing.T) {
	w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "10/s")}
	r := runIn(t, w, closedLoop(7, "storm", time.Hour, 0), func(c *Config) { c.MaxAttempts = 1000 })
	if r.Totals.Offered != 1000 {
		t.Errorf("offered %d, want the budget of 1000", r.Totals.Offered)
	}
}

func TestStopWaitsForAnswersAndCutDoesNot(t *testing.T) {
	for _, cut := range []bool{false, true} {
		w := &world{latency: int64(time.Second), limiter: limiterOf(t, "1M/s")}
		var e *Engine
		plan, err := Compile(openLoop(10, time.Minute), Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		c := report.NewCollector(report.Setup{})
		e, err = New(Config{Plan: plan, Senders: []Sender{w}, Shards: []*report.Shard{c.Shard()}, Clock: func() int64 { return w.now }, Targets: 1, DropAfter: time.Second, Grace: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		w.onPoll = func(now int64) {
			if now >= int64(5*time.Second) {
				if cut {
					e.Cut()
				} else {
					e.Stop()
				}
			}
		}
		if err := e.Run(); err != nil {
			t.Fatal(err)
		}
		tot := c.Finish(report.Meta{}).Totals
		if tot.Offered < 50 || tot.Offered > 52 {
			t.Errorf("cut %v: offered %d in five seconds at 10/s", cut, tot.Offered)
		}
		if (tot.InFlight > 0) != cut {
			t.Errorf("cut %v: %d in flight", cut, tot.InFlight)
		}
	}
}

// The same seed gives the same attempts whether one loop runs the clients or
// three do.
func TestLoopsShareOnePlan(t *testing.T) {
	type key struct {
		client uint32
		due    int64
		key    uint32
	}
	p := &profiles.Profile{Name: "mix", Duration: 20 * time.Second, Populations: []profiles.Population{
		{Name: "open", Clients: 30, Keys: profiles.Keys{Kind: profiles.KeyUniform, Count: 9, Prefix: "a-"}, Behaviour: "full-jitter:100ms,2s",
			Arrivals: profiles.Arrivals{Kind: profiles.Poisson, Rate: 50}},
		{Name: "closed", Clients: 12, Keys: profiles.Keys{Kind: profiles.KeyEach, Prefix: "b-"}, Behaviour: "give-up",
			Arrivals: profiles.Arrivals{Kind: profiles.Closed, Think: 300 * time.Millisecond, ThinkJitter: 0.5}},
	}}
	collect := func(loops int) map[key]int {
		plan, err := Compile(p, Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[key]int{}
		// Loops in virtual time cannot share a clock, so each runs by itself:
		// that is what splitting a plan means.
		for i := range loops {
			w := &world{latency: int64(5 * time.Millisecond), limiter: limiterOf(t, "1M/s")}
			c := report.NewCollector(report.Setup{})
			cfg := Config{Plan: plan, Seed: 7, Clock: func() int64 { return w.now }, Targets: 1, DropAfter: time.Second}
			for range loops {
				cfg.Senders, cfg.Shards = append(cfg.Senders, w), append(cfg.Shards, c.Shard())
			}
			e, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			e.loops[i].run()
			for _, ev := range w.sent {
				seen[key{ev.Client, ev.Due, ev.Key}]++
			}
		}
		return seen
	}
	one, three := collect(1), collect(3)
	if len(one) == 0 || len(one) != len(three) {
		t.Fatalf("%d attempts by one loop, %d by three", len(one), len(three))
	}
	for k, n := range one {
		if three[k] != n {
			t.Fatalf("%+v: %d by one loop, %d by three", k, n, three[k])
		}
	}
}

func TestPanicInALoopIsAnError(t *testing.T) {
	w := &world{limiter: limiterOf(t, "1/s"), onPoll: func(int64) { panic("sender broke") }}
	plan, err := Compile(openLoop(10, time.Second), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := report.NewCollector(report.Setup{})
	e, err := New(Config{Plan: plan, Senders: []Sender{w}, Shards: []*report.Shard{c.Shard()}, Clock: func() int64 { return w.now }, Targets: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(); err == nil {
		t.Fatal("a panic went unnoticed")
	}
}
