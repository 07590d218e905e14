package redislimit

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
)

const manyTokens = "1000000000/s,burst=1000000"

// BenchmarkLonely is one caller who waits for each answer, beside the same
// EVALSHA through the bare client.
func BenchmarkLonely(b *testing.B) {
	c := redistest.Server(b).Client(b)
	p := part(b, "k", manyTokens, 1)
	for name, ctx := range map[string]context.Context{"store": context.Background(), "store, who may leave": b.Context()} {
		b.Run(name, func(b *testing.B) {
			s := storeOn(b, c, Options{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Take(ctx, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		script := scriptFor([]Part{p})
		ctx := context.Background()
		c.ScriptLoad(ctx, script.source)
		keys, args := encode(nil, storeTime, []Part{p})
		b.ReportAllocs()
		for b.Loop() {
			if err := c.(*redis.Client).Do(ctx, append([]any{"evalsha", script.sha, len(keys), keys[0]}, args...)...).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkTogether is many callers, who share pipelines.
func BenchmarkTogether(b *testing.B) {
	c := redistest.Server(b).Client(b)
	p := part(b, "k", manyTokens, 1)
	s := storeOn(b, c, Options{})
	before := s.Stats()
	b.SetParallelism(25)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			take(b, s, p)
		}
	})
	after := s.Stats()
	b.ReportMetric(float64(after.Commands-before.Commands)/float64(after.Pipelines-before.Pipelines), "checks/pipeline")
}
