package sim

import (
	"context"
	"reflect"
	"runtime"
	"testing"
)

// small is a fleet of three epochs.
var small = []string{"duration=6s", "requests=400k/s", "keys=20k", "shards=8", "gateways=30"}

func TestFleetIsTheSameOnAnyNumberOfCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first Outcome
	for _, cores := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(cores)
		s, err := Open("fleet/scale", small...)
		if err != nil {
			t.Fatal(err)
		}
		var o Outcome
		if err := s.Run(context.Background(), &o); err != nil {
			t.Fatal(err)
		}
		if cores == 1 {
			first = o
		} else if !reflect.DeepEqual(o, first) {
			t.Errorf("%d cores: %v\n1 core: %v", cores, o.Figures, first.Figures)
		}
	}
}

// A fleet of one key is what the sharded kind simulates, request by request.
func TestFleetOfOneKeyIsSharded(t *testing.T) {
	for _, leases := range []string{"true", "false"} {
		common := []string{"gateways=30", "requests=20k/s", "duration=7s", "leases=" + leases}
		one := figuresOf(t, "leases/refusal-cache", append(common, "rate=9000/s", "burst=12000")...)
		got := figuresOf(t, "fleet/scale", append(common, "keys=1", "shards=1", "tiers=[{rate: 9000/s, burst: 12000}]")...)
		for _, name := range []string{
			"requests", "admitted", "store_calls", "store_calls_granting", "store_calls_denied", "background_calls",
			"refused_by_cache", "max_store_calls_in_a_second", "tokens_granted", "worst_excess",
		} {
			if got[name] != one[name] {
				t.Errorf("leases %s: %s is %v in a fleet and %v alone", leases, name, got[name], one[name])
			}
		}
		if got["keys_refused"] != 1 || got["hottest_key_requests"] != got["requests"] {
			t.Errorf("leases %s: %v", leases, got)
		}
	}
}

func TestFleetFigures(t *testing.T) {
	with := figuresOf(t, "fleet/scale", small...)
	without := figuresOf(t, "fleet/scale-no-leases", small...)
	bare := figuresOf(t, "fleet/scale-no-cache", small...)
	expect(t, bare, map[string]float64{"requests": 2_400_000, "store_calls": 2_400_000, "refused_by_cache": 0})
	for _, got := range []map[string]float64{with, without, bare} {
		if got["store_calls"]+got["store_calls_saved"] != got["requests"] || got["admitted"]+got["refused"] != got["requests"] {
			t.Errorf("sums do not balance: %v", got)
		}
		if got["worst_excess"] > got["worst_excess_bound"] {
			t.Errorf("over by %v, at most %v", got["worst_excess"], got["worst_excess_bound"])
		}
		// What a key is short of, others cannot make up for.
		if got["admitted"]+got["requests_held_back"] < got["admitted_by_one_bucket_each"] {
			t.Errorf("held back %v, but admitted only %v of %v", got["requests_held_back"], got["admitted"], got["admitted_by_one_bucket_each"])
		}
	}
	if with["store_calls"] >= without["store_calls"] || without["store_calls"] >= bare["store_calls"] {
		t.Errorf("store calls %v with leases, %v without, %v without a cache", with["store_calls"], without["store_calls"], bare["store_calls"])
	}
}

// Dropping what no longer matters changes nothing but memory: a run with all
// keys kept gives the same.
func TestFleetForgetsOnlyWhatDoesNotMatter(t *testing.T) {
	p := fleetKind().New().(*fleet)
	p.Keys, p.Gateways, p.Tiers = 30_000, 3, []fleetTier{{Keys: 5, Rate: PerSecond(600), Burst: 60}, {Rate: PerSecond(3), Burst: 5}}
	rules, err := p.rules()
	if err != nil {
		t.Fatal(err)
	}
	forgets, keeps := fleetShard{rules: rules, cache: true}, fleetShard{rules: rules, cache: true}
	for key := range uint32(p.Keys) {
		keeps.find(key).told = true
	}
	keys := newZipf(p.Keys, 1)
	r := NewPyRandom(1)
	for j := range int64(200_000) {
		key := keys.draw(uint64(r.Randrange(1<<62)) << 2)
		forgets.request(key, j%3, Micros(j)*100)
		keeps.request(key, j%3, Micros(j)*100)
	}
	if forgets.keys.n >= keeps.keys.n {
		t.Errorf("%d keys of %d are kept", forgets.keys.n, keeps.keys.n)
	}
	if forgets.store != keeps.store || forgets.admitted != keeps.admitted || forgets.ideal != keeps.ideal || forgets.granted != keeps.granted {
		t.Errorf("forgetting gives %+v and %d admitted, keeping %+v and %d", forgets.store, forgets.admitted, keeps.store, keeps.admitted)
	}
	held := func(s *fleetShard) (under, over int64) {
		s.keys.each(func(_ uint64, k *fleetKey) {
			under += max(0, k.ideal-k.passed)
			over += max(0, k.worst-rules[k.tier].burst)
		})
		return
	}
	u1, o1 := held(&forgets)
	if u2, o2 := held(&keeps); u1 != u2 || o1 != o2 {
		t.Errorf("forgetting: %d under and %d over; keeping: %d and %d", u1, o1, u2, o2)
	}
}

func BenchmarkFleet(b *testing.B) {
	s, err := Open("fleet/scale", "duration=4s")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var o Outcome
		if err := s.Run(context.Background(), &o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(4e6*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
