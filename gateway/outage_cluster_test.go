package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// admittedOf is how many requests of a key passed, and how many of them by the
// store, of those asked one at a time.
func (c *crowd) admittedOf(key string) (all, byStore int) {
	c.each(key, time.Time{}, time.Now(), func(a attempt) {
		if a.key == key && a.status == http.StatusOK {
			all++
			if a.by == FromStore.String() {
				byStore++
			}
		}
	})
	return all, byStore
}

// The primary dies and a replica takes over. Until the sentinels have agreed,
// the gateways decide by their shares; then the replica has what the primary
// had sent it. A key gets at most
//
//	b of the store, and what was not yet replicated; and N × max(1, b/N) of the shares
func TestFailover(t *testing.T) {
	if testing.Short() {
		t.Skip("a failover takes seconds")
	}
	t.Parallel()
	const gateways, burst = 20, 60
	set := redistest.Sentinel(t, 1)
	f := serving(t, redisconn.Options{URL: set.URL}, Config{Gateways: gateways, Limit: spec(t, "1/h,burst=60"),
		OnFailure: limit.FailLocal, StoreTimeout: 2 * time.Second, Breaker: quick})
	c := newCrowd(t, f)
	c.spent("k", gateways) // one each
	replicated(t, set.Servers[0], set.Servers[1])
	c.send("bystander", 200, 0)
	until(t, "it is asked about", func() bool { return by(f, FromStore) > 2*gateways })
	begun := time.Now()
	set.KillPrimary()
	until(t, "the shares have stood in", func() bool { return by(f, FromLocalShare) > 0 })
	until(t, "all gateways ask the store again", func() bool { return openBreakers(f) == 0 })
	took := time.Since(begun)
	stood := by(f, FromLocalShare)
	c.end()
	c.served("other")
	for range 2 * burst {
		c.askedBy(0, "k")
	}
	_, store := c.admittedOf("k")
	t.Logf("%v until every gateway was served again; %d decisions by shares meanwhile", took, stood)
	if store != burst {
		t.Errorf("the two primaries let %d pass, want the burst of %d", store, burst)
	}
	if n := c.f.Counts(0).BySource[FromLocalShare.String()].Admitted; n > 2*burst {
		t.Errorf("%d of two keys passed by shares, want at most %d", n, 2*burst)
	}
	if n := openBreakers(f); n != 0 {
		t.Errorf("%d breakers are open", n)
	}
	c.balanced()
	tidyServer(t, set.Primary(), poolSize+20) // and sentinels
}

// A slot moves, a node dies that has a replica, and one dies that has none.
// Only the keys of a node that is gone are decided by the fail mode, by a
// breaker of their own; all others never leave the store.
func TestClusterLosesNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	t.Parallel()
	const gateways, burst = 20, 60
	cl := redistest.Cluster(t, 3, 1, "--cluster-require-full-coverage", "no")
	f := serving(t, redisconn.Options{URL: cl.URL}, Config{Gateways: gateways, Limit: spec(t, "1/h,burst=60"),
		OnFailure: limit.FailClosed, StoreTimeout: 2 * time.Second, Breaker: quick})
	c := newCrowd(t, f)
	redisKey := func(subject string) string { return redislimit.Key("", subject, "default") }
	moving := "moving"
	home := cl.Primary(redisKey(moving))
	// A key on each of two nodes.
	doomed, other := "", ""
	for i := 0; doomed == "" || other == ""; i++ {
		s := fmt.Sprint("k-", i)
		if cl.Primary(redisKey(s)) == home {
			doomed = s
		} else {
			other = s
		}
	}

	// A slot on its way: whether the key is here, there or about to be.
	m := cl.Migrate(redisKey(moving))
	n := c.spent(moving, gateways) // there is none yet: it is made where it goes
	m.Move(redisKey(moving))
	n += c.spent(moving, gateways)
	m.Finish()
	n += c.spent(moving, 2*burst)
	if n != burst {
		t.Errorf("%d passed while the slot moved, want the burst of %d", n, burst)
	}
	if openBreakers(f) != 0 {
		t.Error("a slot that moves opened a breaker")
	}
	for _, s := range f.stores {
		if len(s.Stats().Errors) != 0 {
			t.Errorf("errors: %v", s.Stats().Errors)
		}
	}

	// A node with a replica.
	if n := c.spent(doomed, gateways); n != gateways {
		t.Fatalf("%d of the first %d passed", n, gateways)
	}
	replica := replicaOf(t, cl, home)
	replicated(t, home, replica)
	cl.KillPrimary(redisKey(doomed))
	c.served(doomed)
	for range 2 * burst {
		c.askedBy(0, doomed)
	}
	if _, store := c.admittedOf(doomed); store != burst {
		t.Errorf("%d passed at the two nodes, want the burst of %d", store, burst)
	}
	if n := c.spent(other, gateways); n != gateways {
		t.Errorf("the others: %d of %d passed", n, gateways)
	}

	// And now one without.
	heir := cl.Primary(redisKey(doomed))
	heir.Kill()
	begun := time.Now()
	until(t, "every gateway's breaker is open", func() bool { c.atOnce(doomed, 1); return openBreakers(f) >= gateways })
	from := time.Now()
	c.atOnce(doomed, 5)
	sent, admitted := c.between(doomed, from, time.Now())
	if admitted != 0 {
		t.Errorf("%d of %d passed of a node that is gone", admitted, sent)
	}
	if n := c.spent(other, gateways); n != gateways {
		t.Errorf("beside the node that is gone %d of %d passed", n, gateways)
	}
	t.Logf("breakers were open %v after the node's death", from.Sub(begun))
	heir.Restart()
	cl.WaitOK()
	c.served(doomed)
	if n := c.spent(doomed, burst); n > burst {
		t.Errorf("%d passed of a bucket that began anew", n)
	}
	for g := range gateways {
		until(t, "no breaker is open", func() bool { c.ask(g, doomed); c.ask(g, other); return openBreakers(f) <= gateways })
	}
	c.balanced()
	tidyServer(t, heir, poolSize+20)
}

// replicaOf is the node that follows primary.
func replicaOf(t *testing.T, cl *redistest.ClusterRedis, primary *redistest.Redis) *redistest.Redis {
	t.Helper()
	id := primary.CLI("CLUSTER", "MYID")
	for _, r := range cl.Nodes {
		for line := range strings.SplitSeq(r.CLI("CLUSTER", "NODES"), "\n") {
			if strings.Contains(line, "myself") && strings.Contains(line, id) && r != primary {
				return r
			}
		}
	}
	t.Fatal("no replica")
	return nil
}

// replicated waits until a replica has all of its primary's writes.
func replicated(t *testing.T, primary, replica *redistest.Redis) {
	t.Helper()
	until(t, "the replica has it", func() bool {
		return stat(t, replica, "replication", "slave_repl_offset") >= stat(t, primary, "replication", "master_repl_offset")
	})
}
