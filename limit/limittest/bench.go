package limittest

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// Benchmark measures a decision on one hot key, on a thousand keys in turn,
// and on one key from all processors at once, for every algorithm. Time runs
// at a microsecond a call, so calls pass and are refused in turn.
func Benchmark(b *testing.B, s Suite) {
	for _, a := range s.algorithms() {
		spec := mustParse(b, specs[a][0])
		b.Run(a.String()+"/hot", func(b *testing.B) {
			m := s.make(b, spec)
			now := s.Epoch
			b.ReportAllocs()
			for b.Loop() {
				now += 1000
				m.take("key-0000001", now, 1)
			}
		})
		b.Run(a.String()+"/1000-keys", func(b *testing.B) {
			m := s.make(b, spec)
			keys := make([]string, 1000)
			for i := range keys {
				keys[i] = fmt.Sprintf("key-%07d", i)
			}
			now, i := s.Epoch, 0
			b.ReportAllocs()
			for b.Loop() {
				now += 1000
				if i++; i == len(keys) {
					i = 0
				}
				m.take(keys[i], now, 1)
			}
		})
		b.Run(a.String()+"/parallel", func(b *testing.B) {
			m := s.make(b, spec)
			var clock atomic.Int64
			clock.Store(s.Epoch)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					m.take("key-0000001", clock.Add(1000), 1)
				}
			})
		})
	}
}
