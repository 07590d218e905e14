package survey

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/time/rate"

	"github.com/weir-cli/weir/inspect"
)

// Keys in one pipeline: so few that other callers of the server hardly wait
// for them, or at full pace so many that the way there does not matter.
const (
	gentleBatch = 8
	fullBatch   = 256
	// sparse is how many places of the server's table are gone over for each
	// key of a batch when a pattern leaves most of them out.
	sparse = 10
)

// Scan looks at all keys that the options name, one server after the other.
// When ctx ends it stops after the step it is at: the survey says so, and can
// be gone on with, as it can after an error.
func Scan(ctx context.Context, client redis.UniversalClient, o Options) (*Survey, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	if o.Top <= 0 {
		o.Top = DefaultTop
	}
	o.Top = min(o.Top, MaxTop)
	s, err := begin(&o)
	if err != nil {
		return nil, err
	}
	all, err := places(ctx, client, o.Replicas, o.Patience)
	if err != nil {
		return s, s.failed(ctx, err)
	}
	c := &crawl{o: &o, s: s, client: client}
	layouts := o.Layouts
	if o.Only != nil {
		layouts = []*inspect.Layout{o.Only}
	}
	c.index = inspect.NewIndex(layouts)
	c.pace = rate.NewLimiter(rate.Inf, 0)
	if o.Pace > 0 {
		c.pace = rate.NewLimiter(rate.Limit(o.Pace), c.batch())
	}
	for i := range all {
		if err := c.node(ctx, &all[i]); err != nil {
			return s, s.failed(ctx, err)
		}
		if s.Stopped != "" {
			break
		}
	}
	return s, nil
}

// failed notes why the survey ends early. The end of ctx is no error.
func (s *Survey) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		s.Stopped = "interrupted"
		return nil
	}
	s.Stopped = "failed"
	return err
}

// crawl is a Scan on its way.
type crawl struct {
	o      *Options
	s      *Survey
	client redis.UniversalClient
	index  *inspect.Index
	pace   *rate.Limiter
}

// batch is how many keys are read in one go.
func (c *crawl) batch() int {
	if c.o.Pace <= 0 {
		return fullBatch
	}
	return int(min(max(c.o.Pace/20, 1), gentleBatch))
}

// step is what one step of a scan gave, read.
type step struct {
	keys    []Key
	cursor  string // where it goes on after this
	tooLong int64
	looked  int64
}

// node looks at the keys of one server.
func (c *crawl) node(ctx context.Context, p *place) (err error) {
	from, err := connect(ctx, p, c.o)
	if err != nil {
		return err
	}
	defer from.w.close()
	aside, err := connect(ctx, p, c.o) // for the keys that belong to one
	if err != nil {
		return err
	}
	defer aside.w.close()
	addr := p.options.Addr
	if !p.cluster {
		addr = from.w.c.RemoteAddr().String()
	}
	n := c.s.node(addr, from.facts)
	n.Replica, n.Total, n.Facts = p.replica || from.facts["role"] == "slave", from.total, from.facts
	if n.Done {
		return nil
	}
	if from.touches {
		c.s.note(touchNote)
	}
	if p.replica {
		c.s.note("Replicas were read in place of their primaries: what they had not heard of yet is not in the figures.")
	}
	began := c.o.Clock()
	before := from.facts
	steps := make(chan step, 2)
	var walked error
	walking, stop := context.WithCancel(ctx)
	defer stop()
	// A server that hangs must not hold up the end.
	release := context.AfterFunc(ctx, func() { from.w.hurry(); aside.w.hurry() })
	defer release()
	go func() {
		defer close(steps)
		walked = c.walk(walking, from.keyReader, n.Cursor, steps)
	}()
	d := &decoder{crawl: c, aside: aside.keyReader, n: n}
	for x := range steps {
		if err == nil && c.s.Stopped == "" {
			err = d.take(ctx, &x)
		}
		if err != nil || c.s.Stopped != "" {
			stop()
			continue // until the walk has ended; what it read since is read again
		}
		n.Cursor, n.Done = x.cursor, x.cursor == noCursor
		c.progress(n)
		if c.o.MaxKeys > 0 && c.s.listed() >= c.o.MaxKeys && !n.Done {
			c.s.Stopped = "max-keys"
		}
	}
	if err == nil && c.s.Stopped == "" {
		err = walked
	}
	n.spent(began, c.o.Clock(), before, from, aside)
	c.s.Blind = blindOf(c.s.Blind, from, aside)
	return err
}

const touchNote = "The server has no CLIENT NO-TOUCH (Redis 7.2 and later) or does not allow it: each key that was read counts as just used, for its idle time and for an eviction by use."

func (c *crawl) progress(n *Node) {
	if c.o.Progress == nil {
		return
	}
	p := Progress{Node: n.Addr, Keys: c.s.listed()}
	for _, m := range c.s.Nodes {
		p.Total += m.Total
		switch {
		case m.Done:
			p.Done++
		case m.Total > 0:
			p.Done += min(float64(m.Looked)/float64(m.Total), 1)
		}
	}
	p.Done /= float64(max(len(c.s.Nodes), 1))
	c.o.Progress(c.s, p)
}

// spent adds what this part of the survey cost the server.
func (n *Node) spent(began, ended time.Time, before Facts, from, aside *link) {
	cost := Cost{Took: int64(ended.Sub(began))}
	if before != nil && from.ask() == nil && from.facts != nil {
		used := func(f Facts) float64 { return f.Number("used_cpu_sys") + f.Number("used_cpu_user") }
		cost.CPU, cost.CPUKnown = used(from.facts)-used(before), true
		n.Facts = from.facts
	}
	for _, l := range []*link{from, aside} {
		cost.Commands += l.w.commands
		cost.Sent += l.w.sent
		cost.Received += l.w.received
	}
	if cost.CPUKnown {
		all := from.facts.Number("total_commands_processed") - before.Number("total_commands_processed")
		cost.Others = max(0, int64(all)-cost.Commands)
	}
	n.Cost.plus(&cost)
}

// walk lists and reads keys, step by step, until all are read or ctx ends.
func (c *crawl) walk(ctx context.Context, r *keyReader, cursor string, steps chan<- step) error {
	at := &cursorAt{cursor: cursor, match: c.o.Match, count: c.batch()}
	if at.match != "" {
		at.count *= sparse
	}
	if err := c.wait(ctx, 1); err != nil {
		return err
	}
	_, list, err := r.read(nil, at)
	for {
		if err != nil {
			return err
		}
		x := step{cursor: list.cursor, tooLong: list.tooLong, looked: int64(at.count)}
		var next *listed
		at.cursor = list.cursor
		for names := list.keys; ; {
			// The last few go along with those before them.
			n := len(names)
			if n > c.batch()*3/2 {
				n = c.batch()
			}
			part := names[:n]
			names = names[n:]
			also := at
			if len(names) > 0 || list.cursor == noCursor {
				also = nil
			}
			if err := c.wait(ctx, max(n, at.count/sparse/sparse, 1)); err != nil {
				return err
			}
			var keys []Key
			keys, next, err = r.read(part, also)
			if err != nil {
				return err
			}
			x.keys = append(x.keys, keys...)
			if len(names) == 0 {
				break
			}
		}
		select {
		case steps <- x:
		case <-ctx.Done():
			return ctx.Err()
		}
		if list.cursor == noCursor {
			return nil
		}
		list = next
	}
}

// wait keeps the pace.
func (c *crawl) wait(ctx context.Context, n int) error {
	for c.o.Pace > 0 && n > 0 {
		part := min(n, c.pace.Burst())
		if err := c.pace.WaitN(ctx, part); err != nil {
			return err
		}
		n -= part
	}
	return ctx.Err()
}
