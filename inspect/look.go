package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Query is what to look at.
type Query struct {
	Keys    []string // exact names; one that is not there is tried as an id
	IDs     []string // customers, under all names that layouts give them
	Exact   bool     // Keys are names and nothing else: no other is made up
	again   bool     // they were read before by the same Reader
	Layouts []*Layout
	// Only reads every key as this layout's, even under a name of another
	// form; nil for whichever fits best.
	Only  *Layout
	Parts map[string][]string // what stands for placeholders, such as rule
	Told  *limit.Spec         // nil when not known
}

// Sight is what was found.
type Sight struct {
	Readings  []Reading
	Strangers []Entry   // keys that are there and fit no layout
	Own       []Record  // of them, apart, what weir keeps beside limits
	OwnKeys   []Entry   // the keys of Own, in its order
	Missing   []string  // names asked for under which nothing is
	Tried     int       // how many names were made up and looked for
	Skipped   []Skipped // layouts for which no name could be made up
	Nearest   []string  // names close to the missing ones that are there

	Now       int64 // unix ns, of the server's clock
	Skew, RTT time.Duration
	Blind     []Blind
	Commands  int
}

// maxNearest bounds the names that are offered in place of a missing one.
const maxNearest = 10

// Look reads what a query asks for, without a scan.
func Look(ctx context.Context, r *Reader, q Query) (Sight, error) {
	l := looker{Reader: r, q: q, layouts: q.Layouts, read: map[string]Entry{}}
	if q.Only != nil {
		l.layouts = []*Layout{q.Only}
	}
	if err := l.getNamed(ctx); err != nil {
		return l.s, err
	}
	if l.s.Now == 0 { // no key to read yet, and windows need a time
		if err := l.get(ctx, []string{}); err != nil {
			return l.s, err
		}
	}
	found := l.there(q.Keys)
	for _, id := range q.IDs {
		more, err := l.guess(ctx, id)
		if err != nil {
			return l.s, err
		}
		if len(more) == 0 {
			l.s.Missing = append(l.s.Missing, id)
		}
		found = append(found, more...)
	}
	for _, key := range q.Keys {
		if slices.Contains(found, key) {
			continue
		}
		if q.Exact {
			l.s.Missing = append(l.s.Missing, key)
			continue
		}
		more, err := l.guess(ctx, key)
		if err != nil {
			return l.s, err
		}
		if len(more) == 0 {
			l.s.Missing = append(l.s.Missing, key)
		}
		found = append(found, more...)
	}
	if l.hidden != nil && len(found) == 0 {
		return l.s, l.hidden // nothing is known, for want of what the user may not read
	}
	for _, key := range found {
		if err := l.decode(ctx, key); err != nil {
			return l.s, err
		}
	}
	if q.Exact {
		return l.s, nil
	}
	return l.s, l.nearest(ctx)
}

// looker is a Look on its way.
type looker struct {
	*Reader
	q       Query
	layouts []*Layout
	read    map[string]Entry // by key
	done    []string         // keys that are part of a reading
	hidden  error            // that the user may not read some keys; nil when all could be looked for
	s       Sight
}

// getNamed reads the keys that were asked for. One that the user may not read
// may still be an id, of names that it may.
func (l *looker) getNamed(ctx context.Context) error {
	err := l.get(ctx, l.q.Keys)
	if l.q.Exact || !KeyDenied(err) {
		return err
	}
	l.hidden = err
	for _, key := range l.q.Keys {
		if err := l.get(ctx, []string{key}); err != nil && !KeyDenied(err) {
			return err
		}
	}
	return nil
}

// existing are those of names that are there; names that the user may not ask
// for are counted among what is not known.
func (l *looker) existing(ctx context.Context, names []string) ([]string, error) {
	l.s.Tried += len(names)
	l.s.Commands += len(names)
	found, hidden, err := l.Existing(ctx, names...)
	if hidden > 0 {
		lost := fmt.Sprintf("whether %d of the names are there", hidden)
		l.s.Blind = append(l.s.Blind, Blind{Command: "EXISTS", Rule: anyKey, Lost: lost})
		if l.hidden == nil {
			l.hidden = &DeniedError{Command: "EXISTS", Rule: anyKey, Err: errors.New("the user may read only some keys")}
		}
	}
	return found, err
}

// get reads keys that have not been read.
func (l *looker) get(ctx context.Context, keys []string) error {
	var want []string
	for _, key := range keys {
		if _, ok := l.read[key]; !ok && !slices.Contains(want, key) {
			want = append(want, key)
		}
	}
	if len(want) == 0 && len(keys) > 0 {
		return nil
	}
	snap, err := l.snapshot(ctx, want)
	if err == nil {
		l.take(snap)
	}
	return err
}

// snapshot is Get, without idle times that are the reader's own doing.
func (l *looker) snapshot(ctx context.Context, keys []string) (Snapshot, error) {
	snap, err := l.Get(ctx, keys...)
	if l.q.again && l.touches() {
		for i := range snap.Entries {
			snap.Entries[i].Idle = Unknown
		}
	}
	return snap, err
}

// take adds what a snapshot has.
func (l *looker) take(snap Snapshot) {
	for _, e := range snap.Entries {
		l.read[e.Key] = e
	}
	l.s.Commands += snap.Commands
	l.s.Now = max(l.s.Now, snap.Now)
	l.s.Skew, l.s.RTT = snap.Skew, snap.RTT
	for _, b := range snap.Blind {
		if !slices.Contains(l.s.Blind, b) {
			l.s.Blind = append(l.s.Blind, b)
		}
	}
}

// there are those of keys that were read and exist.
func (l *looker) there(keys []string) []string {
	var found []string
	for _, key := range keys {
		if e, ok := l.read[key]; ok && e.Exists() && !slices.Contains(found, key) {
			found = append(found, key)
		}
	}
	return found
}

// guess finds the keys of a customer under the names that layouts give.
func (l *looker) guess(ctx context.Context, id string) ([]string, error) {
	g := Guesser{Parts: l.q.Parts, Told: l.q.Told, Now: l.s.Now}
	names, skipped := g.Names(l.layouts, id)
	for _, s := range skipped {
		if !slices.Contains(l.s.Skipped, s) {
			l.s.Skipped = append(l.s.Skipped, s)
		}
	}
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = n.Key
	}
	found, err := l.existing(ctx, keys)
	if err != nil {
		return nil, err
	}
	if err := l.get(ctx, found); err != nil {
		return nil, err
	}
	var theirs []string
	for _, key := range l.there(found) {
		i := slices.IndexFunc(names, func(n Name) bool { return n.Key == key })
		if l.isOf(key, id, names[i].Layout) {
			theirs = append(theirs, key)
		}
	}
	return theirs, nil
}

// isOf reports whether a key that is there under a name that was made up for a
// customer is that customer's: another layout may give the same name to another
// one, as a slot's number after k-7 gives k-71.
func (l *looker) isOf(key, id string, of *Layout) bool {
	e := l.read[key]
	same := func(parts map[string]string) bool { return parts["id"] == id || parts["id"] == weirID(id) }
	candidates := Identify(&e, l.layouts, e.At)
	for _, c := range candidates {
		if c.Layout == of || same(c.Parts) {
			return true
		}
	}
	if len(candidates) > 0 {
		return l.q.Only != nil
	}
	for _, other := range append([]*Layout{of}, l.layouts...) {
		for i := range other.Keys {
			name := &other.Keys[i].Name
			if parts, ok := name.Match(key); ok && name.literals() > 1 && (same(parts) || other == of) {
				return true
			}
		}
	}
	return l.q.Only != nil || len(of.Hashes) > 0
}

// decode makes a reading of key and of those that belong to it.
func (l *looker) decode(ctx context.Context, key string) error {
	if slices.Contains(l.done, key) {
		return nil
	}
	e := l.read[key]
	if !e.Exists() {
		return nil
	}
	candidates := Identify(&e, l.layouts, e.At)
	if len(candidates) == 0 && l.q.Only != nil {
		candidates = []Candidate{{Layout: l.q.Only, Sure: Guess, Role: l.q.Only.Keys[0].Role}}
	}
	if len(candidates) == 0 {
		l.done = append(l.done, key)
		if own, ok := RecordOf(&e); ok {
			return l.own(ctx, own, e)
		}
		l.s.Strangers = append(l.s.Strangers, e)
		return nil
	}
	best := preferred(candidates, l.q.Told)
	entries := []Entry{e}
	at := e.At
	if keys := best.Together(key, e.At, l.q.Told); len(keys) > 1 {
		// All of them at one time. What was idle then is no longer.
		snap, err := l.snapshot(ctx, keys)
		if err != nil {
			return err
		}
		for i := range snap.Entries {
			if before, ok := l.read[snap.Entries[i].Key]; ok {
				snap.Entries[i].Idle = before.Idle
			}
		}
		l.take(snap)
		entries, at = snap.Entries, snap.Now
	}
	reading, err := Decode(best.Layout, entries, at, l.q.Told)
	if err != nil {
		return err
	}
	reading.Sure = best.Sure
	for _, c := range candidates {
		if c.Layout != best.Layout {
			reading.Others = append(reading.Others, c.Layout)
		}
	}
	for i := range entries {
		l.done = append(l.done, entries[i].Key)
	}
	l.s.Readings = append(l.s.Readings, reading)
	return nil
}

// own takes a record in; who wrote rules is read from their history, which not
// every user may.
func (l *looker) own(ctx context.Context, r Record, e Entry) error {
	if r.Kind == RecordRules {
		name := HistoryKey(r.Key)
		if err := l.get(ctx, []string{name}); err != nil && !KeyDenied(err) {
			return err
		}
		if h, ok := l.read[name]; ok {
			if history, ok := RecordOf(&h); ok && history.Kind == RecordHistory {
				r.By(&history)
			}
		}
	}
	l.s.Own, l.s.OwnKeys = append(l.s.Own, r), append(l.s.OwnKeys, e)
	return nil
}

// preferred is the first of the candidates that are as sure as the best and
// whose algorithm is the one that was told, or else the first.
func preferred(candidates []Candidate, told *limit.Spec) Candidate {
	if told != nil && len(candidates) > 1 {
		for _, c := range candidates {
			if c.Sure == candidates[0].Sure && algorithmOf(c.Layout) == told.Algorithm {
				return c
			}
		}
	}
	return candidates[0]
}

// algorithmOf is what a layout's example is a limit of.
func algorithmOf(l *Layout) limit.Algorithm {
	s, err := limit.ParseSpec(l.Example)
	if err != nil {
		return limit.TokenBucket
	}
	return s.Algorithm
}

// nearest looks for names close to those that are missing: the same id under
// another layout's name.
func (l *looker) nearest(ctx context.Context) error {
	var names []string
	for _, key := range l.s.Missing {
		for _, id := range idsIn(key, l.q.Layouts) {
			g := Guesser{Parts: l.q.Parts, Told: l.q.Told, Now: l.s.Now}
			made, _ := g.Names(l.q.Layouts, id)
			for _, n := range made {
				if n.Key != key && !slices.Contains(names, n.Key) && len(names) < maxNames {
					names = append(names, n.Key)
				}
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	found, err := l.existing(ctx, names)
	l.s.Nearest = found[:min(len(found), maxNearest)]
	return err
}

// idsIn are what may be the customer's part of a name.
func idsIn(key string, layouts []*Layout) []string {
	var ids []string
	add := func(id string) {
		if id != "" && id != key && !slices.Contains(ids, id) && len(ids) < 8 {
			ids = append(ids, id)
		}
	}
	for _, l := range layouts {
		for i := range l.Keys {
			if parts, ok := l.Keys[i].Name.Match(key); ok && l.Keys[i].Name.literals() > 0 {
				add(parts["id"])
			}
		}
	}
	for i := len(key) - 1; i >= 0 && len(ids) < 8; i-- {
		if key[i] == ':' || key[i] == '/' || key[i] == '}' {
			add(key[i+1:])
		}
	}
	return ids
}
