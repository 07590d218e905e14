package inspect

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// ErrNotTheirs is the error of decoding entries whose names do not go together
// as a layout's keys do.
var ErrNotTheirs = errors.New("the keys' names are not this layout's")

// frame is what a model decodes from.
type frame struct {
	layout *Layout
	keys   map[string]*Entry // by role, those that exist
	parts  map[string]string
	now    int64
	told   *limit.Spec
	r      *Reading
	// partial is true when something that counts was not read, so that more is
	// used than was seen.
	partial bool
}

// model is one way to decide: see the models of this package.
type model struct {
	// check says what a layout lacks for it, "" for nothing.
	check func(l *Layout) string
	// decode fills in f.r and gives the verdict, or nil when it does not know
	// the limit.
	decode func(f *frame) *verdict
}

// Decode reads the state that entries, the keys of one limit of one customer,
// hold at now (unix ns). told is the limit as the operator knows it, or nil.
// An entry whose name does not fit its layout's, in a list of one, counts as
// the main key under a prefix of its own.
func Decode(l *Layout, entries []Entry, now int64, told *limit.Spec) (Reading, error) {
	r := Reading{Layout: l, Sure: l.Sure, Entries: entries, Now: now, Parts: map[string]string{}, told: told}
	f := &frame{layout: l, keys: map[string]*Entry{}, parts: r.Parts, now: now, told: told, r: &r}
	roles, parts, err := l.roles(entries)
	if err != nil {
		return Reading{}, err
	}
	if parts == nil {
		r.Sure = Guess
	}
	maps.Copy(r.Parts, parts)
	for i := range entries {
		if entries[i].Exists() {
			f.keys[roles[i]] = &entries[i]
		}
		f.entry(&entries[i], l.form(roles[i]))
	}
	r.ID, r.Rule = r.Parts["id"], r.Parts["rule"]
	r.verdict = models[l.Decode.Name].decode(f)
	f.doubt()
	if v := r.verdict; v != nil {
		f.expiry(v)
		if left, most := v.remaining(now), v.most; most < math.MaxInt64 {
			r.Remaining, r.Capacity = &left, &most
		}
		if wait := v.wait(now, v.most); wait >= 0 && !v.any {
			at := now + int64(wait)
			r.FullAt = &at
		}
	}
	r.wrote = r.LastUse
	f.lastUse()
	return r, nil
}

// doubt takes back a verdict on what was not read: on a value that is too large
// or of another type, and that a call passes where not all that counts was seen.
func (f *frame) doubt() {
	switch {
	case f.r.Has("unread"), f.r.Has("wrong-type"):
		f.r.Used, f.r.Held, f.r.FullAt, f.r.verdict = nil, nil, nil, nil
	case f.partial && f.r.verdict != nil && f.r.verdict.ok(f.now, 1):
		f.r.Held, f.r.FullAt, f.r.verdict = nil, nil, nil
	}
}

// expiry lets the state end with its key, for verdicts that do not know when.
func (f *frame) expiry(v *verdict) {
	if v.gone != 0 || v.slots {
		return
	}
	before := v.wait(f.now, v.most)
	for _, e := range f.keys {
		if at := f.now + int64(e.TTL); e.TTL >= 0 && (v.gone == 0 || at < v.gone) {
			v.gone = at
		}
	}
	if early := f.now + int64(before) - v.gone; v.gone != 0 && (before < 0 || early > int64(time.Second)) && f.layout.TTL.Means != "window-end" && f.layout.TTL.Means != "block-end" {
		f.r.problem("ttl-short", fmt.Sprintf("The key expires in %s, before it would be full again: whoever waits that long gets the whole burst.", shownWait(v.gone-f.now)))
	}
}

// alive is how much longer e counts, as a time in unix ns; for ever without a
// TTL, and not at all when it is nil.
func (f *frame) alive(e *Entry) int64 {
	switch {
	case e == nil:
		return f.now
	case e.TTL < 0:
		return math.MaxInt64
	}
	return f.now + int64(e.TTL)
}

// roles are which of the layout's keys the entries are, and what their names
// say. One entry alone may have a name of another form: then parts is nil.
func (l *Layout) roles(entries []Entry) (roles []string, parts map[string]string, err error) {
	for pass := range 2 {
		for i := range entries {
			for j := range l.Keys {
				k := &l.Keys[j]
				if pass == 0 && entries[i].Type != k.Type {
					continue
				}
				parts, ok := k.Name.Match(entries[i].Key)
				if !ok {
					continue
				}
				if roles, ok := l.rolesBy(parts, entries); ok {
					return roles, parts, nil
				}
			}
		}
	}
	if len(entries) == 1 {
		return []string{l.Keys[0].Role}, nil, nil
	}
	if len(entries) == 0 {
		return nil, nil, fmt.Errorf("%w: there are none", ErrNotTheirs)
	}
	return nil, nil, fmt.Errorf("%w: %.100q and %d more", ErrNotTheirs, entries[0].Key, len(entries)-1)
}

// rolesBy are the roles when the names say parts.
func (l *Layout) rolesBy(parts map[string]string, entries []Entry) ([]string, bool) {
	var roles []string
	for i := range entries {
		for j := range l.Keys {
			if name, missing := l.Keys[j].Name.Fill(parts); missing == "" && name == entries[i].Key {
				roles = append(roles, l.Keys[j].Role)
				break
			}
		}
		if len(roles) != i+1 {
			return nil, false
		}
	}
	return roles, true
}

// entry notes what is odd about one key, whatever the model.
func (f *frame) entry(e *Entry, k *KeyForm) {
	if !e.Exists() {
		return
	}
	if e.Type != k.Type {
		f.r.problem("wrong-type", fmt.Sprintf("The key %s is a %s where %s keeps a %s.", shownKey(e.Key), e.Type, f.layout.Writer, k.Type))
	}
	if e.Problem != "" {
		f.r.problem("unread", fmt.Sprintf("The value of %s was not read: %s.", shownKey(e.Key), e.Problem))
	}
	if e.TTL == NoTTL {
		text := ttlTexts[f.missing()]
		if f.layout.TTL.Means == "block-end" {
			text = "The key has no time to live, and the block ends with nothing else: the caller stays blocked for ever."
		}
		if text != "" {
			f.r.problem("no-ttl", text)
		}
	}
}

// missing is what it means that a key has no time to live. A window of less
// than a second is none to writers that round it down to whole ones.
func (f *frame) missing() string {
	m := f.layout.TTL.Missing
	if m == "repairs-seconds" && f.told != nil && f.told.Window > 0 {
		if m = "repairs"; f.told.Window < time.Second {
			m = "for-ever"
		}
	}
	return m
}

// ttlTexts are what a key without a time to live means, by TTL.Missing.
var ttlTexts = map[string]string{
	"for-ever":        "The key has no time to live, and its window ends with nothing else: what was counted stays counted for ever.",
	"heals":           "The key has no time to live; its writer counts anew at the next call.",
	"repairs":         "The key has no time to live; its writer gives it a whole window at the next call, and goes on counting.",
	"repairs-seconds": "The key has no time to live. When the limit's window is a second or longer, its writer gives the key a whole window at the next call, and goes on counting; a shorter window, or 0, never ends.",
	"leak":            "The key has no time to live. That changes no decision and leaks memory.",
	"normal":          "",
}

// lastUse fills in the time of the last use from the least idle time, where the
// state does not say it. Where it does, a younger idle time says nothing: whoever
// looks at a key uses it, and before Redis 7.2 so do we.
func (f *frame) lastUse() {
	if f.r.LastUse != nil {
		return
	}
	for i := range f.r.Entries {
		if e := &f.r.Entries[i]; e.Exists() && e.Idle >= 0 {
			if at := f.now - int64(e.Idle); f.r.LastUse == nil || at > *f.r.LastUse {
				f.r.LastUse = &at
			}
		}
	}
}

// number reads a value that should be a number.
func (f *frame) number(text, what string) (number, bool) {
	n, ok := f.read(text, what)
	if ok && n.scientific {
		f.r.problem("lost-digits", fmt.Sprintf("%s was written as %s, which has lost its last digits.", what, text))
	}
	return n, ok
}

func (f *frame) read(text, what string) (number, bool) {
	n, ok := parseNumber(text)
	if !ok {
		f.r.problem("not-a-number", fmt.Sprintf("%s is no number: %s.", what, shownValue(text)))
	}
	return n, ok
}

// whole is number of what should be whole; a fraction is cut off.
func (f *frame) whole(text, what string) (int64, bool) {
	n, ok := f.number(text, what)
	if ok && !n.isWhole {
		f.r.problem("not-a-number", fmt.Sprintf("%s is no whole number: %s.", what, shownValue(text)))
	}
	return n.floor(), ok
}

// instant reads a value that should be a time of the layout's unit.
func (f *frame) instant(text, what string) (int64, bool) {
	n, ok := f.read(text, what)
	if !ok {
		return 0, false
	}
	m := &f.layout.Decode
	switch grain := n.grain(text) * float64(units[m.Unit]); {
	case !n.scientific:
	case grain < float64(time.Microsecond):
		f.r.problem("rounded-time", fmt.Sprintf("%s was written as %s, which is rounded to %.0f ns.", what, text, math.Ceil(grain)))
	default:
		f.r.problem("lost-digits", fmt.Sprintf("%s was written as %s, which has lost its last digits.", what, text))
	}
	at, ok := parseInstant(text, m.Unit, m.Epoch)
	if !ok || at < f.now-2*plausible || at > f.now+2*plausible {
		f.r.problem("not-a-time", fmt.Sprintf("%s is no time in the unit that %s uses: %s.", what, f.layout.Writer, shownValue(text)))
		return 0, false
	}
	return at, true
}

// text is a string key's value; ok is false when there is none.
func (f *frame) text(role string) (string, bool) {
	e := f.keys[role]
	if e == nil || e.Type != "string" || e.Problem != "" {
		return "", false
	}
	if e.Truncated || len(e.Text) > maxNumber {
		f.r.problem("not-a-number", fmt.Sprintf("The value of %s has %d bytes, which no number of a limiter has.", shownKey(e.Key), e.Len))
		return "", false
	}
	return string(e.Text), true
}
