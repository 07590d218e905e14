package load

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/weir-cli/weir/profiles"
)

// one is a profile of one open population.
func one(a profiles.Arrivals, clients int) *profiles.Profile {
	return &profiles.Profile{Name: "t", Duration: 10 * time.Second, Populations: []profiles.Population{{
		Name: "p", Clients: clients, Arrivals: a, Keys: profiles.Keys{Kind: profiles.OneKey},
	}}}
}

func compile(t testing.TB, p *profiles.Profile, opt Options) *Plan {
	t.Helper()
	plan, err := Compile(p, opt)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func dues(plan *Plan) []int64 {
	var out []int64
	for s := plan.Schedule(); ; {
		slot, ok := s.Next()
		if !ok {
			return out
		}
		out = append(out, slot.Due)
	}
}

const milli = int64(time.Millisecond)

func TestDueTimes(t *testing.T) {
	a := func(k profiles.ArrivalKind) profiles.Arrivals { return profiles.Arrivals{Kind: k} }
	with := func(k profiles.ArrivalKind, f func(*profiles.Arrivals)) profiles.Arrivals {
		v := a(k)
		f(&v)
		return v
	}
	for _, tt := range []struct {
		name    string
		arrive  profiles.Arrivals
		clients int
		run     time.Duration
		start   int64
		want    []int64 // the first due times, ms
		count   int
	}{
		{"four a second", with(profiles.Constant, func(a *profiles.Arrivals) { a.Rate = 4 }),
			1, time.Second, 0, []int64{0, 250, 500, 750}, 4},
		{"one and a half a second", with(profiles.Constant, func(a *profiles.Arrivals) { a.Rate = 1.5 }),
			1, 3 * time.Second, 0, []int64{0, 666, 1333, 2000, 2666}, 5},
		{"a ramp from nothing: t = sqrt(2i/slope)", with(profiles.Ramp, func(a *profiles.Arrivals) { a.To = 2 }),
			1, 4 * time.Second, 0, []int64{0, 2000, 2828, 3464}, 4},
		{"a ramp down to nothing", with(profiles.Ramp, func(a *profiles.Arrivals) { a.Rate = 2 }),
			1, 4 * time.Second, 0, []int64{0, 535, 1171, 2000}, 4},
		{"a pause holds no call", with(profiles.Step, func(a *profiles.Arrivals) {
			a.Steps = []profiles.StepOf{{Rate: 0, For: time.Second}, {Rate: 2, For: time.Second}, {Rate: 0, For: time.Second}, {Rate: 4, For: time.Second}}
		}), 1, 4 * time.Second, 0, []int64{1000, 1500, 3000, 3250, 3500, 3750}, 6},
		{"the last plateau lasts to the end", with(profiles.Step, func(a *profiles.Arrivals) {
			a.Steps = []profiles.StepOf{{Rate: 1, For: time.Second}, {Rate: 2, For: time.Second}}
		}), 1, 3 * time.Second, 0, []int64{0, 1000, 1500, 2000, 2500}, 5},
		{"a spike", with(profiles.Spike, func(a *profiles.Arrivals) { a.Rate, a.To, a.At, a.For = 1, 4, time.Second, time.Second }),
			1, 4 * time.Second, 0, []int64{0, 1000, 1250, 1500, 1750, 2000, 3000}, 7},
		{"a burst at once, every second", with(profiles.Burst, func(a *profiles.Arrivals) { a.Min, a.Max, a.Period = 3, 3, time.Second }),
			1, 2 * time.Second, 0, []int64{0, 0, 0, 1000, 1000, 1000}, 6},
		{"a burst on the wall clock", with(profiles.Burst, func(a *profiles.Arrivals) { a.Min, a.Max, a.Period, a.Aligned = 1, 1, time.Second, true }),
			1, 3 * time.Second, 7*second + 400*milli, []int64{600, 1600, 2600}, 3},
		{"two calls each side of an edge since the start", with(profiles.Edge, func(a *profiles.Arrivals) { a.Count, a.Period, a.Spread = 2, time.Second, 100*time.Millisecond }),
			1, 3 * time.Second, 0, []int64{900, 950, 1000, 1050, 1900, 1950, 2000, 2050, 2900, 2950}, 10},
		{"on the wall clock: an edge too near the start is left out whole", with(profiles.Edge, func(a *profiles.Arrivals) {
			a.Count, a.Period, a.Spread, a.Aligned = 2, time.Second, 100*time.Millisecond, true
		}), 1, 2 * time.Second, 950 * milli, []int64{950, 1000, 1050, 1100, 1950}, 5},
		{"two clients, each just before its expiry", with(profiles.Expiry, func(a *profiles.Arrivals) {
			a.Period, a.Lead, a.Stagger = time.Second, 10*time.Millisecond, 200*time.Millisecond
		}), 2, 3 * time.Second, 0, []int64{0, 100, 990, 1090, 1990, 2090, 2990}, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := compile(t, one(tt.arrive, tt.clients), Options{Duration: tt.run, Start: tt.start})
			got := dues(plan)
			if len(got) != tt.count || plan.Planned() != uint64(tt.count) {
				t.Errorf("%d calls, planned %d; want %d", len(got), plan.Planned(), tt.count)
			}
			for i, want := range tt.want {
				if i < len(got) && got[i]/milli != want {
					t.Errorf("call %d is due at %v, want %dms", i, time.Duration(got[i]), want)
				}
			}
		})
	}
}

// rates are processes with a known integral over a run of s seconds.
var rates = []struct {
	name     string
	a        profiles.Arrivals
	integral func(s float64) float64
}{
	{"constant", profiles.Arrivals{Kind: profiles.Constant, Rate: 7}, func(s float64) float64 { return 7 * s }},
	{"constant, a third", profiles.Arrivals{Kind: profiles.Constant, Rate: 1. / 3}, func(s float64) float64 { return s / 3 }},
	{"constant, fast", profiles.Arrivals{Kind: profiles.Constant, Rate: 12345.678}, func(s float64) float64 { return 12345.678 * s }},
	{"ramp up", profiles.Arrivals{Kind: profiles.Ramp, Rate: 3, To: 90}, func(s float64) float64 { return 93 * s / 2 }},
	{"ramp down", profiles.Arrivals{Kind: profiles.Ramp, Rate: 90, To: 0}, func(s float64) float64 { return 45 * s }},
	{"step", profiles.Arrivals{Kind: profiles.Step, Steps: []profiles.StepOf{{Rate: 10, For: time.Second}, {Rate: 0, For: time.Second}, {Rate: 33.3, For: time.Second}}},
		func(s float64) float64 { return 10*min(s, 1) + 33.3*max(0, s-2) }},
	{"spike", profiles.Arrivals{Kind: profiles.Spike, Rate: 5, To: 500, At: time.Second, For: 300 * time.Millisecond},
		func(s float64) float64 { return 5*s + 495*max(0, min(s-1, 0.3)) }},
	{"sine", profiles.Arrivals{Kind: profiles.Sine, Rate: 50, Amplitude: 50, Period: 2500 * time.Millisecond},
		func(s float64) float64 { return 50*s + 50*2.5/(2*math.Pi)*(1-math.Cos(2*math.Pi*s/2.5)) }},
	{"sine, fast", profiles.Arrivals{Kind: profiles.Sine, Rate: 20000, Amplitude: 15000, Period: 700 * time.Millisecond},
		func(s float64) float64 {
			return 20000*s + 15000*0.7/(2*math.Pi)*(1-math.Cos(2*math.Pi*s/0.7))
		}},
}

func TestCountIsTheIntegral(t *testing.T) {
	for _, tt := range rates {
		for _, run := range []time.Duration{1700 * time.Millisecond, 4 * time.Second, 7123 * time.Millisecond} {
			t.Run(fmt.Sprint(tt.name, " ", run), func(t *testing.T) {
				got := dues(compile(t, one(tt.a, 1), Options{Duration: run}))
				want := tt.integral(run.Seconds())
				if math.Abs(float64(len(got))-want) > 1 {
					t.Errorf("%d calls, the integral is %.3f", len(got), want)
				}
				// Each call is due where the integral says, within the nanosecond that
				// due times are cut to and a rounding on either side.
				for i, due := range got {
					if i > 0 && due < got[i-1] {
						t.Fatalf("call %d is due before the one before it", i)
					}
					if tt.a.Kind == profiles.Ramp {
						continue // its integral depends on the run
					}
					lo, hi := tt.integral(float64(due-1)/1e9), tt.integral(float64(due+2)/1e9)
					if float64(i) < lo-1e-6 || float64(i) > hi+1e-6 {
						t.Fatalf("call %d is due at %d ns, where the integral is %v to %v", i, due, lo, hi)
					}
				}
			})
		}
	}
}

// gapCV is the coefficient of variation of the gaps between due times.
func gapCV(due []int64) float64 {
	var sum, squares float64
	n := float64(len(due) - 1)
	for i := 1; i < len(due); i++ {
		g := float64(due[i] - due[i-1])
		sum += g
		squares += g * g
	}
	mean := sum / n
	return math.Sqrt(squares/n-mean*mean) / mean
}

func TestGapsHaveTheShapeTheyClaim(t *testing.T) {
	constant := dues(compile(t, one(profiles.Arrivals{Kind: profiles.Constant, Rate: 200}, 1), Options{Duration: 100 * time.Second}))
	if cv := gapCV(constant); cv > 0.001 {
		t.Errorf("constant: coefficient of variation %v", cv)
	}
	for seed := range int64(5) {
		got := dues(compile(t, one(profiles.Arrivals{Kind: profiles.Poisson, Rate: 200}, 1), Options{Duration: 100 * time.Second, Seed: seed}))
		if cv := gapCV(got); math.Abs(cv-1) > 0.05 {
			t.Errorf("poisson, seed %d: coefficient of variation %v", seed, cv)
		}
		if off := math.Abs(float64(len(got))-20000) / math.Sqrt(20000); off > 4 {
			t.Errorf("poisson, seed %d: %d calls, %.1f standard deviations from 20000", seed, len(got), off)
		}
	}
}

func TestNoDriftInALongRun(t *testing.T) {
	// 30 days at 40,000/s, far beyond what a float holds exactly.
	e := even{40_000}
	if got, want := e.at(40_000*30*86400+1), 30*86400*second+25_000; got != want {
		t.Errorf("at %d, want %d", got, want)
	}
	e = even{7}
	for i := uint64(0); i < 7_000_000_000; i += 123_456_789 {
		if got, want := e.at(i), mulDiv(i, second, 7); got != want {
			t.Fatalf("call %d at %d, want %d", i, got, want)
		}
	}
}

func TestSineLateInALongRun(t *testing.T) {
	s := sine{rate: 1000, amplitude: 1000, period: 3}
	last := int64(0)
	for i := uint64(2_592_000_000) - 20_000; i < 2_592_000_000; i++ { // 30 days
		due := s.at(i)
		if calls, _ := s.both(float64(due) / 1e9); math.Abs(calls-float64(i)) > 1e-3 || due < last-1000 {
			t.Fatalf("call %d is due at %d, where the integral is %f", i, due, calls)
		}
		last = due
	}
}

func FuzzTrace(f *testing.F) {
	for _, seed := range []string{"0\n1\n", "seconds,key,cost\n0.5,a,2\n", "# x\n\n1e3,,7", "2\n1", "\xef\xbb\xbf0,k\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := parseTrace("t.csv", data)
		if err != nil {
			if e, ok := err.(*FileError); !ok || e.Msg == "" || rows != nil && e.Line == 0 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		last := int64(0)
		for _, r := range rows {
			if r.due < last || len(r.key) > maxKeyName || r.cost > maxCost {
				t.Fatalf("%+v after %d", r, last)
			}
			last = r.due
		}
	})
}
