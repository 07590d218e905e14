package replay

import (
	"context"
	"fmt"
	"time"
)

// lab tries a script out on an embedded store of its own: each experiment on
// keys of its own, on a clock that only goes forward.
type lab struct {
	run   *session
	store *Embedded
	ctx   context.Context
	clock int64
	n     int
	shas  []string
}

// subject is one experiment's keys.
type subject struct {
	l      *lab
	call   Call
	prefix string
	number int64
}

// tried is what a call in the lab came to.
type tried struct {
	ok   bool
	wait time.Duration
	obs  []observed
	keys []string
	err  error
}

// labTime bounds one call in the lab.
const labTime = 2 * time.Second

func newLab(ctx context.Context, s *session) (*lab, error) {
	store, err := NewEmbedded()
	if err != nil {
		return nil, err
	}
	l := &lab{run: s, store: store, ctx: ctx, clock: virtualStart}
	for _, h := range s.Halves {
		if err := compiles(ctx, store, h.Script); err != nil {
			store.Close()
			return nil, err
		}
		l.shas = append(l.shas, h.Script.SHA)
	}
	return l, nil
}

// fresh begins an experiment with a call of the trace, phase after a whole
// minute that no experiment has reached.
func (l *lab) fresh(c Call, phase time.Duration) *subject {
	l.n++
	const minute = int64(time.Minute)
	l.clock = (l.clock/minute+1)*minute + int64(phase)
	return &subject{l: l, call: c, prefix: fmt.Sprintf("lab-%d:", l.n)}
}

// at moves the clock forward.
func (l *lab) at(t int64) { l.clock = max(l.clock, t) }

// try makes a call now, on the clock of a caller that is ahead by skew.
func (u *subject) try(skew time.Duration) tried {
	t := u.begin(skew)
	if len(u.l.run.Halves) > 1 && t.err == nil {
		u.end(&t, skew)
	}
	return u.read(t)
}

// begin is the first half of a call, or all of it.
func (u *subject) begin(skew time.Duration) tried {
	u.number++
	h := u.l.run.Halves[0]
	return u.half(0, h.Map.fill(&u.call, u.prefix, moment{now: u.l.clock + int64(skew), number: u.number}))
}

func (u *subject) end(t *tried, skew time.Duration) {
	h := u.l.run.Halves[1]
	reply := t.obs[len(t.obs)-1].reply
	second := u.half(1, h.Map.fill(&u.call, u.prefix, moment{now: u.l.clock + int64(skew), number: u.number, reply: reply}))
	t.obs, t.err = append(t.obs, second.obs...), second.err
	t.keys = append(t.keys, second.keys...)
}

func (u *subject) half(i int, f filled) tried {
	t := tried{keys: f.keys}
	l := u.l
	l.store.setTime(l.clock)
	ctx, cancel := context.WithTimeout(l.ctx, labTime)
	defer cancel()
	a := one(ctx, l.store, evalsha(l.shas[i], f)...)
	if t.err = a.err; t.err == nil {
		t.obs = []observed{*a.seen}
	}
	return t
}

// read takes the meaning of a call that is through.
func (u *subject) read(t tried) tried {
	if t.err == nil {
		t.ok, t.wait, t.err = u.l.run.Meaning.read(t.obs[len(t.obs)-1].reply, u.call.Cost)
	}
	return t
}

// drainMost is how many calls at once are made to find a refusal.
const drainMost = 3000

// drain calls until one is refused and returns that, and how many passed.
func (u *subject) drain() (last tried, passed int) {
	for range drainMost {
		last = u.try(0)
		if last.err != nil || !last.ok {
			return last, passed
		}
		passed++
	}
	return last, passed
}

// touched are the keys of calls, by name.
func (t *tried) touched() []string {
	seen := map[string]bool{}
	var keys []string
	for _, o := range t.obs {
		for _, k := range o.touched {
			if !seen[k.key] {
				seen[k.key] = true
				keys = append(keys, k.key)
			}
		}
	}
	return keys
}

// ttls looks at the keys that exist: the longest time to live, one that has
// none, "" when all have, and whether some have.
func (l *lab) ttls(keys []string) (longest time.Duration, without string, some bool) {
	for _, k := range keys {
		if !l.store.m.Exists(k) {
			continue
		}
		ttl := l.store.m.TTL(k)
		if ttl <= 0 {
			without = k
			continue
		}
		longest, some = max(longest, ttl), true
	}
	return longest, without, some
}
