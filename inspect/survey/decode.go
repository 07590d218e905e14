package survey

import (
	"context"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit/redislimit"
)

// decoder makes sightings of what a walk has read.
type decoder struct {
	*crawl
	aside *keyReader
	n     *Node
}

// take adds a step to the tally, all of it or, with an error, nothing.
func (d *decoder) take(ctx context.Context, x *step) error {
	groups, err := d.groups(ctx, x.keys)
	if err != nil {
		return err
	}
	t := d.n.Tally
	for i := range x.keys {
		k := &x.keys[i]
		if !k.Exists() {
			t.Gone++
			continue
		}
		seen, err := d.sighting(k, groups[i])
		if err != nil {
			return err
		}
		t.add(&seen)
		if d.o.Each != nil {
			d.o.Each(&seen)
		}
	}
	t.Unread += x.tooLong
	d.n.Listed += int64(len(x.keys)) + x.tooLong
	d.n.Looked += x.looked
	return nil
}

// sighting decodes one key, with those that belong to it.
func (d *decoder) sighting(k *Key, g group) (Sighting, error) {
	if g.layout == nil {
		s := sight(k, nil)
		if own, ok := inspect.RecordOf(&k.Entry); ok {
			s.Own = &own
		}
		return s, nil
	}
	if g.part {
		s := sight(k, nil)
		s.Part = true
		return s, nil
	}
	r, err := inspect.Decode(g.layout, g.entries, g.now, d.o.Told)
	if err != nil {
		return Sighting{}, err
	}
	r.Sure = min(r.Sure, g.sure)
	return sight(k, &r), nil
}

// group are the entries of one state, or what stands for it.
type group struct {
	layout  *inspect.Layout // nil when none fits
	sure    inspect.Sure
	entries []inspect.Entry
	now     int64
	part    bool     // another key stands for the state
	names   []string // of all keys of the state when there are several
}

// groups finds whose the keys are and reads those that belong to them.
func (d *decoder) groups(ctx context.Context, keys []Key) ([]group, error) {
	groups := make([]group, len(keys))
	var several []int
	for i := range keys {
		k, g := &keys[i], &groups[i]
		if !k.Exists() {
			continue
		}
		best, ok := d.index.Best(&k.Entry, d.o.Told)
		if !ok {
			if d.o.Only != nil && d.o.Match != "" && k.Type == d.o.Only.Keys[0].Type {
				*g = group{layout: d.o.Only, sure: inspect.Guess, entries: []inspect.Entry{k.Entry}, now: k.At}
			}
			continue
		}
		*g = group{layout: best.Layout, sure: best.Sure, entries: []inspect.Entry{k.Entry}, now: k.At}
		if len(best.Layout.Keys) > 1 {
			if g.names = best.Together(k.Key, k.At, d.o.Told); len(g.names) > 1 {
				several = append(several, i)
			}
		}
	}
	if len(several) == 0 {
		return groups, nil
	}
	return groups, d.join(ctx, keys, groups, several)
}

// join reads the states of several keys. The first of a state's keys that is
// there stands for it.
func (d *decoder) join(ctx context.Context, keys []Key, groups []group, several []int) error {
	var names []string
	var asked []int
	for _, i := range several {
		g := &groups[i]
		if apart(g.names) && d.aside.node != "" {
			if err := d.fetch(ctx, &keys[i], g); err != nil {
				return err
			}
			continue
		}
		asked = append(asked, i)
		names = append(names, g.names...)
	}
	if len(asked) == 0 {
		return nil
	}
	read, _, err := d.aside.read(names, nil)
	if err != nil {
		return err
	}
	for _, i := range asked {
		g := &groups[i]
		entries := make([]inspect.Entry, len(g.names))
		for j := range g.names {
			entries[j] = read[j].Entry
		}
		read = read[len(g.names):]
		g.stand(&keys[i], entries)
	}
	return nil
}

// stand takes the state's entries over, unless another key stands for it.
func (g *group) stand(k *Key, entries []inspect.Entry) {
	for i := range entries {
		e := &entries[i]
		if !e.Exists() {
			continue
		}
		if e.Key != k.Key {
			g.part = true
			return
		}
		e.Idle = k.Idle // as it was before it was read
		break
	}
	g.entries, g.now = entries, entries[0].At
}

// apart reports whether names are in different slots of a cluster.
func apart(names []string) bool {
	for _, name := range names[1:] {
		if redislimit.Slot(name) != redislimit.Slot(names[0]) {
			return true
		}
	}
	return false
}

// fetch reads a state whose keys are on several nodes.
func (d *decoder) fetch(ctx context.Context, k *Key, g *group) error {
	snap, err := inspect.NewReader(d.client, inspect.ReaderOptions{Clock: d.o.Clock, Text: maxText, Members: maxMembers}).Get(ctx, g.names...)
	if err != nil {
		return err
	}
	d.n.Cost.Commands += int64(snap.Commands)
	for i := range snap.Entries {
		snap.Entries[i].At = snap.Now
	}
	g.stand(k, snap.Entries)
	return nil
}
