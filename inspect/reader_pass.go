package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/limit/redislimit"
)

// pass reads keys of one node in two pipelines: first what must be known
// before a value is read, and is changed by reading it; then the values, with
// the time and what is left of the key's life.
type pass struct {
	*Reader
	ctx  context.Context
	node redis.Cmdable
	s    *Snapshot
}

func (p *pass) run(places []int) error {
	var live []int
	if len(places) > 0 {
		var err error
		if live, err = p.look(places); err != nil {
			return err
		}
	}
	return p.values(live)
}

// pipeline is a new one, which leaves the time of last use alone if it can.
func (p *pass) pipeline() (redis.Pipeliner, *redis.Cmd) {
	pipe := p.node.Pipeline()
	if p.noTouch.Load() == 2 {
		return pipe, nil
	}
	return pipe, pipe.Do(p.ctx, "CLIENT", "NO-TOUCH", "ON")
}

// send sends a pipeline and returns an error only if the connection failed.
func (p *pass) send(pipe redis.Pipeliner, noTouch *redis.Cmd) error {
	p.s.Commands += pipe.Len()
	_, err := pipe.Exec(p.ctx)
	if noTouch != nil {
		p.noTouch.Store(1)
		if noTouch.Err() != nil {
			p.noTouch.Store(2)
		}
	}
	var reply redis.Error
	if err == nil || errors.Is(err, redis.Nil) || errors.As(err, &reply) {
		return nil
	}
	return err
}

// look reads types, idle times and sizes, and returns the places of those keys
// that are there.
func (p *pass) look(places []int) (live []int, err error) {
	type asked struct {
		idle  *redis.DurationCmd
		kind  *redis.StatusCmd
		bytes *redis.IntCmd
	}
	pipe, noTouch := p.pipeline()
	cmds := make([]asked, len(places))
	for j, i := range places {
		key := p.s.Entries[i].Key
		cmds[j] = asked{pipe.ObjectIdleTime(p.ctx, key), pipe.Type(p.ctx, key), pipe.MemoryUsage(p.ctx, key)}
	}
	if err := p.send(pipe, noTouch); err != nil {
		return nil, err
	}
	for j, i := range places {
		e := &p.s.Entries[i]
		if e.Type, err = cmds[j].kind.Result(); err != nil {
			return nil, denied("TYPE", err)
		}
		if e.Type == "none" {
			continue
		}
		live = append(live, i)
		if d, err := cmds[j].idle.Result(); err == nil {
			e.Idle = d
		} else {
			p.blind("OBJECT IDLETIME", err, "when a key was last used")
		}
		if n, err := cmds[j].bytes.Result(); err == nil {
			e.Bytes = n
		} else {
			p.blind("MEMORY USAGE", err, "how much memory a key takes")
		}
	}
	return live, nil
}

// blind notes a command that is not allowed and that can be done without.
// Other errors, of servers that do not know it, are no news.
func (p *pass) blind(command string, err error, lost string) {
	if redislimit.Classify(err) != redislimit.KindNoPerm {
		return
	}
	for _, b := range p.s.Blind {
		if b.Command == command {
			return
		}
	}
	p.s.Blind = append(p.s.Blind, Blind{Command: command, Rule: RuleFor(command, err), Lost: lost})
}

// values reads the time, lives and values.
func (p *pass) values(live []int) error {
	if err := p.measure(live); err != nil {
		return err
	}
	pipe, noTouch := p.pipeline()
	clock := pipe.Time(p.ctx)
	ttls := make([]*redis.IntCmd, len(live))
	readers := make([]valueReader, len(live))
	for j, i := range live {
		e := &p.s.Entries[i]
		readers[j] = p.ask(pipe, e)
		// Last, so that of a key that is still there all has been read; and as a
		// number: some are too long for a Duration.
		ttls[j] = redis.NewIntCmd(p.ctx, "pttl", e.Key)
		_ = pipe.Process(p.ctx, ttls[j]) // only queued; its reply is looked at below
	}
	before := p.o.Clock()
	if err := p.send(pipe, noTouch); err != nil {
		return err
	}
	after := p.o.Clock()
	now, err := clock.Result()
	if err != nil {
		if redislimit.Classify(err) != redislimit.KindNoPerm {
			return err
		}
		p.blind("TIME", err, "the server's time, for which the local clock stands in")
		now = after
	} else {
		p.s.RTT = after.Sub(before)
		p.s.Skew = now.Sub(before.Add(p.s.RTT / 2))
	}
	p.s.Now = max(p.s.Now, now.UnixNano())
	for j, i := range live {
		e := &p.s.Entries[i]
		e.At = now.UnixNano()
		ms, err := ttls[j].Result()
		if err != nil {
			return denied("PTTL", err)
		}
		if e.TTL = life(ms); e.TTL == NoKey {
			e.Type, e.Bytes, e.Idle = "none", Unknown, Unknown // it expired in between
			continue
		}
		if err := readers[j](); err != nil {
			var deny *DeniedError
			if errors.As(err, &deny) || moved(err) {
				return err
			}
			e.Problem = err.Error()
		}
	}
	return nil
}

// valueReader takes over the replies into the entry.
type valueReader func() error

// ask puts the commands that read e's value on the pipeline.
func (p *pass) ask(pipe redis.Pipeliner, e *Entry) valueReader {
	ctx, key, most := p.ctx, e.Key, int64(p.o.Members)
	if p.tooLarge(e) {
		return func() error {
			e.Truncated = true
			return fmt.Errorf("it takes %d MB, and no more than %d are read", e.Bytes>>20, maxValue>>20)
		}
	}
	switch e.Type {
	case "string":
		n, text := pipe.StrLen(ctx, key), pipe.GetRange(ctx, key, 0, int64(p.o.Text)-1)
		return func() (err error) {
			if e.Len, err = n.Result(); err != nil {
				return denied("STRLEN", err)
			}
			s, err := text.Result()
			if err != nil {
				return denied("GETRANGE", err)
			}
			e.Text, e.Truncated = []byte(s), int64(len(s)) < e.Len
			if IsShared(s) {
				e.Idle = Unknown
			}
			return nil
		}
	case "hash":
		n, scan := pipe.HLen(ctx, key), pipe.HScan(ctx, key, 0, "", min(most, 1000))
		return func() (err error) {
			if e.Len, err = n.Result(); err != nil {
				return denied("HLEN", err)
			}
			list, _, err := scan.Result()
			if err != nil {
				return denied("HSCAN", err)
			}
			e.Fields = map[string]string{}
			for i := 0; i+1 < len(list) && int64(len(e.Fields)) < most; i += 2 {
				e.Fields[list[i]] = list[i+1]
			}
			e.Truncated = int64(len(e.Fields)) < e.Len
			return nil
		}
	case "zset":
		n, head, tail := pipe.ZCard(ctx, key), pipe.ZRangeWithScores(ctx, key, 0, most/2-1), pipe.ZRangeWithScores(ctx, key, -(most-most/2), -1)
		return func() (err error) {
			if e.Len, err = n.Result(); err != nil {
				return denied("ZCARD", err)
			}
			first, err := head.Result()
			if err != nil {
				return denied("ZRANGE", err)
			}
			last, err := tail.Result()
			if err != nil {
				return denied("ZRANGE", err)
			}
			e.Join(members(first), members(last))
			return nil
		}
	case "list":
		n, head, tail := pipe.LLen(ctx, key), pipe.LRange(ctx, key, 0, most/2-1), pipe.LRange(ctx, key, -(most-most/2), -1)
		return func() (err error) {
			if e.Len, err = n.Result(); err != nil {
				return denied("LLEN", err)
			}
			first, err := head.Result()
			if err != nil {
				return denied("LRANGE", err)
			}
			last, err := tail.Result()
			if err != nil {
				return denied("LRANGE", err)
			}
			e.Join(items(first), items(last))
			return nil
		}
	}
	return func() error { return fmt.Errorf("no limiter that is known keeps a %.40q", e.Type) }
}

// sharedNumbers are those that servers keep once for all keys that hold one,
// unless they evict by use: the time of last use is then that of all of them.
const sharedNumbers = 10_000

// IsShared reports whether text may be such a number.
func IsShared(text string) bool {
	n, ok := parseNumber(text)
	return ok && n.isWhole && n.whole >= 0 && n.whole < sharedNumbers
}

// tooLarge reports whether reading the two ends of a value would be too much:
// members may be as large as they like, and come whole or not at all.
func (p *pass) tooLarge(e *Entry) bool {
	switch {
	case e.Type == "string" || e.Bytes <= maxValue:
		return false
	case e.Type == "hash" || e.Len == 0:
		return true
	}
	return e.Bytes/e.Len*min(e.Len, int64(p.o.Members)) > maxValue
}

// measure asks how long those values are that might be too large to read.
func (p *pass) measure(live []int) error {
	pipe, noTouch := p.pipeline()
	var large []*Entry
	var lengths []*redis.IntCmd
	var commands []string
	for _, i := range live {
		e := &p.s.Entries[i]
		if e.Type == "string" || e.Bytes <= maxValue {
			continue
		}
		switch e.Type {
		case "hash":
			lengths, commands = append(lengths, pipe.HLen(p.ctx, e.Key)), append(commands, "HLEN")
		case "zset":
			lengths, commands = append(lengths, pipe.ZCard(p.ctx, e.Key)), append(commands, "ZCARD")
		case "list":
			lengths, commands = append(lengths, pipe.LLen(p.ctx, e.Key)), append(commands, "LLEN")
		default:
			continue
		}
		large = append(large, e)
	}
	if len(large) == 0 {
		return nil
	}
	if err := p.send(pipe, noTouch); err != nil {
		return err
	}
	for i, e := range large {
		n, err := lengths[i].Result()
		if redislimit.Classify(err) == redislimit.KindNoPerm || moved(err) {
			return denied(commands[i], err)
		}
		e.Len = n // 0 when it is gone, or something else by now
	}
	return nil
}

// Join puts the start and the end of a long value together, which overlap when
// all of it is there.
func (e *Entry) Join(head, tail []Member) {
	if overlap := int64(len(head)+len(tail)) - e.Len; overlap >= 0 {
		e.Members = append(head, tail[min(overlap, int64(len(tail))):]...)
		return
	}
	e.Truncated, e.Head = true, len(head)
	e.Members = append(head, tail...)
}

func members(list []redis.Z) []Member {
	out := make([]Member, len(list))
	for i, z := range list {
		name, _ := z.Member.(string)
		out[i] = Member{Name: name, Score: z.Score}
	}
	return out
}

func items(list []string) []Member {
	out := make([]Member, len(list))
	for i, s := range list {
		out[i] = Member{Name: s}
	}
	return out
}

// maxLife is the longest life that is told apart: a time that far ahead still
// fits in unix ns. Writers that double a key's life do give longer ones.
const maxLife = 100 * 365 * 24 * time.Hour

// life is a reply of PTTL.
func life(ms int64) time.Duration {
	switch {
	case ms < 0:
		return time.Duration(ms) // NoTTL, NoKey
	case ms > maxLife.Milliseconds():
		return maxLife
	}
	return time.Duration(ms) * time.Millisecond
}
