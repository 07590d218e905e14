package redistest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// slots is how many a cluster has.
const slots = 16384

// ClusterRedis is a cluster of real servers, in Nodes the primaries first,
// then their replicas. A primary that is silent for a second is failed over.
type ClusterRedis struct {
	URL   string // redis+cluster://HOST:PORT,HOST:PORT
	Nodes []*Redis

	t testing.TB
}

// Cluster starts a cluster and waits until every node finds it well. extra
// are more options of each node; "--requirepass" wants "--masterauth" too.
func Cluster(t testing.TB, primaries, replicasEach int, extra ...string) *ClusterRedis {
	t.Helper()
	c := &ClusterRedis{t: t}
	var addrs []string
	for range primaries * (1 + replicasEach) {
		r := server(t, func(p *process) []string {
			return append(append(plain(p),
				"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "1000",
				"--cluster-replica-validity-factor", "0", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"), extra...)
		})
		c.Nodes = append(c.Nodes, r)
		addrs = append(addrs, r.Addr)
	}
	c.URL = "redis+cluster://" + strings.Join(addrs, ",")
	for i, r := range c.Nodes {
		r.CLI("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i < primaries {
			args := []string{"CLUSTER", "ADDSLOTS"}
			for s := i * slots / primaries; s < (i+1)*slots/primaries; s++ {
				args = append(args, strconv.Itoa(s))
			}
			r.CLI(args...)
		}
		if i > 0 {
			host, port, _ := strings.Cut(r.Addr, ":")
			c.Nodes[0].CLI("CLUSTER", "MEET", host, port)
		}
	}
	c.wait("cluster_known_nodes:" + strconv.Itoa(len(c.Nodes)))
	for i, r := range c.Nodes[primaries:] {
		id := c.Nodes[i%primaries].CLI("CLUSTER", "MYID")
		eventually(t, func() string { // until it has heard of the primary
			if _, err := r.do("CLUSTER", "REPLICATE", id); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	c.WaitOK()
	return c
}

// Client returns a cluster client that soon hears of a failover. It follows
// redirects, and sends again what a broken connection left unanswered: go-redis
// counts both as redirects. It is closed when t ends.
func (c *ClusterRedis) Client(t testing.TB) redis.UniversalClient {
	t.Helper()
	o := &redis.ClusterOptions{DialerRetries: 1, ContextTimeoutEnabled: true, ClusterStateReloadInterval: 200 * time.Millisecond,
		Password: c.Nodes[0].admin.Password}
	for _, r := range c.Nodes {
		o.Addrs = append(o.Addrs, r.Addr)
	}
	client := redis.NewClusterClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// WaitOK waits until every node that runs finds the cluster well and, when
// all run, sees all others and each replica has its primary's data.
func (c *ClusterRedis) WaitOK() {
	c.t.Helper()
	c.wait("cluster_state:ok", "cluster_slots_ok:"+strconv.Itoa(slots))
	eventually(c.t, func() string {
		for _, r := range c.running() {
			for n := range strings.SplitSeq(strings.TrimSpace(r.CLI("CLUSTER", "NODES")), "\n") {
				if len(c.running()) == len(c.Nodes) && (strings.Contains(n, "fail") || strings.Contains(n, "handshake")) {
					return r.Addr + " sees " + n
				}
			}
			if info := r.CLI("INFO", "replication"); strings.Contains(info, "role:slave") && !strings.Contains(info, "master_link_status:up") {
				return r.Addr + " has no data of its primary"
			}
		}
		return ""
	})
}

// wait waits until CLUSTER INFO of every running node says all of words.
func (c *ClusterRedis) wait(words ...string) {
	c.t.Helper()
	eventually(c.t, func() string {
		for _, r := range c.running() {
			info := r.CLI("CLUSTER", "INFO")
			for _, w := range words {
				if !strings.Contains(info, w+"\r\n") {
					return r.Addr + " does not say " + w
				}
			}
		}
		return ""
	})
}

func (c *ClusterRedis) running() []*Redis {
	var up []*Redis
	for _, r := range c.Nodes {
		if r.proc.cmd != nil {
			up = append(up, r)
		}
	}
	return up
}

// Slot returns the slot of a key.
func (c *ClusterRedis) Slot(key string) int {
	c.t.Helper()
	n, err := strconv.Atoi(c.running()[0].CLI("CLUSTER", "KEYSLOT", key))
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// Primary returns the running node that serves a key.
func (c *ClusterRedis) Primary(key string) *Redis {
	c.t.Helper()
	slot := c.Slot(key)
	for _, r := range c.running() {
		if r.owner(slot) == r.CLI("CLUSTER", "MYID") {
			return r
		}
	}
	c.t.Fatalf("nobody serves slot %d", slot)
	return nil
}

// KillPrimary kills the node that serves key, waits until a replica serves in
// its place and returns the dead node.
func (c *ClusterRedis) KillPrimary(key string) *Redis {
	c.t.Helper()
	dead := c.Primary(key)
	id := dead.CLI("CLUSTER", "MYID")
	slot := c.Slot(key)
	dead.Kill()
	eventually(c.t, func() string {
		for _, r := range c.running() {
			if r.owner(slot) == id {
				return r.Addr + " still sees the dead node as the owner"
			}
		}
		return ""
	})
	c.WaitOK()
	return dead
}

// owner returns the id of the primary that r sends callers of a slot to.
func (r *Redis) owner(slot int) string {
	r.t.Helper()
	for line := range strings.SplitSeq(r.CLI("CLUSTER", "NODES"), "\n") {
		// id addr flags primary ping pong epoch link slot slot…
		f := strings.Fields(line)
		if len(f) < 8 || !strings.Contains(f[2], "master") {
			continue
		}
		for _, s := range f[8:] { // 7, 7-9, or [7->-id] for one in motion
			from, to, isRange := strings.Cut(s, "-")
			if !isRange {
				to = from
			}
			low, err := strconv.Atoi(from)
			if err != nil {
				continue
			}
			if high, err := strconv.Atoi(to); err == nil && low <= slot && slot <= high {
				return f[0]
			}
		}
	}
	return ""
}
