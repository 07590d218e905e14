package replay

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// However the calls fall into batches, the result is that of deciding one
// after the other, up to the line that ends it.
func TestShadowReadsAhead(t *testing.T) {
	for _, n := range []int{0, 1, batchCalls - 1, batchCalls, batchCalls + 1, 2*batchCalls + 7} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d.5,%s-%d\n", i/9, strings.Repeat("key", i%40), i%3)
		}
		l, err := spec(t, "1/s,burst=2").New()
		if err != nil {
			t.Fatal(err)
		}
		states, offered, refused := map[string]*limit.State{}, map[string]int64{}, map[string]int64{}
		var all int64
		for src := open(t, b.String(), Options{Format: "csv"}); ; {
			var c Call
			if src.Next(&c) != nil {
				break
			}
			key := string(c.Key)
			if states[key] == nil {
				states[key] = &limit.State{}
			}
			offered[key]++
			if !l.Take(states[key], c.At, c.Cost).OK {
				refused[key]++
				all++
			}
		}
		for _, end := range []string{"", "broken", "cut"} {
			if n == 0 && end != "" {
				continue // a header, and a trace that cannot be opened
			}
			var text io.Reader = strings.NewReader(b.String() + end)
			if end == "cut" {
				text = io.MultiReader(strings.NewReader(b.String()), iotest.ErrReader(io.ErrUnexpectedEOF))
			}
			src, err := Open(text, Options{Format: "csv", Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			r, err := (&Shadow{Limit: spec(t, "1/s,burst=2")}).Run(t.Context(), src)
			if (err != nil) != (end != "") || r.Interrupted != (end != "") {
				t.Errorf("%d calls and %q: %v, interrupted %t", n, end, err, r.Interrupted)
			}
			if r.Totals.Offered != int64(n) || r.Totals.Refused != all || r.Replay.Trace.Calls != int64(n) {
				t.Errorf("%d calls and %q: %d offered and %d refused of %d", n, end, r.Totals.Offered, r.Totals.Refused, all)
			}
			for _, k := range r.Replay.Refused {
				if k.Offered != offered[k.Key] || k.Refused != refused[k.Key] {
					t.Errorf("%d calls: %+v, want %d and %d", n, k, offered[k.Key], refused[k.Key])
				}
			}
		}
	}
}

// manyKeys is an access log in which keys differ from line to line.
func manyKeys(lines, keys int) string {
	var b strings.Builder
	x := uint64(1)
	for i := range lines {
		x = x*6364136223846793005 + 1442695040888963407
		u := float64(x>>11) / (1 << 53)
		k := int(u * u * u * float64(keys))
		s := i / 200
		fmt.Fprintf(&b, "10.%d.%d.%d - - [01/Jan/2026:%02d:%02d:%02d +0000] \"GET /v1/items/%d HTTP/1.1\" 200 512 \"-\" \"okhttp/4.12\"\n",
			k>>16, k>>8&255, k&255, s/3600, s/60%60, s%60, i)
	}
	return b.String()
}

// BenchmarkShadowKeys is an access log of a million lines through a limit in
// memory.
func BenchmarkShadowKeys(b *testing.B) {
	const lines = 1 << 20
	for _, keys := range []int{100, 5_000, 100_000} {
		text := manyKeys(lines, keys)
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			s := Shadow{Limit: spec(b, "10/s,burst=20"), Promise: &report.Promise{Text: "10/s,burst=20", Units: 10, Per: 1e9, Burst: 20}}
			b.ReportAllocs()
			for b.Loop() {
				r, err := s.Run(b.Context(), open(b, text, Options{}))
				if err != nil || r.Totals.Offered != lines {
					b.Fatal(r.Totals.Offered, err)
				}
			}
			b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
