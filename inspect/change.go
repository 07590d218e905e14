package inspect

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Action is what an operator does to one customer's state.
type Action string

// What can be done, where a layout's Writes say so.
const (
	Grant  Action = "grant"  // so many more units pass now, at most the whole allowance
	Drain  Action = "drain"  // so many fewer pass now, or none
	Reset  Action = "reset"  // as if the customer had never called
	Expire Action = "expire" // the state ends by itself after a time
)

// Actions are all that there are.
var Actions = []Action{Grant, Drain, Reset, Expire}

func actionNames() []string {
	var names []string
	for _, a := range Actions {
		names = append(names, string(a))
	}
	return names
}

// Order is what is to be done.
type Order struct {
	Action Action
	Units  int64         // of a grant or a drain; a drain of 0 takes all that is left
	In     time.Duration // until an expire, whole ms
}

// MaxLife is the longest time after which a state can be told to end.
const MaxLife = 10 * 365 * 24 * time.Hour

// Change is what an order makes of a state. Nothing is written by making one:
// see [Writer].
type Change struct {
	Order  Order
	Before Reading
	After  Reading // as Decode says of what would be written
}

// Nothing reports whether the state is already as the order wants it.
func (c *Change) Nothing() bool { return len(c.Steps()) == 0 }

// RefusedError is an order that is not carried out on a state.
type RefusedError struct{ Text, Hint string }

func (e *RefusedError) Error() string { return e.Text }

func refused(hint, format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...), hint}
}

// planner makes of the entries in a plan what they should be.
type planner func(p *plan) error

// planners are the models for which it is known how to give and to take.
var planners map[string]planner

func init() {
	planners = map[string]planner{
		"tat":             planTAT,
		"bucket":          planBucket,
		"traefik":         planBucket,
		"counter":         planCount,
		"numbered-window": planCount,
		"sliding-pair":    planCount,
		"weir-plain":      planCount,
		"log":             planLog,
		"weir-bucket":     planWeirBucket,
		"weir-fixed":      planWeirFixed,
		"weir-counter":    planWeirCounter,
		"weir-log":        planWeirLog,
	}
}

// canPlan reports whether a layout may say that do is known for its model. A
// log's entries can be taken out; what its writer would put in is not known.
func canPlan(do Action, l *Layout) bool {
	switch do {
	case Grant:
		return planners[l.Decode.Name] != nil
	case Drain:
		return planners[l.Decode.Name] != nil && l.Decode.Name != "log"
	}
	return true
}

// plan is a Change on its way: f and its keys are copies that may be changed.
type plan struct {
	f      *frame
	before *Reading
	order  Order
	units  int64 // to give or take: no more than makes a difference
	all    bool  // take everything, fractions too
	left   int64 // what should pass afterwards, where the limit is known
}

// NewChange works out what an order makes of a reading. named is true when the
// operator named the layout; otherwise only what is certain is changed.
func NewChange(r *Reading, o Order, named bool) (Change, error) {
	c := Change{Order: o, Before: *r}
	if err := allowed(r, o, named); err != nil {
		return c, err
	}
	entries := cloneEntries(r.Entries)
	switch o.Action {
	case Reset:
		for i := range entries {
			entries[i] = gone(&entries[i])
		}
	case Expire:
		for i := range entries {
			if entries[i].Exists() {
				entries[i].TTL = o.In
				if _, ok := r.Layout.Match(&entries[i], r.Now); !ok {
					return c, refused("a time no longer than "+limit.ShortDuration(max(r.Entries[i].TTL, time.Second)), "%s never lets such a key live for %s", r.Layout.Writer, limit.ShortDuration(o.In))
				}
			}
		}
	default:
		p, err := newPlan(r, o, entries)
		if err != nil {
			return c, err
		}
		if p.units > 0 || p.all && r.Held != nil {
			if err := planners[r.Layout.Decode.Name](p); err != nil {
				return c, err
			}
		}
		if err := p.check(entries); err != nil {
			return c, err
		}
	}
	var err error
	c.After, err = r.With(entries, r.Now)
	return c, err
}

// allowed refuses what must not be written at all.
func allowed(r *Reading, o Order, named bool) error {
	l := r.Layout
	switch {
	case r.Existing() == 0:
		return refused("", "there is no state of %s: everything is there already", shownKey(r.Entries[0].Key))
	case !named && r.Sure != Certain:
		return refused("if it is: --layout "+l.Name, "it is not certain that %s wrote %s", l.Writer, shownKey(r.Entries[0].Key))
	case named && !matches(r):
		return refused("weir inspect layouts "+l.Name, "%s is not as the layout %s says, in its name or in its value", shownKey(r.Entries[0].Key), l.Name)
	case !slices.Contains(l.Writes, o.Action):
		if len(l.Writes) == 0 {
			return refused("", "nothing can be written for the layout %s: it is not certain what that would mean", l.Name)
		}
		return refused("weir inspect bucket "+string(l.Writes[0])+" --help", "there is no %s for the layout %s, only %s", o.Action, l.Name, list(l.Writes))
	}
	odd := []string{"wrong-type", "unread", "rule-changed", "limit-misfit"}
	if o.Action == Grant || o.Action == Drain {
		odd = append(odd, "future", "not-a-number", "not-a-time", "unreadable", "truncated", "half-missing", "lost-digits", "window-over", "out-of-order", "too-large")
	}
	for _, p := range r.Problems {
		if contains(odd, p.ID) {
			return refused("weir inspect bucket reset --help", "a %s of odd state means nothing certain. %s", o.Action, p.Text)
		}
	}
	return nil
}

func list(actions []Action) string {
	s := ""
	for i, a := range actions {
		if i > 0 {
			s += ", "
		}
		s += string(a)
	}
	return s
}

// matches reports whether every key that is there is as its layout says.
func matches(r *Reading) bool {
	for i := range r.Entries {
		if _, ok := r.Layout.Match(&r.Entries[i], r.Now); r.Entries[i].Exists() && !ok {
			return false
		}
	}
	return true
}

func newPlan(r *Reading, o Order, entries []Entry) (*plan, error) {
	p := &plan{before: r, order: o, units: o.Units}
	roles, parts, err := r.Layout.roles(entries)
	if err != nil {
		return nil, err
	}
	scratch := *r
	scratch.Problems, scratch.Notes = nil, nil
	p.f = &frame{layout: r.Layout, keys: map[string]*Entry{}, parts: parts, now: r.Now, told: r.told, r: &scratch}
	for i := range entries {
		if entries[i].Exists() {
			p.f.keys[roles[i]] = &entries[i]
		}
	}
	if r.Remaining == nil {
		if r.Used == nil || o.Units == 0 {
			return nil, refused("--limit "+r.Layout.Example, "how much is left is not known without the limit")
		}
		return p, nil
	}
	if o.Action == Grant {
		p.units = min(o.Units, *r.Capacity-*r.Remaining)
		p.left = *r.Remaining + p.units
		return p, nil
	}
	p.all = o.Units == 0
	if p.all || o.Units > *r.Remaining {
		p.units = *r.Remaining
	}
	p.left = *r.Remaining - p.units
	return p, nil
}

// sign is 1 for giving and -1 for taking.
func (p *plan) sign() int64 {
	if p.order.Action == Grant {
		return 1
	}
	return -1
}

// check reads the planned entries as their writer would and refuses unless
// exactly what was ordered comes of it.
func (p *plan) check(entries []Entry) error {
	after, err := Decode(p.before.Layout, entries, p.before.Now, p.before.told)
	if err != nil {
		return err
	}
	if p.before.Remaining != nil {
		if after.Remaining != nil && *after.Remaining == p.left {
			return nil
		}
	} else if after.Used != nil && *after.Used == max(0, *p.before.Used-p.sign()*p.units) {
		return nil
	}
	return refused("weir inspect bucket reset --help", "a %s would not change what passes next as it should: something else decides here", p.order.Action)
}

// live lets a key that was taken from live until it is full again, us from
// now, so that what was taken is not forgotten sooner.
func (p *plan) live(e *Entry, us int64) {
	ms := us/1000 + 1000
	if us > int64(MaxLife/time.Microsecond) {
		ms = MaxLife.Milliseconds()
	}
	if e.TTL >= 0 {
		e.TTL = max(e.TTL, time.Duration(ms)*time.Millisecond)
	}
}

func cloneEntries(list []Entry) []Entry {
	out := slices.Clone(list)
	for i := range out {
		e := &out[i]
		e.Text, e.Fields, e.Members = slices.Clone(e.Text), maps.Clone(e.Fields), slices.Clone(e.Members)
	}
	return out
}

// gone is a key that is no longer there.
func gone(e *Entry) Entry {
	return Entry{Key: e.Key, Type: "none", TTL: NoKey, Idle: Unknown, Bytes: Unknown, At: e.At, Slot: e.Slot, Node: e.Node}
}
