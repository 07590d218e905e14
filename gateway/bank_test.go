package gateway

import (
	"strconv"
	"testing"
	"time"
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

// A full bank makes room for a request's second limit by dropping what is idle:
// not the account of its first, which would then be refused by the one that
// others without room share after the second was charged.
func TestAllOrNothingInAFullBank(t *testing.T) {
	b := newBank(2, 0, 0)
	ready := func(name, text string) *readyLimit {
		return &readyLimit{name: name, spec: spec(t, text), limiter: limiter(t, text)}
	}
	one, two, forever := ready("one", "1/10s,burst=1"), ready("two", "1/h,burst=5"), ready("forever", "1/h,burst=1")
	beside := func(name string) string { // in one shard with "a"
		subject := name
		for i := 0; b.shardOf(subject) != b.shardOf("a"); i++ {
			subject = name + strconv.Itoa(i)
		}
		return subject
	}
	start := int64(1e18)
	now := start
	for _, p := range []*hitState{{ready: one, Subject: "a", Cost: 1}, {ready: forever, Subject: beside("filler"), Cost: 1}} {
		b.take1(p, now)
	}
	now += 8 * int64(time.Second)
	if p := (&hitState{ready: one, Subject: beside("homeless"), Cost: 1}); !b.take1(p, now).OK || !p.common {
		t.Fatal("there was room")
	}
	now = start + 10*int64(time.Second) // "a" is full again, what those without room share is not
	parts := []hitState{{ready: one, Subject: "a", Cost: 1}, {ready: two, Subject: beside("b"), Cost: 1}}
	takeAll(parts, now, func(*hitState) *bank { return b })
	if !parts[0].Decision.OK || !parts[1].Decision.OK {
		t.Errorf("refused, though both have tokens: %+v and %+v", parts[0].Decision, parts[1].Decision)
	}
	left := parts[1]
	left.Cost = 5
	if d := b.take1(&left, now); d.OK || d.Remaining > 4 {
		t.Errorf("nothing was charged: %+v", d)
	}
	if n := b.n.Load(); n > 2 {
		t.Errorf("%d accounts", n)
	}
}

// Leased tokens of a limit that has been slowed down since go back to the
// account as it is now, and to none that others share.
func TestGivingBackAfterAChange(t *testing.T) {
	ready := func(text string) *readyLimit {
		return &readyLimit{name: "r", spec: spec(t, text), limiter: limiter(t, text)}
	}
	old, slow, window := ready("1000/s,burst=100"), ready("1/h,burst=50"), ready("fixed-window:limit=50,window=1h")
	for _, now := range []*readyLimit{slow, window} {
		b, at := newBank(1, 0, 0), int64(1e18)
		if n, _ := b.lease(&hitState{ready: old, Subject: "k"}, at, 10, 10); n != 10 {
			t.Fatal(n)
		}
		used := &hitState{ready: now, Subject: "k", Cost: 1}
		for b.take1(used, at).OK {
		}
		at += 10 * int64(time.Second)
		b.giveBack(&hitState{ready: old, Subject: "k"}, at, 9)
		at += 10 * int64(time.Second)
		again, most := 0, 9
		for b.take1(used, at).OK {
			again++
		}
		if now == window {
			most = 0 // a count takes nothing back
		}
		if again != most {
			t.Errorf("%v: %d pass after 9 came back, want %d", now.spec, again, most)
		}
		other := &hitState{ready: slow, Subject: "other", Cost: 1}
		for b.take1(other, at).OK {
		}
		b.giveBack(other, at, 9)
		if b.take1(other, at).OK {
			t.Error("what one gives back passes for those that share an account")
		}
	}
}
