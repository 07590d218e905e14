package inspect

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// What a scan does with each key: find whose it is and decode it.
func BenchmarkIdentifyAndDecode(b *testing.B) {
	now := int64(1_795_978_030_880_559_000)
	told, err := limit.ParseSpec("10/s,burst=20")
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		entry Entry
	}{
		{"weir", Entry{Key: "rl:{k-7}:default", Type: "hash", TTL: 3 * time.Second, Fields: map[string]string{"n": "3500000", "g": "1000000", "t": "1795978030630559", "b": "20", "r": "10"}}},
		{"redis-rate", Entry{Key: "rate:user:42", Type: "string", TTL: time.Second, Text: []byte("312749231.58055902")}},
		{"nobody", Entry{Key: "session:42", Type: "string", TTL: time.Second, Text: []byte("text")}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			layouts := Builtin()
			b.ReportAllocs()
			for b.Loop() {
				found := Identify(&tt.entry, layouts, now)
				if len(found) == 0 {
					continue
				}
				if _, err := Decode(found[0].Layout, []Entry{tt.entry}, now, &told); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
