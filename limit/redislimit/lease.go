package redislimit

import (
	"fmt"
	"strconv"
	"time"
)

// Lease is the outcome of asking for a block of tokens.
type Lease struct {
	Granted int64 // tokens taken out; 0 is none
	// Wait is how long until what was asked for at least is there, if nobody
	// else takes it: 0 when granted, limit.Never when it is above the burst.
	Wait       time.Duration
	Remaining  int64 // whole tokens left
	At         int64 // the clock that decided, unix ns
	Unreadable bool  // the state was not its own and was replaced
}

// checkLease reports what makes a lease none. Only limits that take tokens back
// are leased from.
func checkLease(key string, r *Rule, block, least int64) error {
	switch {
	case key == "":
		return fmt.Errorf("redislimit: a lease has no key")
	case r == nil:
		return fmt.Errorf("redislimit: a lease has no rule")
	case !r.Gives():
		return fmt.Errorf("redislimit: %s takes nothing back, so it cannot be leased from", r.spec.Algorithm)
	case least < 1 || block < least:
		return fmt.Errorf("redislimit: a lease of %d and at least %d", block, least)
	}
	return nil
}

// encodeLease appends the arguments of a lease of a block, or of as much as
// there is when that is at least least. now is in unix ns, or storeTime.
func encodeLease(dst []any, now int64, key string, r *Rule, block, least int64) (keys []string, args []any) {
	keys, dst = encode(dst, now, []Part{{Key: key, Rule: r, Cost: block}})
	return keys, append(dst, strconv.FormatInt(min(max(least, 1), r.most+1), 10))
}

// encodeGive appends the arguments of giving n tokens back; n must be above 0.
func encodeGive(dst []any, now int64, key string, r *Rule, n int64) (keys []string, args []any) {
	return encode(dst, now, []Part{{Key: key, Rule: r, Cost: n}})
}

// decodeLease reads the reply to a lease.
func decodeLease(reply any, r *Rule) (Lease, error) {
	n, err := numbers(reply, 5)
	if err != nil {
		return Lease{}, err
	}
	l := Lease{Granted: n[1], Wait: wait(n[2]), Remaining: n[3], At: n[0], Unreadable: n[4] != 0}
	if l.Granted < 0 || l.Granted > r.most || l.Remaining < 0 || l.Remaining > r.most || (l.Granted > 0) != (l.Wait == 0) {
		return Lease{}, fmt.Errorf("redislimit: the reply to a lease cannot be right: %d", n)
	}
	return l, nil
}

// decodeGive reads the reply to giving back: whole tokens there are after it,
// and the clock that decided, unix ns.
func decodeGive(reply any) (remaining, at int64, err error) {
	n, err := numbers(reply, 3)
	if err != nil {
		return 0, 0, err
	}
	return n[1], n[0], nil
}
