package sim

import (
	"context"
	"testing"
)

// benchmark runs a scenario for b.N decisions in all, without a document.
func benchmark(b *testing.B, name string, sets ...string) {
	s, err := Open(name, sets...)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	calls := 0.0
	for b.Loop() {
		var o Outcome
		if err := s.Run(context.Background(), &o); err != nil {
			b.Fatal(err)
		}
		for _, f := range o.Figures {
			if f.Name == "calls" || f.Name == "requests" {
				calls += f.Value
			}
		}
	}
	b.ReportMetric(calls/b.Elapsed().Seconds()/1e6, "Mdecisions/s")
}

func BenchmarkCentralBucket(b *testing.B) { benchmark(b, "freshbox/central-bucket") }
func BenchmarkLocalCounters(b *testing.B) { benchmark(b, "freshbox/local-counters") }
func BenchmarkGCRA(b *testing.B) {
	benchmark(b, "freshbox/gcra", "beside_bucket=false")
}
func BenchmarkSlidingCounter(b *testing.B) { benchmark(b, "freshbox/sliding-counter") }
func BenchmarkStoreOutage(b *testing.B)    { benchmark(b, "freshbox/store-outage") }
func BenchmarkClosedLoop(b *testing.B)     { benchmark(b, "freshbox/shipped-client") }

// A storm of 20 million calls: memory must not grow with it.
func BenchmarkLongStorm(b *testing.B) {
	benchmark(b, "freshbox/central-bucket", "storm_rate=1000000/s", "storm_for=20s")
}

// The same trace with the whole document.
func BenchmarkDocument(b *testing.B) {
	s, err := Open("freshbox/central-bucket")
	if err != nil {
		b.Fatal(err)
	}
	calls := 0.0
	for b.Loop() {
		r, err := s.Result(context.Background(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		calls += float64(r.Totals.Offered)
	}
	b.ReportMetric(calls/b.Elapsed().Seconds()/1e6, "Mdecisions/s")
}
