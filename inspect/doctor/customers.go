package doctor

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-cli/weir/inspect"
)

// Bounds of what is remembered of customers.
const (
	maxCustomers = 50_000 // of each kind; later ones are passed over
	maxTogether  = 8      // keys of one customer
)

// customers finds those who have several keys where one would do. It remembers
// only keys whose names are made of several parts.
type customers struct {
	versions  map[string]*together // by the name without its version
	addresses map[string]*together // by the name without its address
	slots     map[string]*together // by the customer
}

// together are keys that are one customer's.
type together struct {
	keys  []string // the first few
	slots []int
	n     int64
	apart bool // they are in several slots
}

func remember(m *map[string]*together, name, key string, slot int) {
	if *m == nil {
		*m = map[string]*together{}
	}
	t := (*m)[name]
	if t == nil {
		if len(*m) >= maxCustomers {
			return
		}
		t = &together{}
		(*m)[strings.Clone(name)] = t
	}
	if slices.Contains(t.keys, key) {
		return // a scan may give it twice
	}
	if t.n++; len(t.keys) < maxTogether {
		t.keys, t.slots = append(t.keys, strings.Clone(key)), append(t.slots, slot)
	}
	t.apart = t.apart || len(t.slots) > 0 && slot != t.slots[0]
}

// state remembers one.
func (c *customers) state(r *inspect.Reading, key string) {
	slot := -1
	for i := range r.Entries {
		if r.Entries[i].Key == key {
			slot = r.Entries[i].Slot
		}
	}
	id := r.ID
	if id == "" || len(key) > 512 {
		return
	}
	group := func(id, rule string) string { return r.Layout.Name + "\x00" + id + "\x00" + rule }
	if bare, ok := withoutVersion(r.Rule); ok {
		remember(&c.versions, group(id, bare), key, slot)
	} else if bare, ok := withoutVersion(id); ok {
		remember(&c.versions, group(bare, r.Rule), key, slot)
	}
	if bare, ok := withoutAddress(id); ok && strings.ContainsAny(bare, "0123456789") {
		remember(&c.addresses, group(bare, r.Rule), key, slot)
	}
	if slot < 0 {
		return
	}
	if r.Rule != "" {
		remember(&c.slots, group(id, ""), key, slot)
	} else if who, ok := withoutRule(id); ok {
		remember(&c.slots, group(who, ""), key, slot)
	}
}

// judge adds what was found.
func (c *customers) judge(f findings) {
	for _, k := range []struct {
		id   string
		of   map[string]*together
		text string
	}{
		{"several-versions", c.versions, "%d keys that differ by their version alone: %s."},
		{"composite-keys", c.addresses, "%d keys that differ by an address alone: %s."},
		{"split-slots", c.slots, "%d limits of one customer in several slots: %s."},
	} {
		for _, name := range inOrder(k.of) {
			t := k.of[name]
			if t.n < 2 || k.id == "split-slots" && !t.apart {
				continue
			}
			f.add(k.id, t.keys[0], fmt.Sprintf(k.text, t.n, listed(t.keys, t.n)))
		}
	}
}

// version is a part of a name that is one.
var version = regexp.MustCompile(`(?i)\A(?:v|ver|version|rev)[-._]?[0-9]{1,6}\z`)

const marks = ":/|,;@#"

// parts are the pieces of a name between marks, with where each begins.
func parts(name string) (list []string) {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(marks, r) })
}

// withoutVersion is a name without the part that is a version; ok is false when
// it has none.
func withoutVersion(name string) (bare string, ok bool) {
	list := parts(name)
	for i, p := range list {
		if version.MatchString(p) {
			return strings.Join(append(append([]string{}, list[:i]...), list[i+1:]...), ":"), true
		}
		// requests-v2, requests_v2
		if at := strings.LastIndexAny(p, "-_."); at > 0 && version.MatchString(p[at+1:]) {
			out := append([]string{}, list...)
			out[i] = p[:at]
			return strings.Join(out, ":"), true
		}
	}
	return "", false
}

// withoutAddress is a name without the part that is an IP address.
func withoutAddress(name string) (bare string, ok bool) {
	list := parts(name)
	for i, p := range list {
		if strings.Count(p, ".") != 3 {
			continue
		}
		if _, err := netip.ParseAddr(p); err == nil {
			return strings.Join(append(append([]string{}, list[:i]...), list[i+1:]...), ":"), len(list) > 1
		}
	}
	// One of version 6 has the mark in itself: it is what is left after a part.
	for i := range name {
		if !strings.ContainsRune(marks, rune(name[i])) || strings.Count(name[i+1:], ":") < 2 {
			continue
		}
		if _, err := netip.ParseAddr(strings.Trim(name[i+1:], "[]")); err == nil {
			return name[:i], true
		}
	}
	return "", false
}

// withoutRule is a name of a customer, which has a digit, without the words
// after it that name a limit.
func withoutRule(name string) (who string, ok bool) {
	at := strings.LastIndexAny(name, marks)
	if at <= 0 || strings.ContainsAny(name[at:], "0123456789") || !strings.ContainsAny(name[:at], "0123456789") {
		return "", false
	}
	return name[:at], true
}

// listed are the first few keys in a sentence.
func listed(keys []string, n int64) string {
	const most = 3
	var out []string
	for _, k := range keys[:min(len(keys), most)] {
		out = append(out, clean(k))
	}
	if n > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
