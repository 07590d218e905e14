package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
	"github.com/weir-cli/weir/tui"
)

// What a limiter keeps is found by the customer's id, read again by its name,
// lost with its key, found again, and stays on the screen when Redis does not
// answer.
func TestWatchedKeys(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		ctx := context.Background()
		c := server.Client(t)
		spec, err := limit.ParseSpec("10/m,burst=20")
		if err != nil {
			t.Fatal(err)
		}
		rule, err := redislimit.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		store := redislimit.NewStore(c, redislimit.Options{Timeout: 10 * time.Second})
		defer store.Close()
		take := func() {
			t.Helper()
			if _, err := store.Take(ctx, redislimit.Part{Key: redislimit.Key("rl", "k-7", "default"), Rule: rule, Cost: 15}); err != nil {
				t.Fatal(err)
			}
		}
		w := newWatchedKeys(inspect.NewReader(c, inspect.ReaderOptions{}), inspect.Query{IDs: []string{"k-7", "k-8"}, Layouts: inspect.Builtin()}, watchEvery)
		see := func(want ...string) string {
			t.Helper()
			text := tui.Screen(w, tui.Options{View: tui.Bucket}, 100, 30)
			for _, s := range want {
				if !strings.Contains(text, s) {
					t.Errorf("no %q in\n%s", s, text)
				}
			}
			return text
		}
		look := func() {
			t.Helper()
			if err := w.look(ctx); err != nil {
				t.Fatal(err)
			}
		}
		look()
		see("There is no state", "Not there: k-7, k-8", "0 states are kept")
		take()
		w.fullAt = time.Time{} // the time for a full look has come
		look()
		see("1 state is kept", "k-7 default", "of 20", "now", "Written by weir", "Not there: k-8")
		before := w.latest.Load().cmds
		look()
		if n := w.latest.Load().cmds - before; n > 12 {
			t.Errorf("a look at one known key took %d commands", n)
		}
		if n, err := c.DBSize(ctx).Result(); n != 1 || err != nil {
			t.Errorf("looking left %d keys, %v", n, err)
		}
		if err := c.Del(ctx, w.found[0]).Err(); err != nil {
			t.Fatal(err)
		}
		look()
		see("There is no state")
		take()
		w.fullAt = time.Time{}
		look()
		server.Kill()
		if w.look(ctx) == nil {
			t.Fatal("a Redis that is gone was read")
		}
		see("k-7 default", "Redis was not read")
	})
}
