package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weir-cli/weir/profiles"
)

var update = flag.Bool("update", false, "write golden files anew")

func builtinPlan(t testing.TB, name string, opt Options) *Plan {
	t.Helper()
	p, err := profiles.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, p, opt)
}

func walk(s Schedule) (out []Slot) {
	for slot, ok := s.Next(); ok; slot, ok = s.Next() {
		out = append(out, slot)
	}
	return out
}

// anInstant is a start of a run in the middle of a minute.
const anInstant = 1_700_000_000_123_456_789

func TestEveryBuiltinPlans(t *testing.T) {
	for _, info := range profiles.Builtins() {
		t.Run(info.Name, func(t *testing.T) {
			plan := builtinPlan(t, info.Name, Options{Seed: 3, Start: anInstant})
			all := walk(plan.Schedule())
			if uint64(len(all)) != plan.Planned() || !plan.PlannedExact() {
				t.Errorf("%d slots, planned %d", len(all), plan.Planned())
			}
			callers := map[uint32]uint64{}
			for i, s := range all {
				p := plan.Populations[s.Population]
				switch {
				case s.N != uint64(i):
					t.Fatalf("slot %d has number %d", i, s.N)
				case i > 0 && s.Due < all[i-1].Due:
					t.Fatalf("slot %d is due before the one before it", i)
				case s.Due < 0 || s.Due >= int64(plan.Duration):
					t.Fatalf("slot %d is due at %d, outside the run", i, s.Due)
				case s.Client < p.First || s.Client-p.First >= p.Clients:
					t.Fatalf("slot %d is client %d's, not of population %s", i, s.Client, p.Name)
				case int(s.Key) >= plan.NKeys() || s.Cost < 1 || int(s.Route) >= len(plan.Routes):
					t.Fatalf("slot %d: %+v", i, s)
				case p.NewCallers && callers[s.Client] > 0:
					t.Fatalf("slot %d: client %d is not new", i, s.Client)
				}
				callers[s.Client]++
			}
			again := walk(builtinPlan(t, info.Name, Options{Seed: 3, Start: anInstant}).Schedule())
			if !slices.Equal(all, again) {
				t.Error("the same seed gives another plan")
			}
		})
	}
}

func TestSplittingLosesNothing(t *testing.T) {
	for _, name := range []string{"mixed", "noisy-neighbour", "poisson", "page-load", "slow-leak"} {
		plan := builtinPlan(t, name, Options{Seed: 9})
		whole := walk(plan.Schedule())
		for _, k := range []uint32{1, 2, 3, 7} {
			var parts []Slot
			for part := range k {
				for _, s := range walk(plan.SchedulePart(part, k)) {
					if s.Client%k != part {
						t.Fatalf("%s: client %d in part %d of %d", name, s.Client, part, k)
					}
					parts = append(parts, s)
				}
			}
			sort.Slice(parts, func(i, j int) bool { return parts[i].N < parts[j].N })
			if !slices.Equal(whole, parts) {
				t.Errorf("%s split %d ways is another plan", name, k)
			}
		}
	}
}

// The schedule draws exactly what Draw says for the caller's call, which is
// what a closed loop asks for.
func TestSlotsAreDrawnByClientAndCall(t *testing.T) {
	plan := builtinPlan(t, "mixed", Options{Seed: 5})
	calls := map[uint32]uint64{}
	drawn := 0
	for _, s := range walk(plan.Schedule()) {
		p := plan.Populations[s.Population]
		if p.Arrivals.Kind == profiles.Burst {
			continue // a burst skips numbers when it is not full
		}
		key, cost, route := plan.Draw(int(s.Population), s.Client, calls[s.Client])
		if key != s.Key || cost != s.Cost || route != s.Route {
			t.Fatalf("slot %d is %+v, drawn %d %d %d", s.N, s, key, cost, route)
		}
		calls[s.Client]++
		drawn++
	}
	if drawn < 1000 {
		t.Fatalf("only %d compared", drawn)
	}
}

func TestABurstIsOneCallers(t *testing.T) {
	plan := builtinPlan(t, "page-load", Options{Seed: 1})
	sizes := map[int64]int{}
	callers := map[int64]uint32{}
	for _, s := range walk(plan.Schedule()) {
		if c, ok := callers[s.Due]; ok && c != s.Client {
			t.Fatalf("clients %d and %d in the burst at %d", c, s.Client, s.Due)
		}
		callers[s.Due] = s.Client
		sizes[s.Due]++
	}
	seen := map[int]bool{}
	for at, n := range sizes {
		if n < 10 || n > 15 || at%(500*milli) != 0 {
			t.Errorf("%d calls at %v", n, time.Duration(at))
		}
		seen[n] = true
	}
	if len(sizes) != 120 || len(seen) != 6 {
		t.Errorf("%d bursts of sizes %v", len(sizes), seen)
	}
}

func TestWindowEdgeStraddlesOneWholeEdge(t *testing.T) {
	const minute = 60 * second
	for phase := int64(0); phase < minute; phase += 777 * milli {
		start := anInstant/minute*minute + phase
		plan := builtinPlan(t, "window-edge", Options{Start: start})
		windows := map[int64]int{}
		for _, due := range dues(plan) {
			windows[(start+due)/minute]++
		}
		whole := 0
		for w, n := range windows {
			if n == 600 && windows[w+1] >= 600 {
				whole++
			}
		}
		if whole == 0 {
			t.Errorf("started %v into a minute: calls per minute %v", time.Duration(phase), windows)
		}
	}
}

func TestClosedLoop(t *testing.T) {
	p := &profiles.Profile{Name: "t", Duration: time.Minute, Populations: []profiles.Population{
		{Name: "calm", Clients: 4, Keys: profiles.Keys{Kind: profiles.KeyEach}, Arrivals: profiles.Arrivals{Kind: profiles.Closed, Think: time.Second, Stagger: 2 * time.Second}},
		{Name: "nervous", Clients: 3, Keys: profiles.Keys{Kind: profiles.OneKey}, Arrivals: profiles.Arrivals{Kind: profiles.Closed, Think: time.Second, ThinkJitter: 0.5}},
	}}
	plan := compile(t, p, Options{Seed: 1})
	for i, want := range []int64{0, 500, 1000, 1500} {
		if got := plan.ClosedStart(0, uint32(i)); got != want*milli {
			t.Errorf("client %d starts at %d", i, got)
		}
	}
	if got := plan.Think(0, 2, 7); got != second {
		t.Errorf("think time %d", got)
	}
	var sum float64
	for call := range uint64(10_000) {
		d := plan.Think(1, 5, call)
		if d < second/2 || d > 3*second/2 || d != plan.Think(1, 5, call) {
			t.Fatalf("think time %d after call %d", d, call)
		}
		sum += float64(d) / 10_000
	}
	if math.Abs(sum-1e9) > 1e7 {
		t.Errorf("mean think time %.0f ns", sum)
	}
	if _, ok := plan.Schedule().Next(); ok || plan.Planned() != 0 {
		t.Error("a closed loop has a schedule")
	}
}

func TestMixesKeepTheirWeights(t *testing.T) {
	p := one(profiles.Arrivals{Kind: profiles.Constant, Rate: 10}, 5)
	p.Populations[0].Cost = []profiles.Cost{{Cost: 1, Weight: 3}, {Cost: 10, Weight: 1}}
	p.Populations[0].Routes = []profiles.Route{{Path: "/a", Weight: 0.2}, {Method: "POST", Path: "/b", Weight: 0.7}, {Path: "/dear", Weight: 0.1, Cost: 50}}
	plan := compile(t, p, Options{Seed: 2})
	const n = 100_000
	costs, routes := map[uint32]float64{}, map[string]float64{}
	for call := range uint64(n) {
		_, cost, route := plan.Draw(0, uint32(call%5), call/5)
		name := plan.Routes[route].String()
		routes[name] += 1. / n
		if (name == "/dear") != (cost == 50) {
			t.Fatalf("%s at cost %d", name, cost)
		}
		costs[cost] += 1. / n
	}
	for name, want := range map[string]float64{"/a": 0.2, "POST /b": 0.7, "/dear": 0.1} {
		if math.Abs(routes[name]-want) > 0.01 {
			t.Errorf("route %s in %.3f of calls, want %.3f", name, routes[name], want)
		}
	}
	for cost, want := range map[uint32]float64{1: 0.9 * 0.75, 10: 0.9 * 0.25, 50: 0.1} {
		if math.Abs(costs[cost]-want) > 0.01 {
			t.Errorf("cost %d in %.3f of calls, want %.3f", cost, costs[cost], want)
		}
	}
}

// files is a ReadFile over texts.
func files(texts map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
}

func TestTrace(t *testing.T) {
	p := one(profiles.Arrivals{Kind: profiles.Trace, File: "calls.csv"}, 2)
	plan := compile(t, p, Options{ReadFile: files(map[string]string{
		"calls.csv": "seconds,key,cost\n# morning\n0,alice\n0.25,bob,3\n\n0.25\n1e0,k-1,2\n99,late\n",
	})})
	var got []string
	for _, s := range walk(plan.Schedule()) {
		got = append(got, fmt.Sprint(s.Due/milli, " ", s.Client, " ", plan.KeyName(s.Key), " ", s.Cost))
	}
	want := []string{"0 0 alice 1", "250 1 bob 3", "250 0 k-1 1", "1000 1 k-1 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if plan.Planned() != 4 || plan.NKeys() != 4 { // k-1, alice, bob, late
		t.Errorf("planned %d, keys %d", plan.Planned(), plan.NKeys())
	}
}

func TestWhatGivesNoPlan(t *testing.T) {
	trace := func(text string) (*profiles.Profile, Options) {
		return one(profiles.Arrivals{Kind: profiles.Trace, File: "t.csv"}, 1), Options{ReadFile: files(map[string]string{"t.csv": text})}
	}
	keys := func(text string) (*profiles.Profile, Options) {
		p := one(profiles.Arrivals{Kind: profiles.Constant, Rate: 1}, 1)
		p.Populations[0].Keys = profiles.Keys{Kind: profiles.KeyFile, File: "k"}
		return p, Options{ReadFile: files(map[string]string{"k": text})}
	}
	open := func(a profiles.Arrivals, d time.Duration) (*profiles.Profile, Options) {
		return one(a, 0), Options{Duration: d}
	}
	for _, tt := range []struct {
		want string
		make func() (*profiles.Profile, Options)
	}{
		{`t.csv:2: "1.5" is before the time on the line above`, func() (*profiles.Profile, Options) { return trace("2\n1.5\n") }},
		{`t.csv:1: "soon" is not a time`, func() (*profiles.Profile, Options) { return trace("soon\n") }},
		{`t.csv:1: "-1" is not a time`, func() (*profiles.Profile, Options) { return trace("-1\n") }},
		{`t.csv:1: "NaN" is not a time`, func() (*profiles.Profile, Options) { return trace("NaN") }},
		{`t.csv:3: "0" is not a cost`, func() (*profiles.Profile, Options) { return trace("1\n2\n3,,0\n") }},
		{`t.csv:1: 4 fields`, func() (*profiles.Profile, Options) { return trace("1,a,1,x\n") }},
		{`t.csv:1: the key has 300 bytes; the most is 256`, func() (*profiles.Profile, Options) { return trace("1," + strings.Repeat("k", 300)) }},
		{`t.csv: no call in the trace`, func() (*profiles.Profile, Options) { return trace("# nothing\n") }},
		{`no call is due in a run of 10s`, func() (*profiles.Profile, Options) { return trace("11\n") }},
		{`k:2: the key has a control character (U+0007)`, func() (*profiles.Profile, Options) { return keys("a\nb\ac\n") }},
		{`k:1: the key is not UTF-8`, func() (*profiles.Profile, Options) { return keys("\xff") }},
		{`k: no key in the file`, func() (*profiles.Profile, Options) { return keys("\n") }},
		{`open k: file does not exist`, func() (*profiles.Profile, Options) {
			p, _ := keys("")
			return p, Options{ReadFile: files(nil)}
		}},
		{`needs the file "k", and files are not read here`, func() (*profiles.Profile, Options) {
			p, _ := keys("")
			return p, Options{}
		}},
		{`the spike comes at 20s, and the run ends after 10s`, func() (*profiles.Profile, Options) {
			return open(profiles.Arrivals{Kind: profiles.Spike, To: 9, At: 20 * time.Second, For: time.Second}, 10*time.Second)
		}},
		{`the first edge comes at 1m0s, and the run ends after 10s`, func() (*profiles.Profile, Options) {
			return open(profiles.Arrivals{Kind: profiles.Edge, Count: 1, Period: time.Minute, Spread: time.Second}, 10*time.Second)
		}},
		{`up to 8640000000000 callers in one run`, func() (*profiles.Profile, Options) {
			return open(profiles.Arrivals{Kind: profiles.Constant, Rate: 1e7}, 240*time.Hour)
		}},
		{`a run of 8760h0m0s`, func() (*profiles.Profile, Options) {
			return open(profiles.Arrivals{Kind: profiles.Constant, Rate: 1}, 8760*time.Hour)
		}},
		{`behaviour`, func() (*profiles.Profile, Options) {
			p := one(profiles.Arrivals{Kind: profiles.Constant, Rate: 1}, 1)
			p.Populations[0].Behaviour = "storrm"
			return p, Options{}
		}},
		{`the key prefixes "k-" and "k-1" give the same names to different keys`, func() (*profiles.Profile, Options) {
			p := one(profiles.Arrivals{Kind: profiles.Constant, Rate: 1}, 1)
			q := p.Populations[0]
			q.Name, q.Keys = "q", profiles.Keys{Kind: profiles.OneKey, Prefix: "k-1"}
			p.Populations = append(p.Populations, q)
			return p, Options{}
		}},
		{`population "p": arrivals.rate "0/s" sends nothing`, func() (*profiles.Profile, Options) {
			return open(profiles.Arrivals{Kind: profiles.Constant}, time.Second)
		}},
	} {
		p, opt := tt.make()
		plan, err := Compile(p, opt)
		if err == nil || plan != nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
			continue
		}
		var file *FileError
		var whole *PlanError
		var checked *profiles.Error
		var behaviour *BehaviourError
		if !errors.As(err, &file) && !errors.As(err, &whole) && !errors.As(err, &checked) && !errors.As(err, &behaviour) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("untyped: %v", err)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, name := range []string{"mixed", "retry-storm", "poisson", "window-edge", "step"} {
		t.Run(name, func(t *testing.T) {
			plan := builtinPlan(t, name, Options{Seed: 1, Start: anInstant})
			var b bytes.Buffer
			if err := plan.Describe(&b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "plan", name+".txt")
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutlineIsJSONWithoutSecrets(t *testing.T) {
	p := one(profiles.Arrivals{Kind: profiles.Constant, Rate: 1}, 1)
	p.Populations[0].Keys = profiles.Keys{Kind: profiles.KeyFile, File: "k"}
	plan := compile(t, p, Options{ReadFile: files(map[string]string{"k": "sk-very-secret\n"})})
	if plan.KeyName(0) != "sk-very-secret" {
		t.Errorf("key %q", plan.KeyName(0))
	}
	text, err := json.Marshal(plan.Outline(20))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("secret")) || !bytes.Contains(text, []byte(`"key":"key#`)) {
		t.Errorf("the outline is %s", text)
	}
	var back Outline
	if err := json.Unmarshal(text, &back); err != nil || back.Planned != 10 || len(back.First) != 10 {
		t.Errorf("%v: %+v", err, back)
	}
}

func TestPlannedBeyondCountingIsTheMean(t *testing.T) {
	plan := compile(t, one(profiles.Arrivals{Kind: profiles.Poisson, Rate: 100_000}, 1), Options{Duration: time.Hour})
	if plan.Planned() != 360_000_000 || plan.PlannedExact() {
		t.Errorf("planned %d, exact %v", plan.Planned(), plan.PlannedExact())
	}
	plan = compile(t, one(profiles.Arrivals{Kind: profiles.Constant, Rate: 1e6}, 1), Options{Duration: time.Hour})
	if plan.Planned() != 3_600_000_000 || !plan.PlannedExact() {
		t.Errorf("planned %d, exact %v", plan.Planned(), plan.PlannedExact())
	}
}
