package redislimit

import (
	"strings"
	"testing"

	"github.com/weir-cli/weir/internal/redistest"
)

func TestKey(t *testing.T) {
	long := strings.Repeat("k", 201)
	for _, tt := range []struct{ prefix, subject, rule, want string }{
		{"", "k-7", "requests", "rl:{k-7}:requests"},
		{"weir", "k-7", "requests", "weir:{k-7}:requests"},
		{"", "", "all", "rl:{-}:all"},
		{"", "-", "all", "rl:{%2D}:all"},
		{"", "a}{b", "x", "rl:{a%7D%7Bb}:x"},
		{"", "100%", "x", "rl:{100%25}:x"},
		{"", "a b\n\x7f~", "x", "rl:{a%20b%0A%7F%7E}:x"},
		{"", "é\xff\u202e", "x", "rl:{é%FF%E2%80%AE}:x"},
		{"", "2001:db8::/64", "x", "rl:{2001:db8::/64}:x"},
		{"", strings.Repeat("k", 200), "x", "rl:{" + strings.Repeat("k", 200) + "}:x"},
		{"", long, "x", "rl:{" + long[:32] + "~" + strings.Repeat("0", 64) + "}:x"},
	} {
		got := Key(tt.prefix, tt.subject, tt.rule)
		if len(tt.subject) > maxSubject { // the digest is SHA-256's business
			at := strings.Index(got, "~") + 1
			if at == 0 || len(got) != len(tt.want) || got[:at] != tt.want[:at] {
				t.Errorf("Key of %d bytes = %s", len(tt.subject), got)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("Key(%q, %q, %q) = %s, want %s", tt.prefix, tt.subject, tt.rule, got, tt.want)
		}
	}
}

// A subject is somebody's input: whatever it is, it must not reach another's
// key, leave its own slot, or write over several lines of a screen.
func FuzzKey(f *testing.F) {
	f.Add("k-7", "k-8")
	f.Add("", "-")
	f.Add("a{", "a%7B")
	f.Add(strings.Repeat("k", 201), strings.Repeat("k", 202))
	f.Fuzz(func(t *testing.T, a, b string) {
		ka, kb := Key("", a, "r"), Key("", b, "r")
		if (a == b) != (ka == kb) {
			t.Fatalf("%q and %q share %s", a, b, ka)
		}
		if slotOf(ka) != slotOf(Key("", a, "other")) {
			t.Fatalf("%q: two rules are in two slots", a)
		}
		if strings.Count(ka, "{") != 1 || strings.Count(ka, "}") != 1 || clean(ka) != ka && len(ka) <= maxErrorText || len(ka) > 3*maxSubject+20 {
			t.Fatalf("%q has the key %q", a, ka)
		}
	})
}

func TestSlotOf(t *testing.T) {
	c := redistest.Cluster(t, 3, 0)
	for _, key := range []string{"", "foo", "123456789", "rl:{k-7}:requests", "{}", "{}a", "a{b", "a}b{c}", "{{a}}", "é"} {
		if got, want := slotOf(key), c.Slot(key); got != want {
			t.Errorf("slot of %q is %d, the cluster says %d", key, got, want)
		}
	}
}
