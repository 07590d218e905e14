package redisconn

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redistest"
)

// again sets a key until that works, as callers do after a failover.
func again(t *testing.T, c redis.UniversalClient, key string) {
	t.Helper()
	var err error
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = c.Set(context.Background(), key, "again", 0).Err(); err == nil {
			return
		}
	}
	t.Fatalf("it does not come back: %v", err)
}

func TestSentinelIsFollowed(t *testing.T) {
	if testing.Short() {
		t.Skip("a failover takes seconds")
	}
	s := redistest.Sentinel(t, 1, "requirepass sent1nel")
	c, err := Open(Options{URL: s.URL, SentinelPassword: "sent1nel"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := Ping(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	expect(t, Options{URL: s.URL + "?sentinel-password=sent1nel"}, "fine")
	expect(t, Options{URL: s.URL}, "redis: the sentinels want a login and were given none")
	expect(t, Options{URL: s.URL, SentinelPassword: "x"}, "redis: the sentinels know no such user, or the password is wrong")
	expect(t, Options{URL: s.URL + "x", SentinelPassword: "sent1nel"}, "redis: the sentinels know no primary of that name")
	direct, err := Open(Options{URL: "redis://" + s.Servers[1].Addr})
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	if text, hint := Explain(direct.Set(context.Background(), "k", 1, 0).Err()); text != "redis: a replica answered, which takes no writes" || hint == "" {
		t.Errorf("a replica: %s; %s", text, hint)
	}

	s.KillPrimary()
	again(t, c, "k")
	if got := s.Servers[1].CLI("GET", "k"); got != "again" {
		t.Errorf("the new primary has %q", got)
	}
}

func TestClusterIsFollowed(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	ctx := context.Background()
	cl := redistest.Cluster(t, 3, 1, "--requirepass", "secret", "--masterauth", "secret")
	c, err := Open(Options{URL: "redis+cluster://" + cl.Nodes[0].Addr, Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, k := range []string{"a", "b", "c"} {
		if err := c.Set(ctx, k, k, 0).Err(); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	if text, _ := Explain(c.Eval(ctx, "return 1", []string{"a", "b"}).Err()); text != "redis: the keys of one call are in different slots of the cluster" {
		t.Errorf("two slots: %s", text)
	}
	expect(t, Options{URL: "redis+cluster://" + cl.Nodes[0].Addr}, "redis at "+cl.Nodes[0].Addr+": it wants a login and was given none")

	m := cl.Migrate("a")
	direct, err := Open(Options{URL: "redis://" + m.To.Addr, Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer direct.Close()
	if text, hint := Explain(direct.Get(ctx, "a").Err()); text != "redis: it is a node of a cluster, and the key is on another one" || hint == "" {
		t.Errorf("a node alone: %s; %s", text, hint)
	}
	m.Move("a")
	if got, err := c.Get(ctx, "a").Result(); got != "a" || err != nil {
		t.Errorf("on its way: %q, %v", got, err)
	}
	m.Finish()
	cl.KillPrimary("b")
	again(t, c, "b")
}
