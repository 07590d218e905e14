package redislimit

import (
	"context"
)

// Lease takes block tokens of a limit out at once, or as many as there are
// when that is at least least. Only limits that take tokens back can be leased
// from. Its error is a *StoreError; after an ambiguous one the block may be
// gone, and nobody has it.
func (s *Store) Lease(ctx context.Context, key string, r *Rule, block, least int64) (Lease, error) {
	if err := checkLease(key, r, block, least); err != nil {
		return Lease{}, &StoreError{Err: err}
	}
	c := newCall(leaseScript(r), 1)
	c.key(key)
	_, c.args = encodeLease(c.args, s.now(), key, r, block, least)
	node, err := s.run(ctx, key, c)
	if err != nil {
		return Lease{}, err
	}
	l, err := decodeLease(c.reply.numbers, r)
	c.free()
	if err != nil {
		return Lease{}, &StoreError{Node: node, Err: err, MayHaveRun: true}
	}
	return l, nil
}

// GiveBack returns n tokens to a limit, which never holds more than its burst.
// Its error is a *StoreError; after an ambiguous one they may be back.
func (s *Store) GiveBack(ctx context.Context, key string, r *Rule, n int64) error {
	if err := checkLease(key, r, n, n); err != nil {
		return &StoreError{Err: err}
	}
	c := newCall(giveScript(r), 1)
	c.key(key)
	_, c.args = encodeGive(c.args, s.now(), key, r, n)
	node, err := s.run(ctx, key, c)
	if err != nil {
		return err
	}
	_, _, err = decodeGive(c.reply.numbers)
	c.free()
	if err != nil {
		return &StoreError{Node: node, Err: err, MayHaveRun: true}
	}
	return nil
}
