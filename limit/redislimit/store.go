package redislimit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// What a [Store] does unless its Options say otherwise.
const (
	DefaultTimeout = 50 * time.Millisecond
	defaultLanes   = 4
	defaultBatch   = 64
)

// Options of a [Store]. The zero value is right for most.
type Options struct {
	Timeout time.Duration // of one check; 0 is DefaultTimeout
	// Lanes is how many pipelines are in flight to one node, each on a
	// connection of its own; 0 is 4. Fewer make larger pipelines.
	Lanes int
	Batch int // most checks in one pipeline; 0 is 64
	// Clock decides in place of the store's own TIME, in unix ns. It is wrong
	// where callers' clocks differ; it is for tests and to show just that.
	Clock func() int64
	// Observe, if set, hears of each script call when it is over: one a check,
	// or one a slot in a cluster. node is "" when none was chosen. It must be
	// quick and safe for concurrent use. err is nil or a *StoreError.
	Observe func(node string, took time.Duration, err error)
}

// Store decides checks in Redis. Concurrent checks to one node share
// pipelines, and none ever waits for others to come: see [Options.Lanes].
//
// No check is sent twice unless its first reply tells that it was not
// executed, whatever the client's options say about retries. The client's
// timeouts do not count either, but Options.Timeout.
//
// It is safe for concurrent use.
type Store struct {
	o       Options
	single  *node                // the only one; nil in a cluster
	cluster *redis.ClusterClient // nil for one server
	nodes   sync.Map             // in a cluster: *redis.Client to *node
	strays  strays
	stats   counts
	closed  atomic.Bool
}

// NewStore returns a Store on c, a *redis.Client (also of a failover group
// under Sentinel) or a *redis.ClusterClient. With any other, every check
// fails. c stays the caller's to close, after the Store.
func NewStore(c redis.UniversalClient, o Options) *Store {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Lanes <= 0 {
		o.Lanes = defaultLanes
	}
	if o.Batch <= 0 {
		o.Batch = defaultBatch
	}
	s := &Store{o: o}
	switch c := c.(type) {
	case *redis.Client:
		s.single = s.newNode(c)
	case *redis.ClusterClient:
		s.cluster = c
	}
	return s
}

// Take decides a request that is under all of parts, all or nothing, on one
// server in one script call. In a cluster the parts of each slot are a call of
// their own: see docs/redis.md for what that leaves open. Its error is a
// *StoreError.
//
// A caller leaves at once when ctx ends. One whose ctx never does, such as
// context.WithoutCancel's, still leaves after Options.Timeout, and is answered
// sooner when the store is idle.
//
// After an ambiguous error, parts of concurrency limits may be held: give them
// to Release.
func (s *Store) Take(ctx context.Context, parts ...Part) (Answer, error) {
	if len(parts) == 0 {
		a := Answer{}
		a.join()
		return a, nil
	}
	if err := checkParts(parts); err != nil {
		return Answer{}, &StoreError{Err: err}
	}
	if s.cluster != nil && len(parts) > 1 {
		if groups := groupParts(parts); len(groups) > 1 {
			return s.takeGroups(ctx, parts, groups)
		}
	}
	return s.take(ctx, parts)
}

// take is Take for parts of one slot.
func (s *Store) take(ctx context.Context, parts []Part) (Answer, error) {
	c := newCall(scriptFor(parts), len(parts))
	for i := range parts {
		c.key(parts[i].Key)
	}
	c.args = append(c.args, s.clock())
	for i := range parts {
		c.args = appendPart(c.args, &parts[i])
	}
	node, err := s.run(ctx, parts[0].Key, c)
	if err != nil {
		return Answer{}, err
	}
	a, err := decode(c.reply.numbers, parts)
	c.free()
	if err != nil {
		return Answer{}, &StoreError{Node: node, Err: err, MayHaveRun: true}
	}
	return a, nil
}

// clock is what scripts get for the time.
func (s *Store) clock() any { return micros(s.now()) }

func (s *Store) now() int64 {
	if s.o.Clock == nil {
		return storeTime
	}
	return s.o.Clock()
}

// run has c executed where key is and waits for it. Without an error c's reply
// is numbers, and c the caller's to free.
func (s *Store) run(ctx context.Context, key string, c *call) (node string, err error) {
	s.stats.checks.Add(1)
	var start time.Time
	if s.o.Observe != nil {
		start = time.Now()
	}
	node, err = s.wait(ctx, key, c)
	if err != nil {
		s.stats.errors[Classify(err)].Add(1)
	}
	if s.o.Observe != nil {
		s.o.Observe(node, time.Since(start), err)
	}
	return node, err
}

func (s *Store) wait(ctx context.Context, key string, c *call) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", &StoreError{Kind: Classify(err), Err: err}
	}
	n, err := s.nodeFor(ctx, key)
	if err != nil {
		return "", &StoreError{Kind: Classify(err), Err: err}
	}
	if !n.submit(c, ctx.Done() == nil) {
		return n.addr, &StoreError{Kind: KindClosed, Node: n.addr, Err: redis.ErrClosed}
	}
	c.timer.Reset(s.o.Timeout)
	select {
	case <-c.done:
		c.timer.Stop()
		if c.err == nil {
			return n.addr, nil
		}
		err := c.err
		c.free()
		return n.addr, err
	case <-ctx.Done():
		c.timer.Stop()
		err = ctx.Err()
	case <-c.timer.C:
		err = context.DeadlineExceeded
	}
	// What no lane has taken yet, none will. c itself is the lane's now.
	unsent := c.state.CompareAndSwap(queued, left)
	return n.addr, &StoreError{Kind: Classify(err), Node: n.addr, Err: err, MayHaveRun: !unsent}
}

// Node names the shard that key is on, for whoever keeps a breaker for each:
// its primary's address in a cluster, otherwise "".
func (s *Store) Node(key string) string {
	if s.cluster == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Timeout)
	defer cancel()
	n, err := s.nodeFor(ctx, key)
	if err != nil {
		return ""
	}
	return n.addr
}

// Close takes no more checks and returns when those on their way are over,
// which takes a few Timeouts at most.
func (s *Store) Close() error {
	s.closed.Store(true)
	if s.single != nil {
		s.single.drain()
	}
	s.nodes.Range(func(_, n any) bool {
		n.(*node).drain()
		return true
	})
	return s.strays.close()
}
