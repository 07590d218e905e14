package redislimit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// call is one script call on its way. Its caller owns it until it is queued,
// then the lane, and again the caller once it is done; a caller who leaves
// earlier leaves it to the lane.
//
// It is go-redis's command that streams its reply into a writer, which is the
// one kind that go-redis never sends a second time by itself, in no client
// and whatever its options.
type call struct {
	*redis.RawWriteToCmd
	script *Script
	args   []any
	keys   []string // args point into it
	reply  reply
	timer  *time.Timer
	err    error // set before done

	state atomic.Int32 // queued, taken or left
	sent  atomic.Bool  // go-redis began to write it
	done  chan struct{}

	asking    bool // the slot is on its way to the node
	again     bool // it was sent once more after a reply that it did not run
	redirects int
	batch     *batch // that it is in
}

const (
	queued int32 = iota
	taken        // a lane sends it
	left         // the caller went away before that
)

var calls = sync.Pool{New: func() any {
	c := &call{done: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	c.timer.Stop()
	c.RawWriteToCmd = redis.NewRawWriteToCmd(context.Background(), writerOf{c}, evalsha)
	return c
}}

const evalsha = "evalsha"

// newCall returns a call of script for keys that are to be added; its other
// arguments follow.
func newCall(script *Script, keys int) *call {
	c := calls.Get().(*call)
	c.script, c.err = script, nil
	c.args = append(c.args[:0], evalsha, &script.sha, keys)
	c.keys = c.keys[:0]
	c.state.Store(queued)
	c.again, c.redirects = false, 0
	c.ready(false)
	return c
}

// key adds a key. It is copied, since the caller's may be gone before c is.
func (c *call) key(key string) {
	c.keys = append(c.keys, key)
	c.args = append(c.args, &c.keys[len(c.keys)-1])
}

// ready makes c fit to be sent, for the first time or again.
func (c *call) ready(asking bool) {
	c.asking = asking
	c.sent.Store(false)
	c.reply.reset()
	c.SetErr(nil)
}

// free gives c back. Only for a caller whose call is done.
func (c *call) free() {
	clear(c.args)
	clear(c.keys)
	c.script, c.batch, c.err = nil, nil, nil
	calls.Put(c)
}

// Args is what go-redis writes. It asks for it when it writes it.
func (c *call) Args() []any {
	c.sent.Store(true)
	return c.args
}

// Name is the command's, for the client's hooks.
func (c *call) Name() string { return evalsha }

// FullName is Name.
func (c *call) FullName() string { return evalsha }

// String leaves out the arguments, which name subjects.
func (c *call) String() string { return evalsha }

// writerOf is where go-redis streams the reply to.
type writerOf struct{ c *call }

func (w writerOf) Write(p []byte) (int, error) {
	if err := w.c.reply.write(p); err != nil {
		return 0, err
	}
	if w.c.reply.whole && w.c.batch != nil {
		if err := w.c.batch.read(w.c); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
