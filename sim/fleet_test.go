package sim

import (
	"context"
	"testing"
)

func BenchmarkFleet(b *testing.B) {
	s, err := Open("fleet/scale", "duration=5s")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var o Outcome
		if err := s.Run(context.Background(), &o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(5e6*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
