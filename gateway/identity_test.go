package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// keysIn writes a file of keys.
func keysIn(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func identityOf(t testing.TB, c Config) *identity {
	t.Helper()
	c, err := c.checked()
	if err != nil {
		t.Fatal(err)
	}
	id, err := newIdentity(c)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestIdentity(t *testing.T) {
	id := identityOf(t, Config{Limit: spec(t, "1/s,burst=1"), KeysFile: keysIn(t, "alpha gold acme\nbeta -\n"), Unknown: spec(t, "2/h,burst=2")})
	ask := func(key, peer string) (caller, int) {
		r := &http.Request{RemoteAddr: peer, Header: http.Header{}}
		if key != "" {
			r.Header["X-Api-Key"] = []string{key}
		}
		return id.of(r, 0, 1e18)
	}
	for i, tt := range []struct {
		key, peer string
		want      caller
		status    int
	}{
		{"alpha", "192.0.2.1:1", caller{"acme", "gold", "192.0.2.1", true}, 0},
		{"beta", "192.0.2.1:1", caller{"beta", "", "192.0.2.1", true}, 0},
		{"gamma", "192.0.2.9:1", caller{Address: "192.0.2.9"}, 401},
		{"", "192.0.2.9:2", caller{Address: "192.0.2.9"}, 401},
		{"delta", "192.0.2.9:3", caller{Address: "192.0.2.9"}, 429},
		{"", "192.0.2.8:1", caller{Address: "192.0.2.8"}, 401},
		{"a1", "[2001:db8::1]:1", caller{Address: "2001:db8::/64"}, 401},
		{"a2", "[2001:db8::2]:1", caller{Address: "2001:db8::/64"}, 401},
		{"a3", "[2001:db8::3]:1", caller{Address: "2001:db8::/64"}, 429},
		// Who knows a key is not held up by who guesses at the same address.
		{"alpha", "192.0.2.9:3", caller{"acme", "gold", "192.0.2.9", true}, 0},
	} {
		if got, status := ask(tt.key, tt.peer); got != tt.want || status != tt.status {
			t.Errorf("%d: %+v, %d; want %+v, %d", i, got, status, tt.want, tt.status)
		}
	}
	// Keys that are made up leave nothing behind.
	for i := range 5000 {
		ask(fmt.Sprint("made-up-", i), "192.0.2.9:1")
	}
	if n := id.guesses[0].Load().Len(); n != 3 {
		t.Errorf("%d buckets for three addresses", n)
	}
}

func TestIdentityWithoutTable(t *testing.T) {
	id := identityOf(t, Config{Limit: spec(t, "1/s,burst=1")})
	r := &http.Request{RemoteAddr: "192.0.2.1:1", Header: http.Header{"X-Api-Key": {"anything"}}}
	if c, status := id.of(r, 0, 0); status != 0 || (c != caller{Key: "anything", Address: "192.0.2.1", Known: true}) {
		t.Errorf("%+v, %d", c, status)
	}
}

func TestIdentityBearer(t *testing.T) {
	id := identityOf(t, Config{Limit: spec(t, "1/s,burst=1"), Key: Key{Header: "authorization"}, KeysFile: keysIn(t, "tok -\n")})
	for value, want := range map[string]int{"Bearer tok": 0, "bearer  tok ": 0, "tok": 401, "Basic tok": 401, "Bearer": 401, "Bearer tok2": 401} {
		r := &http.Request{RemoteAddr: "192.0.2.1:1", Header: http.Header{"Authorization": {value}}}
		if _, status := id.of(r, 0, 1e18); status != want {
			t.Errorf("%q: %d, want %d", value, status, want)
		}
	}
	w := httptest.NewRecorder()
	id.refuse(w, &http.Request{}, 401)
	if w.Code != 401 || w.Header().Get("WWW-Authenticate") != "Bearer" || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w = httptest.NewRecorder()
	id.refuse(w, &http.Request{}, 429)
	if w.Code != 429 || len(w.Header()) != 2 || strings.ContainsAny(w.Body.String(), "0135678") {
		t.Errorf("too many guesses are told %v %s", w.Header(), w.Body)
	}
}

func TestIdentityConfig(t *testing.T) {
	keys := keysIn(t, "a -\n")
	for name, c := range map[string]Config{
		"by path":            {KeysFile: keys, Key: Key{By: ByPath}},
		"forged":             {KeysFile: keys, Wrong: Wrong{ForgeableKey: "X"}},
		"limit without keys": {Unknown: spec(t, "1/s,burst=1")},
		"in flight":          {KeysFile: keys, Unknown: spec(t, "concurrency:limit=1")},
		"no limit":           {KeysFile: keys, Unknown: limit.Spec{Burst: 3}},
		"no header":          {Proxies: Proxies{Header: "a b"}},
		"shed of nothing":    {Shed: Shed{InFlight: 1}},
		"two ways to shed":   {Shed: Shed{InFlight: 1, Adaptive: true}, Latency: 1},
		"shed too much":      {Shed: Shed{InFlight: limit.MaxInFlight + 1}, Latency: 1},
	} {
		c.Limit = spec(t, "1/s,burst=1")
		var config *ConfigError
		var number *limit.SpecError
		if _, err := c.checked(); !errors.As(err, &config) && !errors.As(err, &number) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "# nobody\n", "a\n"} {
		if _, err := newIdentity(Config{Gateways: 1, KeysFile: keysIn(t, text)}); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if _, err := newIdentity(Config{Gateways: 1, KeysFile: keys + "-not"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// A file that changes is read again; one that cannot be used is told, once,
// and what was in force stays.
func TestKeysAreReadAgain(t *testing.T) {
	id := identityOf(t, Config{Limit: spec(t, "1/s,burst=1"), KeysFile: keysIn(t, "old -\n")})
	notices, stop := make(chan string, 10), make(chan struct{})
	done := make(chan struct{})
	go func() {
		id.watch(stop, time.Millisecond, func(s string) { notices <- s })
		close(done)
	}()
	defer func() { close(stop); <-done }()
	known := func(key string) bool {
		_, ok := id.table.Load().find(key)
		return ok
	}
	for _, step := range []struct {
		text, want, known string
	}{
		{"new gold\nnewer gold\n", "2 keys in force", "new"},
		{"new gold\nbroken\n", "the keys in force stay: ", "new"},
		{"", "no such file", "new"},
		{"last -\n", "1 key in force", "last"},
	} {
		if step.text == "" {
			if err := os.Remove(id.file); err != nil {
				t.Fatal(err)
			}
		} else {
			next := id.file + ".next"
			if err := os.WriteFile(next, []byte(step.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(next, id.file); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case got := <-notices:
			if !strings.Contains(got, step.want) || !known(step.known) {
				t.Fatalf("%q: told %q, want %q", step.text, got, step.want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%q: nothing was told", step.text)
		}
	}
	if known("old") || known("new") {
		t.Error("keys that were taken out are still known")
	}
}
