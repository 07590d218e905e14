package gateway

import (
	"strconv"
	"testing"
)

// Slots that were taken where there was no room for an account of the key's
// own go back there, also when there is room by then.
func TestSlotsGoBackWhereTheyCameFrom(t *testing.T) {
	b := newBank(1, 0, 0)
	l := &readyLimit{name: "r", spec: spec(t, "concurrency:limit=2"), limiter: limiter(t, "concurrency:limit=2")}
	part := func(subject string) *hitState { return &hitState{ready: l, Subject: subject, Cost: 1} }
	now := int64(1e18)
	subject := "k" // shares a shard with the first, whose sweep makes the room
	for i := 0; b.shardOf(subject) != b.shardOf("first"); i++ {
		subject = strconv.Itoa(i)
	}
	first, one := part("first"), part(subject)
	if !b.take1(first, now).OK || !b.take1(one, now).OK {
		t.Fatal("refused")
	}
	b.release(first, now)
	now += 10 * sweepLeast
	two, three := part(subject), part(subject)
	if !b.take1(two, now).OK || !b.take1(three, now).OK { // there is room now
		t.Fatal("refused")
	}
	b.release(one, now)
	if b.take1(part(subject), now).OK {
		t.Error("a third passes beside two that hold the two slots")
	}
	if a := b.shards[b.shardOf(subject)].common["r"]; a == nil || l.limiter.Take(&a.state, now, 0).Remaining != 2 {
		t.Error("a slot of those that found no room is lost")
	}
}
