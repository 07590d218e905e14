package inspect_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
)

// tolerance is by how much a library's time may lie outside of the two reads
// around its call: most take whole ms, and Redis ends keys by a clock that it
// reads now and then.
const tolerance = 2 * time.Millisecond

// longest is the longest wait that is told apart, which a doubling life of a
// key soon reaches.
const longest = 100 * 365 * 24 * time.Hour

// seen is a limiter's state, decoded as of tolerance before it was read.
type seen struct {
	inspect.Reading
	raw []inspect.Entry
}

// compare has a library decide until enough of its answers were foreseen.
func (lib *library) compare(ctx context.Context, d driver, c redis.UniversalClient) (y tally) {
	y.name = lib.name
	began := time.Now()
	defer func() { y.took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	name := lib.library
	if name == "" {
		name = lib.name
	}
	talk, err := d.start(ctx, name, c.(*redis.Client).Options().Addr, lib.settings)
	if err != nil {
		y.err = err
		return y
	}
	defer talk.end()
	told, err := limit.ParseSpec(lib.limit)
	if err != nil {
		y.err = err
		return y
	}
	if y.err = lib.findPrefix(ctx, talk, c); y.err != nil {
		return y
	}
	r := inspect.NewReader(c, inspect.ReaderOptions{})
	random := rand.New(rand.NewPCG(1, uint64(len(lib.name))))
	for !y.enough() && y.steps < mostSteps && len(y.wrong) < maxWrong {
		y.steps++
		pause := time.Duration(random.Int64N(int64(lib.pause)))
		if random.IntN(25) == 0 {
			pause *= 40
		}
		// Whether calls pass depends on how fast the machine is; about as many
		// should as not.
		calls := 0
		switch {
		case y.refused*3 < y.passed:
			calls = random.IntN(10)
		case y.passed*3 < y.refused:
			pause *= 3
		}
		time.Sleep(pause)
		n := random.IntN(lib.ids)
		if lib.fresh > 0 {
			n += y.steps / lib.fresh * lib.ids
		}
		id := "u" + strconv.Itoa(n)
		for range calls {
			if _, err := talk.take(id, 1); err != nil {
				y.err = err
				return y
			}
		}
		cost := 1 + random.Int64N(lib.costs)
		before, err := lib.see(ctx, r, id, &told, &y)
		if err != nil {
			y.err = err
			return y
		}
		a, err := talk.take(id, cost)
		if err != nil {
			y.err = err
			return y
		}
		after, err := lib.see(ctx, r, id, &told, &y)
		if err != nil {
			y.err = err
			return y
		}
		lib.judge(&y, before, after, cost, a)
	}
	return y
}

// see reads what a customer's state holds.
func (lib *library) see(ctx context.Context, r *inspect.Reader, id string, told *limit.Spec, y *tally) (seen, error) {
	l := inspect.Find(inspect.Builtin(), lib.layout)
	if l == nil {
		return seen{}, fmt.Errorf("there is no layout %s", lib.layout)
	}
	keys, err := lib.keys(l, id)
	if err != nil {
		return seen{}, err
	}
	s, err := r.Get(ctx, keys...)
	if err != nil {
		return seen{}, err
	}
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Exists() {
			lib.named(y, e, s.Now)
		}
	}
	// A little earlier, so that all that a library may see lies ahead.
	early := make([]inspect.Entry, len(s.Entries))
	for i, e := range s.Entries {
		if e.Exists() && e.TTL != inspect.NoTTL {
			e.TTL += tolerance
		}
		early[i] = e
	}
	reading, err := inspect.Decode(l, early, s.Now-int64(tolerance), told)
	return seen{reading, s.Entries}, err
}

// findPrefix sees by a first call which of its prefixes this version uses.
func (lib *library) findPrefix(ctx context.Context, talk *conversation, c redis.UniversalClient) error {
	if len(lib.prefixes) == 0 {
		return nil
	}
	if _, err := talk.take("first", 1); err != nil {
		return err
	}
	for _, prefix := range lib.prefixes {
		lib.parts = maps.Clone(lib.parts)
		lib.parts["prefix"] = prefix
		keys, err := lib.keys(inspect.Find(inspect.Builtin(), lib.layout), "first")
		if err != nil {
			return err
		}
		if n, err := c.Exists(ctx, keys...).Result(); n > 0 || err != nil {
			return err
		}
	}
	return fmt.Errorf("it uses none of the prefixes %q", lib.prefixes)
}

// keys are the names of what the library keeps of a customer.
func (lib *library) keys(l *inspect.Layout, id string) (keys []string, err error) {
	parts := map[string]string{"id": lib.prefix + id}
	if lib.hashed != "" {
		parts["hash"] = fmt.Sprintf("%x", sha1.Sum([]byte(lib.hashed+id)))
	}
	if w := time.Duration(lib.settings.WindowMS) * time.Millisecond; w > 0 {
		parts["window"] = strconv.FormatInt(time.Now().UnixNano()/int64(w), 10)
	}
	maps.Copy(parts, lib.parts)
	for i := range l.Keys {
		key, missing := l.Keys[i].Name.Fill(parts)
		if missing != "" {
			return nil, fmt.Errorf("no name for the %s key: %s is not known", l.Keys[i].Role, missing)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// named counts a key, and whether its writer is the first that is named. That
// it is not named at all, or another is for certain, is wrong.
func (lib *library) named(y *tally, e *inspect.Entry, now int64) {
	y.keys++
	found := inspect.Identify(e, inspect.Builtin(), now)
	for i, c := range found {
		if c.Layout.Name == lib.layout {
			if i == 0 {
				y.known++
			} else if found[0].Sure == inspect.Certain {
				y.differ("%s is said to be %s for certain", e.Key, found[0].Layout.Name)
			}
			return
		}
	}
	y.differ("%s, a %s of %.60q with %v to live, is not recognised", e.Key, e.Type, e.Text, e.TTL)
}

// judge compares an answer with what was foreseen.
func (lib *library) judge(y *tally, before, after seen, cost int64, a answer) {
	if a.Allowed {
		y.passed++
	} else {
		y.refused++
	}
	span := time.Duration(after.Now - before.Now + 2*int64(tolerance))
	wait, known := before.Wait(cost)
	if !known && lib.saysLimit && before.Existing() == 0 {
		return // what would say the limit is not there yet
	}
	if !known {
		y.differ("nothing is foreseen of %s", before.show())
		return
	}
	now, soon := wait == 0, wait >= 0 && wait <= span
	if now != soon {
		y.near++
		return
	}
	if now != a.Allowed && before.ends(span) {
		y.near++ // a key in its last moment may or may not be there for the writer
		return
	}
	y.verdicts++
	if now != a.Allowed {
		y.differ("a call of %d was foreseen to wait %v, and passing is %v: %s", cost, wait, a.Allowed, before.show())
		return
	}
	lib.judgeRemaining(y, before, span, cost, a)
	lib.judgeWait(y, before, after, cost, a)
}

func (lib *library) judgeRemaining(y *tally, before seen, span time.Duration, cost int64, a answer) {
	if a.Remaining == nil || lib.unsaid {
		return
	}
	least, most := before.within(0), before.within(span)
	if least != most {
		return
	}
	left := least - cost
	if !a.Allowed {
		left = least
		if lib.refusal == saysZero || lib.refusal == takesAll {
			left = 0
		}
	}
	y.remains++
	if full, _ := before.Wait(*before.Capacity); lib.doubles && full == 0 && *a.Remaining == left-1 {
		y.rounded++
		return
	}
	if *a.Remaining != left {
		y.differ("%d were foreseen to remain after a call of %d, and the library says %d (passed %v): %s", left, cost, *a.Remaining, a.Allowed, before.show())
	}
}

// within is the highest cost that passes after d.
func (s *seen) within(d time.Duration) (most int64) {
	for s.Capacity != nil && most < *s.Capacity {
		if wait, _ := s.Wait(most + 1); wait < 0 || wait > d {
			break
		}
		most++
	}
	return most
}

// judgeWait compares the end of the waits: when the library made its answer is
// known only to lie between the two reads.
func (lib *library) judgeWait(y *tally, before, after seen, cost int64, a answer) {
	if a.Allowed || a.WaitMS == nil || lib.wait == waitOther {
		return
	}
	from := before
	if lib.wait == waitNext {
		from = after
	}
	wait, _ := from.Wait(cost)
	if wait < 0 {
		return // never: what libraries say of these differs
	}
	end := from.Now + int64(wait)
	said := int64(min(*a.WaitMS*1e6, float64(longest)))
	first := before.Now + said - int64(lib.rounding+tolerance)
	last := after.Now + said + int64(lib.rounding+2*tolerance)
	y.waits++
	if end < first || end > last {
		y.differ("a call of %d was foreseen to pass in %v, and the library says %v, which is %v away: %s",
			cost, wait, time.Duration(said), time.Duration(max(first-end, end-last)), before.show())
	}
}

// show is what the state was.
// ends reports whether the life of a key ends within d.
func (s *seen) ends(d time.Duration) bool {
	return slices.ContainsFunc(s.raw, func(e inspect.Entry) bool { return e.TTL >= 0 && e.TTL <= d })
}

func (s *seen) show() string {
	text := fmt.Sprintf("at %d", s.Now)
	for _, e := range s.raw {
		text += fmt.Sprintf(" | %s %s %q %v %v ttl %v", e.Key, e.Type, e.Text, e.Fields, e.Members, e.TTL)
	}
	for _, p := range s.Problems {
		text += " | " + p.ID
	}
	return text
}
