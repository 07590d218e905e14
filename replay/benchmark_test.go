package replay

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redistest"
)

func TestBench(t *testing.T) {
	server := redistest.Server(t, "--requirepass", "p")
	c := server.Client(t).(*redis.Client)
	half := ownRun(t, spec(t, "10/s,burst=20")).Halves[0]
	b := &Bench{Client: c, Scripts: []Half{half}, Connections: []int{1, 3}, Pipelines: []int{1, 4}, Each: 30 * time.Millisecond, Keys: 50, Rate: 1_000_000_000, PlanKeys: 1_000_000}
	r, err := b.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 12 || len(r.Scripts) != 1 {
		t.Fatalf("%d rows and %d scripts", len(r.Rows), len(r.Scripts))
	}
	for _, row := range r.Rows {
		if row.Calls < int64(row.Pipeline*row.Connections) || row.Calls%int64(row.Pipeline) != 0 || row.Failed != 0 || row.PerS <= 0 || row.OfSet <= 0 || row.P99MS < row.P50MS {
			t.Errorf("%+v", row)
		}
	}
	s := r.Scripts[0]
	most := 0.0
	for _, row := range r.Rows {
		if row.What == s.Script && row.Pipeline == 1 {
			most = max(most, row.PerS, row.PerS/max(min(row.ServerCPU, 1), knownCPU))
		}
	}
	if s.CapacityPerS < s.BestPerS || s.CapacityPerS > most || s.Shards != int64(math.Ceil(float64(b.Rate)/(s.CapacityPerS/2))) {
		t.Errorf("%+v, and at most %v", s, most)
	}
	if s.BytesPerKey < 50 || s.BytesPerKey > 1000 || s.HotCalls == 0 || s.Shards < 100 || s.MemoryMB != s.BytesPerKey {
		t.Errorf("%+v", s)
	}
	if left := server.CLI("DBSIZE"); left != "0" {
		t.Errorf("%s keys were left behind", left)
	}
	// A script that never ends, or writes elsewhere, is not measured.
	for src, want := range map[string]string{"while true do end": "did not end", "return redis.call('INCR', 'elsewhere')": "outside of the scratch prefix: elsewhere"} {
		b.Scripts = []Half{{NewScript("x.lua", src), half.Map}}
		server.CLI("CONFIG", "SET", "busy-reply-threshold", "100")
		if _, err := b.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", src, err)
		}
		if left := server.CLI("DBSIZE"); left != "0" {
			t.Errorf("%s: %s keys were left behind", src, left)
		}
	}
	// Calls that fail are counted, and the first error kept.
	half.Map, _ = ParseMapping([]string{"KEYS[1]={key}"}, nil)
	b.Scripts, b.Connections, b.Pipelines = []Half{half}, []int{1}, []int{1}
	if r, err = b.Run(t.Context()); err == nil {
		t.Errorf("a script without its arguments gave %+v", r.Scripts)
	}
}

// What is sent together goes round the commands, however few there are.
func TestOrders(t *testing.T) {
	var commands []command
	want := ""
	for _, w := range []string{"a", "bb", "ccc"} {
		commands = append(commands, command{"GET", w})
		want += string(appendCommand(nil, command{"GET", w}))
	}
	for together := 1; together <= 7; together++ {
		l := newOrders(commands, together)
		got, at := "", 0
		for range 3 {
			var b []byte
			b, at = l.batch(at, together)
			got += string(b)
		}
		if got != strings.Repeat(want, together) || at != 0 {
			t.Errorf("%d together: %q, then from %d", together, got, at)
		}
	}
}

// A node that was not kept busy answers more than it was asked.
func TestCapacity(t *testing.T) {
	for _, tt := range []struct{ perS, cpu, want float64 }{{1000, 0.5, 2000}, {1000, 1, 1000}, {1000, 2.5, 1000}, {1000, 0, 1000}, {1000, 0.001, 1000}} {
		if got := (&BenchRow{PerS: tt.perS, ServerCPU: tt.cpu}).capacity(); got != tt.want {
			t.Errorf("%v a second at %v of a core is %v", tt.perS, tt.cpu, got)
		}
	}
}

func TestReplyLen(t *testing.T) {
	for text, want := range map[string]int{
		"+OK\r\n": 5, ":12\r\n": 5, "$-1\r\n": 5, "$3\r\nabc\r\n": 9, "*2\r\n:1\r\n$1\r\nx\r\n": 15, "*0\r\n": 4, "*-1\r\n": 5,
		"*1\r\n*2\r\n:1\r\n:2\r\n": 16, "-ERR x\r\n": 8,
	} {
		n, failed, err := replyLen([]byte(text + "+next\r\n"))
		if n != want || err != nil || failed != (text[0] == '-') {
			t.Errorf("%q is %d long, failed %v, %v", text, n, failed, err)
		}
		for i := range len(text) {
			if n, _, err := replyLen([]byte(text[:i])); n != 0 || err != nil {
				t.Errorf("%q of it is %d long, %v", text[:i], n, err)
			}
		}
	}
	for _, bad := range []string{"x\r\n", "$x\r\n", "*99999999999\r\n", "+OK\n"} {
		if _, _, err := replyLen([]byte(bad)); err == nil {
			t.Errorf("%q is RESP", bad)
		}
	}
}

func FuzzReplyLen(f *testing.F) {
	f.Add([]byte("*2\r\n:1\r\n$1\r\nx\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, _, err := replyLen(b); n < 0 || n > len(b) || err != nil && n != 0 {
			t.Fatalf("%q is %d long, %v", b, n, err)
		}
	})
}
