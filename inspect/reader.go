package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/limit/redislimit"
)

// What a [Reader] reads at most unless its Options say otherwise.
const (
	DefaultText    = 64 << 10 // bytes of a string
	DefaultMembers = 10_000   // fields, members or items, from both ends
	maxValue       = 32 << 20 // bytes of a hash, set or list that is read at all
	maxBatch       = 256      // keys in one pipeline
	maxMoves       = 3        // redirections of a cluster that are followed
)

// ReaderOptions bound what is read. The zero value is right for most.
type ReaderOptions struct {
	Text    int // bytes of a string; 0 is DefaultText
	Members int // fields, members or items; 0 is DefaultMembers
	// Clock is the local time, for the skew; nil is the system's.
	Clock func() time.Time
}

// Reader reads keys with plain reads: TIME, TYPE, PTTL, OBJECT IDLETIME, MEMORY
// USAGE, and of the value STRLEN, GETRANGE, HLEN, HSCAN, ZCARD, ZRANGE, LLEN,
// LRANGE. None of them writes, and where the server can leave the time of last
// use alone (CLIENT NO-TOUCH) it does. Safe for concurrent use.
type Reader struct {
	c       redis.UniversalClient
	o       ReaderOptions
	noTouch atomic.Int32 // 0 untried, 1 works, 2 does not
}

// NewReader returns a Reader on c, which stays the caller's to close.
func NewReader(c redis.UniversalClient, o ReaderOptions) *Reader {
	if o.Text <= 0 {
		o.Text = DefaultText
	}
	if o.Members <= 0 {
		o.Members = DefaultMembers
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Reader{c: c, o: o}
}

// Blind is a command that the server did not allow, without which reading goes
// on and knows less.
type Blind struct {
	Command string // such as "MEMORY USAGE"
	Rule    string // of the ACL, that would allow it: "+memory|usage"
	Lost    string // what is not known for want of it
}

// Snapshot is what was read at one time.
type Snapshot struct {
	Entries []Entry // in the order of the keys
	Now     int64   // unix ns, of the server's clock; the latest of several nodes
	// Skew is by how much the server's clock is ahead of the local one, give or
	// take half of RTT.
	Skew, RTT time.Duration
	Blind     []Blind
	Commands  int // that were sent
}

// DeniedError is a command without which nothing can be read and that the user
// may not run.
type DeniedError struct {
	Command string // such as "GETRANGE"
	Rule    string // of the ACL: "+getrange", or "%R~*" for the keys
	Err     error
}

func (e *DeniedError) Error() string {
	if strings.HasPrefix(e.Rule, "%") {
		return "the user may not read the key"
	}
	return "the user may not run " + e.Command
}

func (e *DeniedError) Unwrap() error { return e.Err }

// touches reports whether reading a value counts as a use of its key, so that
// the idle time is this reader's from the second read on.
func (r *Reader) touches() bool { return r.noTouch.Load() == 2 }

// Get reads keys. Of a key that is gone the TTL says so.
func (r *Reader) Get(ctx context.Context, keys ...string) (Snapshot, error) {
	s := Snapshot{Entries: make([]Entry, len(keys))}
	for i, key := range keys {
		s.Entries[i] = Entry{Key: key, Type: "none", TTL: NoKey, Idle: Unknown, Bytes: Unknown, Slot: -1}
	}
	for _, g := range r.group(keys) {
		for part := range slices.Chunk(g, maxBatch) {
			if err := r.read(ctx, &s, part); err != nil {
				return s, err
			}
		}
	}
	if len(keys) == 0 {
		// Nothing to read but the time.
		err := r.read(ctx, &s, nil)
		return s, err
	}
	return s, nil
}

// group divides keys, by their places, among the slots that share a node. Where
// each is, is asked when it is read, since slots move.
func (r *Reader) group(keys []string) [][]int {
	all := make([]int, len(keys))
	for i := range keys {
		all[i] = i
	}
	if _, cluster := r.c.(*redis.ClusterClient); !cluster {
		return [][]int{all}
	}
	slices.SortStableFunc(all, func(a, b int) int { return redislimit.Slot(keys[a]) - redislimit.Slot(keys[b]) })
	var groups [][]int
	last := -1
	for _, i := range all {
		if slot := redislimit.Slot(keys[i]); slot != last {
			groups, last = append(groups, nil), slot
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
	}
	return groups
}

// read reads the keys at places, which are on one node.
func (r *Reader) read(ctx context.Context, s *Snapshot, places []int) error {
	key := ""
	if len(places) > 0 {
		key = s.Entries[places[0]].Key
	}
	for moves := 0; ; moves++ {
		node, addr, err := r.node(ctx, key)
		if err != nil {
			return err
		}
		p := &pass{Reader: r, ctx: ctx, node: node, s: s}
		err = p.run(places)
		if moved(err) && moves < maxMoves {
			if c, ok := r.c.(*redis.ClusterClient); ok {
				c.ReloadState(ctx)
				continue
			}
		}
		if _, cluster := r.c.(*redis.ClusterClient); cluster && err == nil {
			for _, i := range places {
				s.Entries[i].Slot, s.Entries[i].Node = redislimit.Slot(s.Entries[i].Key), addr
			}
		}
		return err
	}
}

// moved reports whether a node said that the key is elsewhere.
func moved(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && (strings.HasPrefix(reply.Error(), "MOVED ") || strings.HasPrefix(reply.Error(), "ASK "))
}

// node is who has the key. Only a cluster has several.
func (r *Reader) node(ctx context.Context, key string) (redis.Cmdable, string, error) {
	c, ok := r.c.(*redis.ClusterClient)
	if !ok {
		return r.c, "", nil
	}
	n, err := c.MasterForKey(ctx, key)
	if err != nil {
		return nil, "", fmt.Errorf("who has slot %d: %w", redislimit.Slot(key), err)
	}
	return n, n.Options().Addr, nil
}

// Existing are those of keys that are there, asked with EXISTS alone. hidden is
// how many the user may not ask for, as one who may read only some keys.
func (r *Reader) Existing(ctx context.Context, keys ...string) (found []string, hidden int, err error) {
	for _, g := range r.group(keys) {
		for part := range slices.Chunk(g, maxBatch) {
			node, _, err := r.node(ctx, keys[part[0]])
			if err != nil {
				return nil, 0, err
			}
			pipe := node.Pipeline()
			var cmds []*redis.IntCmd
			for _, i := range part {
				cmds = append(cmds, pipe.Exists(ctx, keys[i]))
			}
			// Each reply is looked at below.
			_, _ = pipe.Exec(ctx)
			for j, cmd := range cmds {
				n, err := cmd.Result()
				if err = denied("EXISTS", err); KeyDenied(err) {
					hidden++
					continue
				}
				if err != nil {
					return nil, 0, err
				}
				if n > 0 {
					found = append(found, keys[part[j]])
				}
			}
		}
	}
	return found, hidden, nil
}

// KeyDenied reports whether an error is that the user may not read a key, as
// opposed to not running a command.
func KeyDenied(err error) bool {
	var deny *DeniedError
	return errors.As(err, &deny) && deny.Rule == anyKey
}

// anyKey is the rule of an ACL that allows reads of every key.
const anyKey = "%R~*"

// denied types an error of a command that reading cannot do without.
func denied(command string, err error) error {
	if redislimit.Classify(err) != redislimit.KindNoPerm {
		return err
	}
	return &DeniedError{Command: command, Rule: RuleFor(command, err), Err: err}
}

// RuleFor is what an ACL needs so that the command works.
func RuleFor(command string, err error) string {
	if strings.Contains(err.Error(), "access one of the keys") || strings.Contains(err.Error(), "access a key") {
		return anyKey
	}
	return "+" + strings.ReplaceAll(strings.ToLower(command), " ", "|")
}
