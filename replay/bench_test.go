package replay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// stormTrace is one key at 400 a second.
func stormTrace(calls int) string {
	var b strings.Builder
	for i := range calls {
		fmt.Fprintf(&b, "%d.%04d,k-1\n", i/400, i%400*25)
	}
	return b.String()
}

// BenchmarkVirtual is a call of weir's own token bucket on the embedded store.
func BenchmarkVirtual(b *testing.B) {
	spec, err := limit.ParseSpec("10/s,burst=20")
	if err != nil {
		b.Fatal(err)
	}
	r := ownRun(b, spec)
	src, err := Open(strings.NewReader(stormTrace(b.N)), Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := newSession(r)
	if err := s.load(context.Background()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.inOrder(context.Background(), src); err != nil {
		b.Fatal(err)
	}
}

func ownRun(t testing.TB, spec limit.Spec) *Run {
	t.Helper()
	script, maps, meaning, err := Own(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseMapping(maps, &spec)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &Run{Halves: []Half{{script, m}}, Store: e, Meaning: meaning, Timeout: 10 * time.Second, Limit: &spec, Against: &spec}
}
