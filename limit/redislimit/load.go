package redislimit

import (
	"context"
	"sync"
	"sync/atomic"
)

// loads are the scripts that this process has put on one node.
type loads struct {
	n  atomic.Int64 // so far
	mu sync.Mutex   // held during a load: one at a time
	at map[*Script]int64
}

// count is how many loads there were; load takes one from before a failed
// call was sent.
func (l *loads) count() int64 { return l.n.Load() }

// load puts script on the node, unless somebody has since before: a thousand
// calls that find it gone load it once.
func (n *node) load(ctx context.Context, script *Script, before int64) error {
	l := &n.loads
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at[script] > before {
		return nil
	}
	n.s.stats.loads.Add(1)
	if err := n.c.ScriptLoad(ctx, script.source).Err(); err != nil {
		return &StoreError{Kind: Classify(err), Node: n.addr, Err: err}
	}
	if l.at == nil {
		l.at = map[*Script]int64{}
	}
	l.at[script] = l.n.Add(1)
	return nil
}
