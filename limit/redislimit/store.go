package redislimit

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// DefaultTimeout is how long a check may take unless Options say otherwise.
const DefaultTimeout = 50 * time.Millisecond

// Options of a [Store]. The zero value is right for most.
type Options struct {
	Timeout time.Duration // of one check; 0 is DefaultTimeout
	Lanes   int           // pipelines in flight to one node; 0 is 4
	Batch   int           // most checks in one pipeline; 0 is 64
	// Clock decides in place of the store's own TIME, in unix ns. It is wrong
	// where callers' clocks differ; it is for tests and to show just that.
	Clock func() int64
	// Observe, if set, hears of each check when it is over. It must be quick
	// and safe for concurrent use. err is nil or a *StoreError.
	Observe func(node string, took time.Duration, err error)
}

// Store decides checks in Redis. It is safe for concurrent use.
type Store struct {
	c redis.UniversalClient
	o Options
}

// NewStore returns a Store on c, which stays the caller's to close.
func NewStore(c redis.UniversalClient, o Options) *Store {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return &Store{c: c, o: o}
}

// Take decides a request that is under all of parts, all or nothing. Its
// error is a *StoreError.
func (s *Store) Take(ctx context.Context, parts ...Part) (Answer, error) {
	if len(parts) == 0 {
		var a Answer
		a.OK, a.By = true, -1
		return a, nil
	}
	script := scriptFor(parts)
	now := int64(0)
	if s.o.Clock != nil {
		now = s.o.Clock()
	}
	keys, args := encode(nil, now, parts)
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	reply, err := redis.NewScript(script.source).Run(ctx, s.c, keys, args...).Result()
	if err != nil {
		kind := Classify(err)
		return Answer{}, &StoreError{Kind: kind, Err: err, MayHaveRun: !neverRan(kind)}
	}
	a, err := decode(reply, parts)
	if err != nil {
		return Answer{}, &StoreError{Kind: KindUnexpected, Err: err, MayHaveRun: true}
	}
	return a, nil
}

// Node names the shard that key is on, for whoever keeps a breaker for each:
// its primary's address in a cluster, otherwise "".
func (s *Store) Node(key string) string {
	c, ok := s.c.(*redis.ClusterClient)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Timeout)
	defer cancel()
	node, err := c.MasterForKey(ctx, key)
	if err != nil {
		return ""
	}
	return node.Options().Addr
}

// Close ends what the Store runs.
func (s *Store) Close() error { return nil }
