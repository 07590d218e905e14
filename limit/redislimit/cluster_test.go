package redislimit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
)

func TestCluster(t *testing.T) {
	set := redistest.Cluster(t, 3, 0)
	ctx := context.Background()

	t.Run("a slot that moves is followed", func(t *testing.T) {
		s := storeOn(t, set.Client(t), Options{})
		p := part(t, "moving", "1/h,burst=100", 1)
		fresh := p
		fresh.Key = Key("", "moving", "orders")
		take(t, s, p)
		m := set.Migrate(p.Key)
		if a := take(t, s, p); a.Remaining != 98 {
			t.Errorf("not moved yet: %d left", a.Remaining)
		}
		if a := take(t, s, fresh); a.Remaining != 99 { // it is made where the slot goes
			t.Errorf("a new key: %d left", a.Remaining)
		}
		if n := s.Stats().Redirects; n != 1 {
			t.Errorf("%d redirects after one ASK", n)
		}
		_, err := s.Take(ctx, p, fresh)
		if e := failure(t, err, KindTryAgain); e.Ambiguous() {
			t.Errorf("%v: said to be ambiguous", e)
		}
		m.Move(p.Key)
		if a := take(t, s, p, fresh); a.Remaining != 97 {
			t.Errorf("both moved: %d left", a.Remaining)
		}
		m.Finish()
		if a := take(t, s, p, fresh); a.Remaining != 96 {
			t.Errorf("the slot moved: %d left", a.Remaining)
		}
		redirects := s.Stats().Redirects
		eventually(t, "the new owner is asked first", func() bool {
			take(t, s, p.costing(0))
			now := s.Stats().Redirects
			again := now > redirects
			redirects = now
			return !again
		})
		if got := s.Stats(); got.Loads > 2 {
			t.Errorf("%d loads on two nodes", got.Loads)
		}
	})

	t.Run("a slot that nobody serves", func(t *testing.T) {
		s := storeOn(t, set.Client(t), Options{})
		p := part(t, "nobody", "1/h,burst=100", 1)
		owner, slot := set.Primary(p.Key), fmt.Sprint(set.Slot(p.Key))
		take(t, s, p)
		owner.CLI("CLUSTER", "DELSLOTS", slot)
		_, err := s.Take(ctx, p)
		if e := failure(t, err, KindClusterDown); e.Ambiguous() {
			t.Errorf("%v: said to be ambiguous", e)
		}
		owner.CLI("CLUSTER", "ADDSLOTS", slot)
		set.WaitOK()
		eventually(t, "it answers", func() bool { _, err := s.Take(ctx, p); return err == nil })
	})

	t.Run("a client that does not know of the cluster", func(t *testing.T) {
		a, b := part(t, "one", "1/h,burst=100", 1), part(t, "two", "1/h,burst=100", 1)
		home := set.Primary(a.Key)
		s := storeOn(t, home.Client(t), Options{})
		if got := s.Node(a.Key); got != "" {
			t.Errorf("the one server is called %q", got)
		}
		_, err := s.Take(ctx, a, b)
		if e := failure(t, err, KindCrossSlot); e.Ambiguous() || e.Hint() == "" {
			t.Errorf("%v: ambiguous %v", e, e.Ambiguous())
		}
		for _, r := range set.Nodes {
			if r != home {
				_, err := storeOn(t, r.Client(t), Options{}).Take(ctx, a)
				failure(t, err, KindMoved)
			}
		}
	})

	t.Run("nodes have names", func(t *testing.T) {
		s := storeOn(t, set.Client(t), Options{})
		for _, subject := range []string{"a", "b", "c", "d"} {
			key := Key("", subject, "requests")
			if got, want := s.Node(key), set.Primary(key).Addr; got != want {
				t.Errorf("%s is at %s, not at %s", key, got, want)
			}
		}
	})

	t.Run("nobody is there", func(t *testing.T) {
		c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, DialerRetries: 1})
		defer c.Close()
		s := storeOn(t, c, Options{})
		_, err := s.Take(ctx, part(t, "k", "1/h,burst=100", 1))
		if e := failure(t, err, KindRefused); e.Ambiguous() {
			t.Errorf("%v: said to be ambiguous", e)
		}
		if got := s.Node("k"); got != "" {
			t.Errorf("the node of a key in no cluster is %q", got)
		}
	})
}

func TestClusterLosesANode(t *testing.T) {
	set := redistest.Cluster(t, 3, 1)
	ctx := context.Background()
	s := storeOn(t, set.Client(t), Options{Timeout: 2 * time.Second})
	p := part(t, "k", "1/h,burst=1000", 1)
	eventually(t, "it answers", func() bool { _, err := s.Take(ctx, p); return err == nil })
	primary := set.Primary(p.Key)
	primary.CLI("WAIT", "1", "20000")
	other := p
	for i := 0; set.Primary(other.Key) == primary; i++ {
		other = part(t, fmt.Sprint("other-", i), "1/h,burst=1000", 1)
	}
	primary.Kill()
	for range 3 {
		if _, err := s.Take(ctx, p); err == nil {
			t.Error("a dead node answered")
		} else if k := Classify(err); k != KindRefused && k != KindBroken && k != KindTimeout && k != KindMoved && k != KindClusterDown {
			t.Errorf("a dead node: %v", err)
		}
		if _, err := s.Take(ctx, other); err != nil && Classify(err) != KindClusterDown {
			t.Errorf("a node that lives: %v", err)
		}
	}
	eventually(t, "a replica answers in its place", func() bool { _, err := s.Take(ctx, p); return err == nil })
	if a := take(t, s, p.costing(0)); a.Remaining >= 1000-1 {
		t.Errorf("%d left: the replica began anew", a.Remaining)
	}
	if got := s.Node(p.Key); got == primary.Addr {
		t.Error("the dead node is still said to have the key")
	}
}
