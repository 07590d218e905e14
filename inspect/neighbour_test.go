package inspect

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
)

// The names that are made up for one customer may be another's: those are not
// given for his.
func TestLookDoesNotTakeANeighbour(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := r.Client(t)
		for key, value := range map[string]string{"rl:k-77": "5", "k-71": "3", "k-72": "hello", "rl:k-9": "hello", "limit1": "abcdefghij0123456789"} {
			if err := c.Set(t.Context(), key, value, time.Minute).Err(); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range []struct {
			id              string
			found, stranger string
		}{
			{"k-7", "", ""},
			{"rl:k-7", "", ""},
			{"k-77", "rl:k-77", ""},
			{"k-9", "", "rl:k-9"},
			{"limit", "limit1", ""},
		} {
			s, err := Look(t.Context(), NewReader(c, ReaderOptions{}), Query{Keys: []string{x.id}, Layouts: Builtin()})
			if err != nil {
				t.Fatal(err)
			}
			found, stranger := "", ""
			for _, r := range s.Readings {
				found += r.Entries[0].Key
			}
			for _, e := range s.Strangers {
				stranger += e.Key
			}
			if found != x.found || stranger != x.stranger {
				t.Errorf("%s: found %q, and %q that no layout fits", x.id, found, stranger)
			}
		}
	})
}
