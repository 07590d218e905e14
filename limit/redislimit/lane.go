package redislimit

import (
	"context"
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// node is one server of the store, with its queue. Its lanes are goroutines
// that each have one pipeline in flight. A lane begins when a call finds
// fewer than the most at work, so that an idle node waits for nothing; and
// what arrives while all are at work goes out in one pipeline with the next
// that is free. A lane that finds no more to do ends.
//
// A caller who cannot leave early is a lane of its own for its one call, which
// saves it two changes of goroutine: half of what a check takes on loopback.
type node struct {
	s     *Store
	c     *redis.Client // keeps to the Store's timeout
	heeds bool          // c keeps to the deadlines of contexts
	addr  string
	loads loads

	mu      sync.Mutex
	waiting []*call
	lanes   int
	idle    sync.Cond // lanes became fewer
}

// submit queues c and sees to it that somebody sends it: this goroutine, when
// a lane is free and stays tells that the caller will not leave before the
// Timeout. It tells false when the Store is closed.
func (n *node) submit(c *call, stays bool) bool {
	n.mu.Lock()
	if n.s.closed.Load() {
		n.mu.Unlock()
		return false
	}
	start := n.lanes < n.s.o.Lanes
	if start {
		n.lanes++
	}
	if start && stays && n.heeds && len(n.waiting) == 0 {
		n.mu.Unlock()
		n.sendAlone(c)
		return true
	}
	n.waiting = append(n.waiting, c)
	n.mu.Unlock()
	if start {
		go n.lane()
	}
	return true
}

// sendAlone is a lane for c. Others that came meanwhile get a lane in its
// place.
func (n *node) sendAlone(c *call) {
	c.state.Store(taken)
	b := batches.Get().(*batch)
	b.add(c)
	n.send(b)
	b.clear()
	batches.Put(b)
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) > 0 {
		go n.lane()
		return
	}
	n.lanes--
	n.idle.Broadcast()
}

// drain returns when no lane is at work. The Store is closed.
func (n *node) drain() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.lanes > 0 {
		n.idle.Wait()
	}
}

// idles reports whether no lane is at work.
func (n *node) idles() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lanes == 0
}

// lane sends what waits until nothing does.
func (n *node) lane() {
	b := batches.Get().(*batch)
	for n.next(b) {
		n.send(b)
		b.clear()
	}
	batches.Put(b)
}

// next moves what waits to b, up to the most that go together. It tells false
// when nothing waits; the lane is then off the books.
func (n *node) next(b *batch) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := min(len(n.waiting), n.s.o.Batch)
	for _, c := range n.waiting[:k] {
		if c.state.CompareAndSwap(queued, taken) {
			b.add(c)
		}
	}
	rest := copy(n.waiting, n.waiting[k:])
	clear(n.waiting[rest:])
	n.waiting = n.waiting[:rest]
	if k == 0 {
		n.lanes--
		n.idle.Broadcast()
	}
	return k > 0
}

// send has b executed. What is sure not to have run, and may run on a second
// try, is sent once more: after a load of its script, or on a connection that
// is not to an old primary.
func (n *node) send(b *batch) {
	if len(b.calls) == 0 { // all had left
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.s.o.Timeout)
	defer cancel()
	before := n.loads.count()
	n.exec(ctx, b)
	again := b.calls[:0]
	for _, c := range b.calls {
		if n.settle(c) {
			again = append(again, c)
		}
	}
	clear(b.calls[len(again):])
	b.calls = again
	if len(again) == 0 {
		return
	}
	for _, c := range again {
		if Classify(c.err) == KindNoScript {
			c.err = n.load(ctx, c.script, before)
		} else {
			c.err = nil
		}
	}
	sendable := b.calls[:0]
	for _, c := range again {
		if c.err != nil {
			c.finish()
			continue
		}
		c.ready(c.asking)
		sendable = append(sendable, c)
	}
	b.calls = sendable
	if len(sendable) == 0 {
		return
	}
	n.exec(ctx, b)
	for _, c := range b.calls {
		n.settle(c)
	}
}

// exec writes b in one pipeline and reads the replies.
func (n *node) exec(ctx context.Context, b *batch) {
	n.s.stats.pipelines.Add(1)
	n.s.stats.commands.Add(int64(len(b.calls)))
	b.readOnly = false
	for _, c := range b.calls {
		c.batch = b
	}
	n.write(ctx, b)
	for _, c := range b.calls {
		c.batch = nil
	}
}

// write has go-redis do it. Each call has its own error after it.
func (n *node) write(ctx context.Context, b *batch) {
	if len(b.calls) == 1 && !b.calls[0].asking {
		_ = n.c.Process(ctx, b.calls[0]) // as one call of a pipeline, for less
		return
	}
	b.cmds = b.cmds[:0]
	for _, c := range b.calls {
		if c.asking {
			b.cmds = append(b.cmds, redis.NewCmd(ctx, "asking"))
		}
		b.cmds = append(b.cmds, c)
	}
	pipe := n.c.Pipeline()
	_ = pipe.BatchProcess(ctx, b.cmds...) // queues only
	_, _ = pipe.Exec(ctx)
}

// settle ends c by what came back, or tells that it is to be sent once more
// to this node.
func (n *node) settle(c *call) (again bool) {
	c.err = c.outcome(n.addr)
	var kind Kind
	if c.err != nil {
		kind = Classify(c.err)
	}
	switch {
	case c.err == nil:
	case c.reply.fault == "":
		n.s.failed(n, kind)
	case kind == KindMoved && n.s.follow(n, c):
		return false
	case (kind == KindNoScript || kind == KindReadOnly) && !c.again:
		c.again = true
		return true
	}
	c.finish()
	return false
}

// finish hands c back to its caller, if that still waits.
func (c *call) finish() { c.done <- struct{}{} }

// outcome is nil for a reply of numbers, and otherwise a *StoreError.
func (c *call) outcome(addr string) error {
	if c.reply.whole {
		if c.reply.fault == "" {
			return nil
		}
		err := fault(c.reply.fault)
		kind := Classify(err)
		return &StoreError{Kind: kind, Node: addr, Err: err, MayHaveRun: !neverRan(kind)}
	}
	err := c.Err()
	if err == nil {
		err = errors.New("no reply")
	}
	return &StoreError{Kind: Classify(err), Node: addr, Err: err, MayHaveRun: c.sent.Load()}
}

// fault is an error reply.
type fault string

func (f fault) Error() string { return string(f) }

// RedisError makes it a redis.Error.
func (f fault) RedisError() {}
