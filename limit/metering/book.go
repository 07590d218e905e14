package metering

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Book folds records into what each key used. Applying one twice, late or in
// another order changes nothing. The zero value is ready. Not safe for
// concurrent use.
type Book struct {
	units, requests Totals[life]
	keys            map[string]*KeyTotal
	instances       map[string]*instance
	newest          time.Time
}

// life names one running total.
type life struct {
	instance, key string
	start         int64
}

// KeyTotal is what one key used, over all gateways.
type KeyTotal struct {
	Key      string `json:"key"`
	Units    int64  `json:"units"`
	Requests int64  `json:"requests"`
}

// instance is what is known of one gateway process. Every field is a largest
// or smallest value, so that the order of records does not matter.
type instance struct {
	gateway     int
	first, last time.Time
	lastSeq     int64 // highest number of any record
	endSeq      int64 // highest number of an End; -1 without one
	claimed     int64 // units by its own count, the largest that it told
	units       int64 // units by its keys' records
	requests    int64
}

// Instance is what the book says about one gateway process.
type Instance struct {
	Name     string    `json:"instance"`
	Gateway  int       `json:"gateway"`
	First    time.Time `json:"first"` // of its records that are here
	Last     time.Time `json:"last"`
	Units    int64     `json:"units"`
	Requests int64     `json:"requests"`
	Ended    bool      `json:"ended"` // said that nothing follows
	// Missing is how many units it told to have counted beyond the keys'
	// records that are here.
	Missing int64 `json:"missing"`
	// Contradicts: its newest word on a key is below an older one, or follows
	// its end, so two processes share its name.
	Contradicts bool `json:"contradicts"`
}

// Silent reports whether the instance went without its end record: nothing
// was heard of it for longer than after.
func (i *Instance) Silent(now time.Time, after time.Duration) bool {
	return !i.Ended && now.Sub(i.Last) > after
}

// Apply takes in one record. A record that no Meter writes changes nothing and
// is a *RecordError.
func (b *Book) Apply(r Record) error {
	if err := r.Check(); err != nil {
		return err
	}
	in := b.instance(&r)
	in.gateway = max(in.gateway, r.Gateway)
	in.lastSeq = max(in.lastSeq, r.Seq)
	if r.At.Before(in.first) {
		in.first = r.At
	}
	if r.At.After(in.last) {
		in.last = r.At
	}
	if r.At.After(b.newest) {
		b.newest = r.At
	}
	switch r.Kind {
	case End:
		in.endSeq = max(in.endSeq, r.Seq)
		in.claimed = max(in.claimed, r.Units)
	case Beat:
		in.claimed = max(in.claimed, r.Units)
	case Total:
		b.total(in, &r)
	}
	return nil
}

func (b *Book) instance(r *Record) *instance {
	in := b.instances[r.Instance]
	if in == nil {
		in = &instance{first: r.At, last: r.At, endSeq: -1}
		if b.instances == nil {
			b.instances, b.keys = map[string]*instance{}, map[string]*KeyTotal{}
		}
		b.instances[strings.Clone(r.Instance)] = in
	}
	return in
}

func (b *Book) total(in *instance, r *Record) {
	k := b.keys[r.Key]
	if k == nil {
		k = &KeyTotal{Key: r.Key}
		b.keys[r.Key] = k
	}
	id := life{r.Instance, r.Key, r.Start}
	units := b.units.Apply(id, r.Seq, r.Units)
	requests := b.requests.Apply(id, r.Seq, r.Requests)
	k.Units, in.units = plus(k.Units, units), plus(in.units, units)
	k.Requests, in.requests = plus(k.Requests, requests), plus(in.requests, requests)
}

// Units is what all keys used.
func (b *Book) Units() int64 { return b.units.Sum() }

// Newest is the latest instant of any record.
func (b *Book) Newest() time.Time { return b.newest }

// Keys lists what each key used, most first, then by name.
func (b *Book) Keys() []KeyTotal {
	all := make([]KeyTotal, 0, len(b.keys))
	for _, k := range b.keys {
		all = append(all, *k)
	}
	slices.SortFunc(all, func(x, y KeyTotal) int {
		return cmp.Or(cmp.Compare(y.Units, x.Units), cmp.Compare(x.Key, y.Key))
	})
	return all
}

// Instances lists the gateway processes, by gateway, then by when they began.
func (b *Book) Instances() []Instance {
	fell := map[string]bool{}
	for id := range b.units.newest {
		if b.units.Fell(id) || b.requests.Fell(id) {
			fell[id.instance] = true
		}
	}
	all := make([]Instance, 0, len(b.instances))
	for name, in := range b.instances {
		all = append(all, Instance{
			Name: name, Gateway: in.gateway, First: in.first, Last: in.last,
			Units: in.units, Requests: in.requests, Ended: in.endSeq >= 0,
			Missing:     max(0, in.claimed-in.units),
			Contradicts: fell[name] || in.endSeq >= 0 && in.lastSeq > in.endSeq,
		})
	}
	slices.SortFunc(all, func(x, y Instance) int {
		return cmp.Or(cmp.Compare(x.Gateway, y.Gateway), x.First.Compare(y.First), cmp.Compare(x.Name, y.Name))
	})
	return all
}
