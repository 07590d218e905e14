package redislimit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// TestDecisions compares random requests of one to four limits of random
// algorithms with the limiters of package limit, field by field.
// WEIR_TEST_DECISIONS is how many to make instead of the few of every day.
func TestDecisions(t *testing.T) {
	n := 0
	if text := os.Getenv("WEIR_TEST_DECISIONS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	count := func(usual int) int {
		if n > 0 {
			return n
		}
		return usual
	}
	t.Run("mini", func(t *testing.T) { compareDecisions(t, redistest.Mini(t).Client(t), count(5_000)) })
	t.Run("real", func(t *testing.T) { compareDecisions(t, redistest.Server(t).Client(t), count(50_000)) })
	t.Run("cluster", func(t *testing.T) { compareDecisions(t, redistest.Cluster(t, 3, 0).Client(t), count(20_000)) })
}

// model is one limit of one subject: where Redis keeps it, and the pure one.
type model struct {
	key   string
	rule  *Rule
	pure  limit.Limiter
	state limit.State
}

// take decides alone, on a copy.
func (m *model) take(now, cost int64) limit.Decision {
	s := m.state.Clone()
	return m.pure.Take(&s, now, cost)
}

// allOrNothing is what parts should be told: each limiter is asked, then all
// take or none does.
func allOrNothing(models []*model, now int64, costs []int64) (all bool, out []limit.Decision) {
	all, never := true, false
	for i, m := range models {
		d := m.take(now, costs[i])
		all, never = all && d.OK, never || d.RetryAfter == limit.Never
		out = append(out, d)
	}
	for i, m := range models {
		d := limit.Decision{}
		switch {
		case costs[i] <= 0 || never && len(models) > 1:
			d = m.take(now, 0)
		case all:
			d = m.pure.Take(&m.state, now, costs[i])
		default:
			// A cost above everything is refused and writes what a refusal does.
			d = m.pure.Take(&m.state, now, math.MaxInt64)
		}
		out[i].Remaining, out[i].ResetAfter = d.Remaining, inMicros(d.ResetAfter)
		out[i].RetryAfter, out[i].Delay = inMicros(out[i].RetryAfter), inMicros(out[i].Delay)
		if !all {
			out[i].Delay = 0
		}
	}
	return all, out
}

// inMicros rounds a wait up to whole microseconds.
func inMicros(d time.Duration) time.Duration {
	if d > 0 {
		d = (d + 999) / 1000 * 1000
	}
	return d
}

// randomSpec draws a limit that traffic of a few calls a second uses up now
// and then.
func randomSpec(r *rand.Rand) limit.Spec {
	algorithms := kept()
	s := limit.Spec{Algorithm: algorithms[r.IntN(len(algorithms))]}
	pers := []time.Duration{time.Second, time.Second, 7 * time.Second, time.Minute, 333 * time.Millisecond, time.Hour, 24 * time.Hour, time.Duration(1 + r.Int64N(1e10))}
	rate := limit.Rate{Units: 1 + r.Int64N(50), Per: pers[r.IntN(len(pers))]}
	size := 1 + r.Int64N(40)
	if r.IntN(10) == 0 {
		rate, size = limit.Rate{Units: 1 + r.Int64N(3e6), Per: time.Second}, 1+r.Int64N(1e9)
	}
	switch s.Algorithm {
	case limit.LeakyQueue:
		s.Rate, s.Queue = rate, size-1
	case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
		s.Rate, s.Burst = rate, size
	case limit.Concurrency:
		return randomSpec(r) // its slots are given back, not refilled
	default:
		s.Limit, s.Window = min(size, 1000), time.Duration(1+r.IntN(120))*500*time.Millisecond
	}
	return s
}

// pace is a clock that stands, walks, leaps, and at times steps back.
type pace struct{ now, high int64 }

func (p *pace) step(r *rand.Rand) int64 {
	switch r.IntN(20) {
	default:
	case 0, 1, 2, 3, 4, 5:
		p.now += r.Int64N(50e6)
	case 6, 7, 8:
		p.now += r.Int64N(2e9)
	case 9:
		p.now += r.Int64N(60e9)
	case 10:
		p.now = p.high - r.Int64N(5e9)
	case 11:
		p.now = p.high
	case 12:
		if r.IntN(50) == 0 {
			p.now += r.Int64N(48 * 3600e9)
		}
	}
	p.now -= p.now % 1000
	p.high = max(p.high, p.now)
	return p.now
}

// request is one check and what it should say.
type request struct {
	now   int64
	parts []Part
	cmd   *redis.Cmd
	all   bool
	want  []limit.Decision
}

func compareDecisions(t *testing.T, c redis.UniversalClient, n int) {
	const subjects, batch = 24, 500
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	models := make([][]*model, subjects)
	for i := range models {
		for j := range 6 {
			spec := randomSpec(r)
			pure, err := spec.New()
			if err != nil {
				t.Fatal(err)
			}
			rule, err := Compile(spec)
			if err != nil {
				t.Fatal(err)
			}
			models[i] = append(models[i], &model{key: fmt.Sprintf("rl:{s-%d}:r%d", i, j), rule: rule, pure: pure})
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	living, loaded := map[string]*Script{}, map[string]bool{}
	clock := pace{now: epoch, high: epoch}
	decisions, passed, several := 0, 0, 0
	for decisions < n {
		pipe := c.Pipeline()
		requests := make([]request, 0, batch)
		for range batch {
			q := request{now: clock.step(r)}
			subject := models[r.IntN(subjects)]
			var chosen []*model
			var costs []int64
			for _, j := range r.Perm(len(subject))[:1+r.IntN(4)] {
				m := subject[j]
				cost := randomCost(r, m.rule.most)
				chosen, costs = append(chosen, m), append(costs, cost)
				q.parts = append(q.parts, Part{Key: m.key, Rule: m.rule, Cost: cost})
			}
			q.all, q.want = allOrNothing(chosen, q.now, costs)
			s := living[scriptFor(q.parts).name]
			if s == nil {
				s = outlive(t, scriptFor(q.parts))
				living[scriptFor(q.parts).name] = s
			}
			if !loaded[s.sha] {
				loaded[s.sha] = true
				if err := loadEverywhere(ctx, c, s); err != nil {
					t.Fatal(err)
				}
			}
			keys, args := encode(nil, q.now, q.parts)
			q.cmd = pipe.EvalSha(ctx, s.sha, keys, args...)
			requests = append(requests, q)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		for i, q := range requests {
			reply, err := q.cmd.Result()
			if err != nil {
				t.Fatal(err)
			}
			a, err := decode(reply, q.parts)
			if err != nil {
				t.Fatal(err)
			}
			if a.OK != q.all || a.At != q.now || a.Unreadable != 0 {
				t.Fatalf("request %d of the batch at %d: %+v, want %v", i, q.now, a, q.all)
			}
			for j := range q.parts {
				if a.Parts[j] != q.want[j] {
					t.Fatalf("part %d of %d, %v, cost %d at %d:\n got %+v\nwant %+v", j, len(q.parts), q.parts[j].Rule.spec, q.parts[j].Cost, q.now, a.Parts[j], q.want[j])
				}
				decisions++
			}
			if a.OK {
				passed++
			}
			if len(q.parts) > 1 {
				several++
			}
		}
	}
	t.Logf("%d decisions, %d requests of several limits, %d requests passed", decisions, several, passed)
	if several < n/20 || passed < n/20 {
		t.Errorf("too few to prove anything")
	}
}

func randomCost(r *rand.Rand, most int64) int64 {
	switch r.IntN(20) {
	case 0, 1:
		return 1 + r.Int64N(most)
	case 2:
		return most
	case 3:
		return 0
	case 4:
		if r.IntN(4) == 0 {
			return []int64{most + 1, math.MaxInt64, -1, math.MinInt64}[r.IntN(4)]
		}
	}
	return min(most, 1+r.Int64N(1+most/10))
}

// loadEverywhere loads a script on every primary.
func loadEverywhere(ctx context.Context, c redis.UniversalClient, s *Script) error {
	if cluster, ok := c.(*redis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
			return c.ScriptLoad(ctx, s.source).Err()
		})
	}
	return c.ScriptLoad(ctx, s.source).Err()
}
