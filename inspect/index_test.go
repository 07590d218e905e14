package inspect

import (
	"testing"

	"github.com/weir-cli/weir/limit"
)

// An index finds what trying every layout finds, for every state that is known
// and under every other state's name.
func TestIndexAgreesWithIdentify(t *testing.T) {
	index := NewIndex(Builtin())
	told := limit.Spec{Algorithm: limit.SlidingLog, Limit: 5, Window: 60e9}
	var keys []string
	var all []Entry
	readFixtures(t, func(t *testing.T, _ *Layout, f *fixture) {
		for _, e := range f.entries(t) {
			keys, all = append(keys, e.Key), append(all, e)
		}
	})
	found := 0
	for _, e := range all {
		for _, key := range keys {
			e.Key = key
			for _, spec := range []*limit.Spec{nil, &told} {
				want := Identify(&e, Builtin(), e.At)
				got, ok := index.Best(&e, spec)
				if ok != (len(want) > 0) {
					t.Fatalf("%s as %s: found %v, want %d", key, e.Type, ok, len(want))
				}
				if !ok {
					continue
				}
				found++
				if best := preferred(want, spec); got.Layout != best.Layout || got.Sure != best.Sure || got.Role != best.Role {
					t.Fatalf("%s as %s: %s (%s), want %s (%s)", key, e.Type, got.Layout.Name, got.Sure, best.Layout.Name, best.Sure)
				}
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d were found at all", found)
	}
}

func BenchmarkIndexBest(b *testing.B) {
	index := NewIndex(Builtin())
	now := int64(1_790_000_000e9)
	e := Entry{Key: "rate:user:123456", Type: "string", TTL: 1e9, Idle: Unknown, Bytes: 90, At: now, Slot: -1, Text: []byte("306748799.123456")}
	bucket := &limit.Spec{Algorithm: limit.TokenBucket, Rate: limit.Rate{Units: 10, Per: 1e9}, Burst: 20}
	for name, told := range map[string]*limit.Spec{"untold": nil, "told": bucket} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c, ok := index.Best(&e, told)
				if !ok {
					b.Fatal("not found")
				}
				if _, err := Decode(c.Layout, []Entry{e}, now, told); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The short way to match a name gives what the regular expression gives.
func TestPatternShortWay(t *testing.T) {
	keys := []string{"", "a", "rate:", "rate:x", "rate:x:y", "x:rate:", "rate:\n\xff", "rate:end", "rate:x:end", "ratend", ":end"}
	for _, form := range []string{"rate:<id>", "<id>", "<id>:end", "rate:<id>:end", "rate:<id:word>", "rate", "rate:<id>:<rule>"} {
		p, err := ParsePattern(form)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			found := p.match.FindStringSubmatch(key)
			values, ok := p.Match(key)
			if ok != (found != nil) {
				t.Errorf("%s on %q: %v", form, key, ok)
			}
			if ok && len(found) > 1 && values["id"] != found[1] {
				t.Errorf("%s on %q: %q, want %q", form, key, values["id"], found[1])
			}
		}
	}
}
