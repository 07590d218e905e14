package load

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/profiles"
)

// Whatever decodes either compiles or says why not, and its schedule keeps
// order and stays inside the run.
func FuzzCompile(f *testing.F) {
	for _, info := range profiles.Builtins() {
		f.Add(profiles.Source(info.Name), int64(1), int64(time.Minute), int64(anInstant))
	}
	f.Add([]byte("populations: [{name: a, clients: 10M, keys: {kind: zipf, count: 10M, s: 0.001}, arrivals: {kind: sine, rate: 10M/s, amplitude: 10M/s, period: 720h}}]"), int64(-1), int64(720*time.Hour), int64(-5))
	f.Fuzz(func(t *testing.T, data []byte, seed, duration, start int64) {
		p, err := profiles.Decode("fuzz.yaml", data)
		if err != nil {
			return
		}
		plan, err := Compile(p, Options{
			Seed: seed, Duration: time.Duration(duration), Start: start,
			ReadFile: func(string) ([]byte, error) { return []byte("0\n0.5,k-1,3\n7,x\n"), nil },
		})
		if err != nil {
			return
		}
		last := int64(0)
		s := plan.Schedule()
		for n := range uint64(2000) {
			slot, ok := s.Next()
			if !ok {
				break
			}
			if slot.N != n || slot.Due < last || slot.Due >= int64(plan.Duration) ||
				slot.Client >= plan.Clients || int(slot.Key) >= plan.NKeys() || slot.Cost == 0 {
				t.Fatalf("%+v after %d in a run of %v with %d keys", slot, last, plan.Duration, plan.NKeys())
			}
			last = slot.Due
		}
		for i := range plan.Populations {
			q := &plan.Populations[i]
			if q.Open {
				continue
			}
			for _, c := range []uint32{0, q.Clients / 2, q.Clients - 1} {
				if start := plan.ClosedStart(i, c); start < 0 || start > int64(q.Arrivals.Stagger) {
					t.Fatalf("client %d of %d starts at %d", c, q.Clients, start)
				}
				if think := plan.Think(i, q.First+c, 3); think < 0 || think > 2*int64(q.Arrivals.Think) {
					t.Fatalf("think time %d of %v", think, q.Arrivals.Think)
				}
			}
		}
	})
}
