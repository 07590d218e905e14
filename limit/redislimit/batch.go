package redislimit

import (
	"errors"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// batch is what goes out in one pipeline. One lane owns it.
type batch struct {
	calls    []*call
	cmds     []redis.Cmder
	readOnly bool // a replica answered
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// errOldPrimary ends a connection to a server that takes no writes any more.
var errOldPrimary = errors.New("a replica answered")

func (b *batch) add(c *call) { b.calls = append(b.calls, c) }

func (b *batch) clear() {
	clear(b.calls[:cap(b.calls)])
	clear(b.cmds[:cap(b.cmds)])
	b.calls, b.cmds = b.calls[:0], b.cmds[:0]
}

// read hears that the reply of c is here. Once all are, an error ends a
// connection on which a replica answered, so that the next one goes to
// whoever is primary then: go-redis asks the sentinels, or the name service.
func (b *batch) read(c *call) error {
	if strings.HasPrefix(c.reply.fault, "READONLY") || strings.Contains(c.reply.fault, "-READONLY") {
		b.readOnly = true
	}
	if b.readOnly && c == b.calls[len(b.calls)-1] {
		return errOldPrimary
	}
	return nil
}
