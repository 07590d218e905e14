package redislimit

import (
	"strconv"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
)

// Whatever stands in a bucket's fields, no more than a burst passes at once, no
// more than the rate brings after it, and the state that a call leaves is one.
func FuzzState(f *testing.F) {
	c := redistest.Mini(f).Client(f)
	names := []string{"n", "l", "a", "f", "g", "t", "b", "r"}
	const now = "1767225600000000"
	for letter := range uint8(4) {
		f.Add(letter, uint8(255), "20000000", "0", now, "0", "1000000", now, "20", "10")
		f.Add(letter, uint8(255), "9007199254740991", "1", "9007199254740991", "9", "3", "9007199254740991", "7", "1")
		f.Add(letter, uint8(255), "1", "9007199254740991", "0", "1", "9007199254740991", "0", "1", "9007199254740991")
		f.Add(letter, uint8(255), "1e5", "inf", "nan", "-1", "0", "", "x", "0x10")
		f.Add(letter, uint8(3), "1", "1", "1", "1", "1", "1", "1", "1")
		f.Add(letter, uint8(255), "1125899906842623", "7", now, "6", "1125899906842624", now, "8", "7")
	}
	f.Fuzz(func(t *testing.T, which, present uint8, n, l, a, fr, g, at, b, r string) {
		p := Part{Key: "rl:{fuzz}:k", Rule: compile(t, buckets[which%4].text), Cost: 1}
		state := map[string]string{}
		for i, text := range []string{n, l, a, fr, g, at, b, r} {
			if present>>i&1 == 1 {
				state[names[i]] = text
			}
		}
		put(t, c, p.Key, state)
		p.Cost = 0
		peek := mustCheck(t, c, epoch, p)
		p.Cost = 1
		passed := int64(0)
		for i := range 21 {
			d := mustCheck(t, c, epoch, p)
			if i == 0 && (d.OK != peek.OK || d.Unreadable != peek.Unreadable || len(state) == 0 && !d.OK) {
				t.Fatalf("a peek finds %+v and a call %+v", peek, d)
			}
			if i > 0 && d.Unreadable != 0 {
				t.Fatalf("what a call left cannot be read: %v", get(t, c, p.Key))
			}
			if d.OK {
				passed++
			}
		}
		if passed > 20 || passed != peek.Remaining {
			t.Fatalf("%d pass at once, a peek said %d", passed, peek.Remaining)
		}
		left := get(t, c, p.Key)
		for field := range buckets[which%4].state {
			if n, err := strconv.ParseUint(left[field], 10, 53); err != nil {
				t.Fatalf("%s=%q is left, which is %d: %v", field, left[field], n, err)
			}
		}
		// Nothing is left, and a tenth of a second brings one.
		p.Cost = 2
		if d := mustCheck(t, c, epoch+int64(100*time.Millisecond), p); d.OK || d.RetryAfter <= 0 {
			t.Fatalf("two pass after a token's time: %+v", d)
		}
	})
}
