package redislimit

import (
	"context"
	"errors"
	"sync"
)

// Release gives back the slots of concurrency limits that the IDs of parts
// hold, in one call for each. Parts of other limits are passed over, so that
// all of an admitted request's can be given. Giving back twice is harmless.
// Its error joins a *StoreError for each that failed.
func (s *Store) Release(ctx context.Context, parts ...Part) error {
	if err := checkParts(parts); err != nil {
		return &StoreError{Err: err}
	}
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	last := -1 // done here, without a goroutine
	for i := range parts {
		if !parts[i].Rule.Releases() || parts[i].Cost <= 0 {
			continue
		}
		if last >= 0 {
			i := last
			all.Go(func() { errs[i] = s.release(ctx, parts[i]) })
		}
		last = i
	}
	if last >= 0 {
		errs[last] = s.release(ctx, parts[last])
	}
	all.Wait()
	return errors.Join(errs...)
}

func (s *Store) release(ctx context.Context, p Part) error {
	c := newCall(releaseScript(), 1)
	c.key(p.Key)
	_, c.args = encodeRelease(c.args, &p)
	node, err := s.run(ctx, p.Key, c)
	if err != nil {
		return err
	}
	_, err = decodeRelease(c.reply.numbers)
	c.free()
	if err != nil {
		return &StoreError{Node: node, Err: err, MayHaveRun: true}
	}
	return nil
}
