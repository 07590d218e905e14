package redislimit

import (
	"context"
	"testing"

	"github.com/weir-cli/weir/internal/redistest"
)

// Under Sentinel the Store goes on with whoever is primary, whether the old
// one died or lives on as a replica that answers READONLY.
func TestFailoverUnderSentinel(t *testing.T) {
	set := redistest.Sentinel(t, 1)
	s := storeOn(t, set.Client(t), Options{})
	p := part(t, "k", "1/h,burst=1000", 1)
	answers := func() bool { _, err := s.Take(context.Background(), p); return err == nil }
	take(t, s, p)

	old := set.Primary()
	set.Sentinels[0].CLI("SENTINEL", "FAILOVER", redistest.Master)
	set.WaitFailover(old)
	eventually(t, "the new primary answers", answers)
	if a := take(t, s, p.costing(0)); a.Remaining >= 1000-1 {
		t.Errorf("%d left: the new primary began anew", a.Remaining)
	}
	if n := s.Stats().Loads; n != 2 {
		t.Errorf("%d loads, want one for each primary", n)
	}
	direct := old.Client(t)
	eventually(t, "the old one is its replica", func() bool {
		role, err := direct.Do(context.Background(), "ROLE").Slice()
		return err == nil && role[0] == "slave"
	})

	set.KillPrimary()
	eventually(t, "the first primary answers again", answers)
	if n := s.Stats().Errors[KindNoScript]; n != 0 {
		t.Errorf("%d callers heard that a script was gone", n)
	}
}

// A connection on which a replica answered is not used again.
func TestReplicaLosesItsConnection(t *testing.T) {
	r := redistest.Server(t)
	c := r.Client(t)
	s := storeOn(t, c, Options{Lanes: 1})
	p := part(t, "k", "1/h,burst=1000", 1)
	take(t, s, p)
	id := func() string { return c.Do(context.Background(), "CLIENT", "ID").String() }
	before := id()
	r.CLI("REPLICAOF", "127.0.0.1", "1")
	_, err := s.Take(context.Background(), p)
	failure(t, err, KindReadOnly)
	if n := s.Stats().Commands; n != 4 { // two of them found the script gone, and no primary
		t.Errorf("%d commands, want 4", n)
	}
	r.CLI("REPLICAOF", "NO", "ONE")
	take(t, s, p)
	if id() == before {
		t.Error("the connection to the replica is still in use")
	}
}
