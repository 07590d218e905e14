package sim

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// runRegions runs a scenario of the library.
func runRegions(t *testing.T, name string, sets ...string) map[string]float64 {
	t.Helper()
	s, err := Open("regions/"+name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	var o Outcome
	if err := s.Run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range o.Figures {
		got[f.Name] = f.Value
		if s.Kind.Explain(f.Name) == nil {
			t.Errorf("%s: figure %s is not listed", name, f.Name)
		}
	}
	return got
}

const absent = math.MaxFloat64

// Demands 7,200, 3,600, 1,200 of 10,000 with floors of 500 begin with shares
// of 5,600, 3,050 and 1,350. The figures are those of a second, separate
// program that takes every step by itself.
func TestRegionFigures(t *testing.T) {
	tests := []struct {
		name string
		sets []string
		want map[string]float64
	}{
		{"move", nil, map[string]float64{
			"highest_sum_of_shares": 10_000, "lowest_sum_of_shares": 8101.87969924812, "share_seconds_below_limit": 14210.601503759399,
			"largest_excess": 2_700, "busiest_second": 12_700, "settled_s": 18.3, "conservation_violations": 0, "bound_exceeded_at_s": absent,
		}},
		{"move-same", nil, map[string]float64{
			"highest_sum_of_shares": 10_000, "lowest_sum_of_shares": 7_450, "share_seconds_below_limit": 23_250, "settled_s": 25, "conservation_violations": 0,
		}},
		{"move-jump", nil, map[string]float64{
			"highest_sum_of_shares": 11898.12030075188, "lowest_sum_of_shares": 10_000, "largest_excess": 8_480, "settled_s": 11.7, "conservation_violations": 680,
		}},
		{"move-jump-same", nil, map[string]float64{"highest_sum_of_shares": 12_550, "largest_excess": 15_450, "settled_s": 10}},
		{"race", nil, map[string]float64{
			"highest_sum_of_shares": 10_000, "lowest_sum_of_shares": 72_200.0 / 13, "share_seconds_below_limit": 755_000.0 / 13, "settled_s": 30,
		}},
		{"race", []string{"offsets=0s,1.7s,3.3s"}, map[string]float64{"lowest_sum_of_shares": 5812.017167381974, "settled_s": 23.3}},
		{"race-jump", nil, map[string]float64{"highest_sum_of_shares": 136_800.0 / 13, "largest_excess": 30_006.0 / 13}},
		{"lost", nil, map[string]float64{
			"reclaim_of_b_by_a_s": 330, "reclaim_of_b_by_c_s": 333.3, "highest_sum_of_shares": 10_000, "highest_sum_of_shares_with_lost": 12_200,
			"admitted_in_last_second": 10_000, "settled_s": 370, "conservation_violations": 0,
		}},
		{"lost-silence", nil, map[string]float64{
			"reclaim_of_b_by_c_s": 313.3, "reclaim_of_b_by_a_s": 315, "share_seconds_below_limit": 47870.6015037594,
			"lowest_sum_of_shares_with_lost": 8101.87969924812, "share_seconds_below_limit_with_lost": 14210.601503759399,
			"admitted_in_second_1": 12_700, "admitted_in_second_300": 10_000, "admitted_in_second_301": 7_800,
		}},
		{"lost-freeze", nil, map[string]float64{"reclaims": 0, "admitted_in_last_second": 7_800, "settled_s": absent, "conservation_violations": 0}},
		{"cut-off", nil, map[string]float64{"reclaims": 0, "admitted_in_last_second": 10_000, "bound_exceeded_at_s": absent}},
		{"cut-off-freeze", nil, map[string]float64{"reclaims": 0, "admitted_in_last_second": 10_000}},
		{"cut-off-silence", nil, map[string]float64{
			"reclaim_of_a_by_b_s": 311.7, "reclaim_of_b_by_c_s": 313.3, "reclaim_of_b_by_a_s": 315, "reclaim_of_c_by_b_s": 316.7,
			"highest_sum_of_shares": 20_000, "busiest_second": 13_600, "admitted_in_last_second": 13_600,
			"bound_exceeded_at_s": 319.58, "bound_exceeded_after_s": 7.88, "largest_excess": 1_029_490, "conservation_violations": 0,
		}},
		{"cut-off-half", nil, map[string]float64{"highest_sum_of_shares": 16_100, "admitted_in_last_second": 13_600, "settled_s": absent}},
		// The target of a Region alone is the limit, whatever the floor.
		{"move", []string{"demands=5000", "offsets=0s", "changes=[{at: 0s, region: A, demand: 20000}]"}, map[string]float64{
			"highest_sum_of_shares": 10_000, "final_share_a": 10_000, "largest_excess": 20_000, "settled_s": 0,
		}},
		{"move", []string{"changes=[]", "duration=5s"}, map[string]float64{"share_seconds_below_limit": 0, "admitted": 49_250, "settled_s": 0}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(append([]string{tt.name}, tt.sets...), " "), func(t *testing.T) {
			got := runRegions(t, tt.name, tt.sets...)
			for name, want := range tt.want {
				v, ok := got[name]
				if ok != (want != absent) || ok && math.Abs(v-want) > 1e-9*want {
					t.Errorf("%s is %v (there: %v), want %v", name, v, ok, want)
				}
			}
		})
	}
}

func TestRegionSearch(t *testing.T) {
	got := runRegions(t, "search", "duration=60s")
	for name, want := range map[string]float64{
		"runs": 108, "grants_move_runs_above_limit": 0, "grants_race_runs_above_limit": 0,
		"grants_move_highest_sum_of_shares": 10_000, "grants_race_highest_sum_of_shares": 10_000,
		"grants_move_conservation_violations": 0, "grants_race_conservation_violations": 0,
		"jump_move_highest_sum_of_shares": 12_550, "jump_race_highest_sum_of_shares": 14542.079452054794,
		"jump_race_highest_with_offset_a_s": 3.3, "jump_race_highest_with_offset_b_s": 0, "jump_race_highest_with_offset_c_s": 0,
	} {
		if v, ok := got[name]; !ok || math.Abs(v-want) > 1e-9*want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
}

// Whatever the schedule, the demands, the offsets and the faults, named
// grants conserve the limit at every step and their shares never exceed it
// unless something was reclaimed.
func TestRegionsConserve(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := newRegions()
		n := 1 + r.IntN(4)
		at := func(least, most int64) Micros { return Micros(least+r.Int64N(most-least+1)) * p.Step }
		p.Duration = at(200, 700)
		p.Rebalance, p.ReadDelay, p.Averaging = at(20, 150), at(0, 100), at(1, 300)
		p.Demands, p.Offsets = regionRates(make([]int64, n)...), make([]Micros, n)
		for i := range n {
			p.Demands[i].Units = r.Int64N(12_000)
			p.Offsets[i] = at(0, 150)
		}
		for range r.IntN(5) {
			p.Changes = append(p.Changes, regionChange{at(0, 500), regionName(r.IntN(n)), regionRates(r.Int64N(12_000))[0]})
		}
		if n > 1 {
			p.Fault = regionFault{[]string{faultLost, faultCutOff}[r.IntN(2)], []string{regionName(r.IntN(n))}, at(0, 300)}
			p.Reclaim.Rule = []string{"freeze", "two-signals", "silence"}[r.IntN(3)]
			p.Reclaim.Silent, p.Reclaim.HealthDelay = 1+r.IntN(3), at(0, 200)
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		w := newRegionRun(p)
		if err := w.run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		m := w.measure
		if m.violations != 0 || m.checks != int64(p.Duration/p.Step) {
			t.Fatalf("seed %d: %d of %d steps violate conservation", seed, m.violations, m.checks)
		}
		if len(m.reclaims) == 0 && m.highest.sum.Cmp(m.limit) > 0 {
			t.Fatalf("seed %d: shares sum to %s", seed, m.highest.sum)
		}
	}
}

// The measures take runs of steps; step by step they come to the same.
func TestRegionMeasures(t *testing.T) {
	const step = Second / 10
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		perStep := big.NewRat(10, 1)
		excess, window := newRegionExcess(perStep), newRegionWindow(Second, step)
		bound := regionBound{from: 20 * step, margin: big.NewRat(r.Int64N(60), 1), over: new(big.Rat)}
		var steps []int64
		for len(steps) < 80 {
			k, each := 1+r.Int64N(15), r.Int64N(21)
			if from := 20 - len(steps); from > 0 {
				k = min(k, int64(from))
			}
			at := Micros(len(steps)) * step
			excess.add(at, k, big.NewRat(each, 1), step)
			window.add(at, k, big.NewRat(each, 1))
			bound.add(at, k, big.NewRat(each-10, 1), step)
			for range k {
				steps = append(steps, each)
			}
		}
		var best, busiest, over int64
		broken := -1
		for i := range steps {
			sum, most := int64(0), int64(0)
			for k := i; k < len(steps); k++ {
				sum += steps[k] - 10
				best = max(best, sum)
				if most += steps[k]; k == i+9 {
					busiest = max(busiest, most)
				}
			}
			if i >= 20 && broken < 0 {
				if over += steps[i] - 10; big.NewRat(over, 1).Cmp(bound.margin) > 0 {
					broken = i + 1
				}
			}
		}
		sum := int64(0)
		for k := excess.bestFrom / step; k < excess.bestTo/step; k++ {
			sum += steps[k] - 10
		}
		if excess.best.Cmp(big.NewRat(best, 1)) != 0 || sum != best {
			t.Errorf("seed %d: excess %s, want %d; its interval has %d", seed, excess.best, best, sum)
		}
		if window.best.Cmp(big.NewRat(busiest, 1)) != 0 {
			t.Errorf("seed %d: busiest second %s, want %d", seed, window.best, busiest)
		}
		if bound.broken != (broken > 0) || bound.broken && bound.at != Micros(broken)*step {
			t.Errorf("seed %d: bound broken at %s (%v), want step %d", seed, bound.at, bound.broken, broken)
		}
	}
}

func TestRegionColumns(t *testing.T) {
	s, err := Open("regions/cut-off-silence", "duration=320.5s")
	if err != nil {
		t.Fatal(err)
	}
	var o Outcome
	if err := s.Run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	columns := map[string][]float64{}
	for _, c := range o.Series {
		columns[c.Name] = c.Values
		if len(c.Values) != 321 || c.From != 0 || c.Step != 1 {
			t.Errorf("%s: %d values from %v by %v", c.Name, len(c.Values), c.From, c.Step)
		}
	}
	for _, tt := range []struct {
		name   string
		second int
		want   float64
	}{
		{"admitted", 0, 12_700}, {"admitted", 200, 10_000}, {"admitted", 320, 6_800},
		{"admitted_b", 320, 1_800}, {"sum_of_shares", 300, 10_000}, {"share_c", 300, 3_900},
		{"highest_sum_of_shares", 311, 11_000}, {"sum_of_shares", 311, 10_000},
	} {
		if got := columns[tt.name]; len(got) <= tt.second || got[tt.second] != tt.want {
			t.Errorf("%s in second %d is not %v", tt.name, tt.second, tt.want)
		}
	}
}

func TestRegionInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := newRegions()
	var o Outcome
	o.Progress = func(f float64) {
		if f > 0.5 {
			cancel()
		}
	}
	p.Duration = 2_000 * Second
	if err := p.Run(ctx, &o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, f := range o.Figures {
		if f.Name == "conservation_checks" && f.Value > 1_000*100 && f.Value < 2_000*100 {
			return
		}
	}
	t.Errorf("half a run reports %v", o.Figures)
}

func TestRegionParamErrors(t *testing.T) {
	tests := []struct{ scenario, set, want string }{
		{"move", "floor=3334", "floor: 3334/s for each of 3 Regions is above the limit, 10000/s"},
		{"move", "limit=1400", "floor: 500/s"},
		{"move", "limit=0", "limit: must be above zero"},
		{"move", "limit=-5", "limit"},
		{"move", "demands=1,2", "offsets: has 3 entries for 2"},
		{"move", "demands=", "demands: has 0 entries"},
		{"move", "max_raise=0", "max_raise"},
		{"move", "design=hope", `design: "hope"`},
		{"move", "step=7ms", "step: 7ms does not divide"},
		{"move", "step=0s", "step: 0s"},
		{"move", "offsets[1]=1.705s", "offsets[1]: 1.705s is not a whole number of steps"},
		{"move", "offsets[1]=-1s", "offsets[1]: -1s is less"},
		{"move", "rebalance=0s", "rebalance"},
		{"move", "duration=100000h", "duration"},
		{"move", "duration=0s", "duration"},
		{"move", "averaging=0s", "averaging"},
		{"move", "read_delay=-1s", "read_delay"},
		{"move", "bucket=-1s", "bucket"},
		{"move", "within=101%", "within"},
		{"move", "within=1e999999999%", "within"},
		{"move", "bound_from=300s", "bound_from"},
		{"move", "bound_margin=-1", "bound_margin"},
		{"move", "changes[0].region=D", `changes[0].region: "D" is no Region`},
		{"move", "changes[0].at=1ms", "changes[0].at"},
		{"move", "fault.regions=[B]", "fault.kind: is none"},
		{"lost", "fault.kind=tired", "fault.kind"},
		{"lost", "fault.regions=A,B,C", "fault.regions: names 3 of 3"},
		{"lost", "fault.regions=B,B", "fault.regions[1]: B is named twice"},
		{"lost", "fault.regions=Z", "fault.regions[0]"},
		{"lost", "reclaim.rule=hope", "reclaim.rule"},
		{"lost", "reclaim.silent=0", "reclaim.silent"},
		{"lost", "reclaim.part=2", "reclaim.part"},
		{"lost", "reclaim.health_delay=-1s", "reclaim.health_delay"},
		{"search", "choices=", "choices: is empty"},
		{"search", "designs=grants,grants", "designs[1]"},
		{"search", "cases=[]", "cases: is empty"},
		{"search", "cases[0].name=A B", "cases[0].name"},
		{"search", "cases[1].name=move", "cases[1].name"},
		{"search", "cases[0].changes[0].region=Q", "cases[0].changes[0].region"},
		{"search", "demands=1,1,1,1,1,1,1,1,1,1,1,1", "choices: give more than 100000 runs"},
	}
	for _, tt := range tests {
		_, err := Open("regions/"+tt.scenario, tt.set)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("--set %s: %v, want %s", tt.set, err, tt.want)
		}
	}
}

func BenchmarkRegions(b *testing.B) {
	s, err := Open("regions/move")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Run(context.Background(), &Outcome{}); err != nil {
			b.Fatal(err)
		}
	}
}
