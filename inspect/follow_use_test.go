package inspect

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
)

// Where reading counts as a use, what is followed is not said to be in use by
// whoever follows it.
func TestFollowerIsNoUse(t *testing.T) {
	r := redistest.Server(t)
	c := r.Client(t)
	if err := c.Set(t.Context(), "rate:k-1", float64(time.Now().Unix()-1483228800)+0.5, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	reader := NewReader(c, ReaderOptions{})
	f, _, err := Follow(t.Context(), reader, Query{Keys: []string{"rate:k-1"}, Layouts: Builtin()})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		x, _, err := f.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if idle := x.Entries[0].Idle; reader.touches() && idle != Unknown {
			t.Errorf("idle for %v, by the reader's own reads", idle)
		}
	}
}
