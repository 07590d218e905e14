package gateway

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
)

// Every style reaches the wire whole, and says nothing that it does not claim.
func TestStyles(t *testing.T) {
	for _, name := range dialect.Styles() {
		style, err := dialect.ParseStyle(name)
		if err != nil {
			t.Fatal(err)
		}
		f := started(t, Config{Limit: spec(t, "fixed-window:limit=1,window=1h"), Dialect: style})
		got := storm(t, f, "k", 1, 2)
		if len(got.header) != 1 {
			t.Fatalf("%s: %v", name, got)
		}
		want := style.Append(nil, dialect.State{Limit: 1, RetryAfter: time.Second, Window: time.Hour})
		for _, p := range want {
			v := got.header[0].Values(p.Name)
			if len(v) != 1 || v[0] == "" {
				t.Errorf("%s: %s is %q", name, p.Name, v)
			}
		}
		for h := range got.header[0] {
			spoken := h == "Retry-After" || strings.Contains(h, "Ratelimit")
			if spoken && !slices.ContainsFunc(want, func(p dialect.Pair) bool { return http.CanonicalHeaderKey(p.Name) == h }) {
				t.Errorf("%s: says %s as well", name, h)
			}
		}
		if ct := got.header[0].Get("Content-Type"); ct != "application/problem+json" {
			t.Errorf("%s: a refusal is %q", name, ct)
		}
	}
}

func TestWindowOf(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10/s,burst=20":                    2 * time.Second,
		"gcra:rate=1/m,burst=5":            5 * time.Minute,
		"fixed-window:limit=600,window=1m": time.Minute,
		"leaky-queue:rate=10/s,queue=9":    time.Second,
		"concurrency:limit=3":              0,
	} {
		if got := windowOf(spec(t, text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A wait that is no wait stays unsaid, rounded or not.
func TestNoWaitIsNotSaid(t *testing.T) {
	for _, down := range []bool{false, true} {
		v := newVoice(Config{Wrong: Wrong{RetryAfterDown: down}})
		for _, wait := range []time.Duration{limit.Never, limit.Unknown} {
			u := &underRules{}
			u.add(t, "default", "1/s,burst=1", limit.Decision{RetryAfter: wait})
			if s := said(&v, u, wait); s == "" || strings.Contains(s, "Retry-After") {
				t.Errorf("down %t: %v became %q", down, wait, s)
			}
		}
	}
}
