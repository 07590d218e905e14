package limit_test

import (
	"testing"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/limittest"
)

func build(tb testing.TB, spec limit.Spec) limit.Limiter {
	tb.Helper()
	l, err := spec.New()
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func TestLimiters(t *testing.T) {
	limittest.Run(t, limittest.Suite{New: func(tb testing.TB, spec limit.Spec) limittest.Taker {
		return limittest.FromLimiter(build(tb, spec))
	}})
}

func TestStore(t *testing.T) {
	limittest.Run(t, limittest.Suite{New: func(tb testing.TB, spec limit.Spec) limittest.Taker {
		return limittest.FromStore(limit.NewStore(build(tb, spec), limit.StoreOptions{}))
	}})
}

// The same from a clock of whole microseconds in 2026.
func TestStoreRealEpoch(t *testing.T) {
	limittest.Run(t, limittest.Suite{
		New: func(tb testing.TB, spec limit.Spec) limittest.Taker {
			return limittest.FromStore(limit.NewStore(build(tb, spec), limit.StoreOptions{}))
		},
		Grain: 1000,
		Epoch: 1_767_225_600_000_000_000,
	})
}

func BenchmarkStore(b *testing.B) {
	limittest.Benchmark(b, limittest.Suite{New: func(tb testing.TB, spec limit.Spec) limittest.Taker {
		return limittest.FromStore(limit.NewStore(build(tb, spec), limit.StoreOptions{}))
	}})
}
