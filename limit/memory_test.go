package limit_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/weir-cli/weir/limit"
)

var remembered = []string{
	"10/s,burst=20",
	"gcra:rate=10/s,burst=20",
	"fixed-window:limit=600,window=60s",
	"sliding-counter:limit=600,window=60s",
}

// fill stores n keys of 11 bytes and returns what each takes of the heap beyond
// those.
func fill(t testing.TB, text string, n int) (s *limit.Store, bytesPerKey float64) {
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what a pool or a finalizer held goes with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s = newStore(t, text, limit.StoreOptions{MaxKeys: n})
	key := make([]byte, 0, 11)
	for i := range n {
		key = strconv.AppendInt(append(key[:0], "key-"...), int64(1_000_000+i), 10)
		if d := s.TakeBytes(key, 0, 1); !d.OK {
			t.Fatalf("key %d: %+v", i, d)
		}
	}
	after := heap()
	if s.Len() != n {
		t.Fatalf("%d keys held of %d", s.Len(), n)
	}
	return s, float64(int64(after)-int64(before))/float64(n) - 11
}

func TestStoreMemoryPerKey(t *testing.T) {
	for _, text := range remembered {
		s, per := fill(t, text, 100_000)
		// 100,000 keys carry the fixed cost of the shards worst.
		if per > 96 {
			t.Errorf("%s: %.1f bytes a key", text, per)
		}
		runtime.KeepAlive(s)
	}
}

// BenchmarkStoreMemory reports bytes/key beyond the key at 1,000,000 keys; an
// op fills a store.
func BenchmarkStoreMemory(b *testing.B) {
	for _, text := range remembered {
		b.Run(text, func(b *testing.B) {
			const n = 1_000_000
			for b.Loop() {
				s, per := fill(b, text, n)
				b.ReportMetric(per, "bytes/key")
				runtime.KeepAlive(s)
			}
		})
	}
}
