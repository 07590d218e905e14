package report

import (
	"encoding/json"
	"testing"
)

// What is fed comes to the same result as what a shard merges.
func TestFeedIsAShard(t *testing.T) {
	const keys = 40
	w := world{clients: 200, length: 20 * sec, latency: 60 * msec, jitter: 30 * msec, byKey: true,
		gates: gates(keys, func() gate { return bucket(3, 5) }), key: func(c int) uint32 { return uint32(c*c) % keys }, back: obey, tell: roundUp}
	evs := w.run()
	for _, p := range []*Promise{nil, {Text: "3/s,burst=5", Units: 3, Per: sec, Burst: 5}, {Text: "2 in 1s", Limit: 2, Window: sec}} {
		s := Setup{Promise: p}
		want := run(s, evs)
		if want.Totals.Refused == 0 || want.RetryAfter.Obeyed == 0 || p != nil && p.Limit > 0 && want.Verdict == Held {
			t.Fatalf("a dull run: %+v, %s", want.Totals, want.Verdict)
		}
		for _, size := range []int{1, 64, 1000, len(evs)} {
			c := NewCollector(s)
			for rest := evs; len(rest) > 0; {
				n := min(size, len(rest))
				c.Feed(rest[:n])
				rest = rest[n:]
			}
			c.Feed(nil)
			a, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(c.Finish(Meta{Source: "sim", Name: "test"}))
			if err != nil {
				t.Fatal(err)
			}
			if string(a) != string(b) {
				t.Errorf("%v in pieces of %d:\n%s\nwant\n%s", p, size, b, a)
			}
		}
	}
}
