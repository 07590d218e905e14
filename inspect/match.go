package inspect

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Candidate is a layout that may have written some entries.
type Candidate struct {
	Layout *Layout
	Sure   Sure
	Role   string            // of the first entry
	Parts  map[string]string // that the name says
}

// Match reports whether the key can be the layout's, as which of its keys, and
// how sure that is. now is unix ns.
func (l *Layout) Match(e *Entry, now int64) (Candidate, bool) {
	for i := range l.Keys {
		k := &l.Keys[i]
		if e.Type != k.Type {
			continue
		}
		// The value first: it costs less to look at than most names.
		if !k.Name.may(e.Key) || !l.fits(k, e, now) {
			continue
		}
		parts, ok := k.Name.Match(e.Key)
		if !ok || !l.lives(k, e, parts, now) {
			continue
		}
		return Candidate{Layout: l, Sure: l.Sure, Role: k.Role, Parts: parts}, true
	}
	return Candidate{}, false
}

// Identify finds whose an entry is, the best first. Of equals the one whose
// name is fixed the most is first; when several are left that speak as
// plainly, none is certain.
func Identify(e *Entry, layouts []*Layout, now int64) []Candidate {
	var found []Candidate
	for _, l := range layouts {
		if c, ok := l.Match(e, now); ok {
			found = append(found, c)
		}
	}
	slices.SortStableFunc(found, func(a, b Candidate) int {
		if a.Sure != b.Sure {
			return int(b.Sure) - int(a.Sure)
		}
		return b.fixed() - a.fixed()
	})
	if len(found) > 1 && found[0].Sure == Certain && found[1].Sure == Certain && found[0].fixed() == found[1].fixed() {
		for i := range found {
			found[i].Sure = min(found[i].Sure, Likely)
		}
	}
	return found
}

// Namesakes are the layouts that would give a key such a name, whatever it
// holds. Names of which nothing is fixed say nothing.
func Namesakes(key string, layouts []*Layout) []*Layout {
	var found []*Layout
	for _, l := range layouts {
		for i := range l.Keys {
			name := &l.Keys[i].Name
			if _, ok := name.Match(key); ok && name.literals() > 1 {
				found = append(found, l)
				break
			}
		}
	}
	return found
}

// fixed is how much of the key's form is given.
func (c *Candidate) fixed() int {
	k := c.Layout.form(c.Role)
	exact := 0
	if k.Life == "instant" {
		exact = 1 // a time to live to the ms is no accident
	}
	switch k.Value {
	case "instant": // as is a number that is a time
		exact++
	case "instant-us":
		exact += 2
	}
	return exact + 8*k.Name.literals() + len(k.Fields) + len(c.Parts)
}

// form is the key of a role, or the main one.
func (l *Layout) form(role string) *KeyForm {
	for i := range l.Keys {
		if l.Keys[i].Role == role {
			return &l.Keys[i]
		}
	}
	return &l.Keys[0]
}

// shownMembers is how many members or items are looked at for their shape.
const shownMembers = 16

// fits reports whether a value looks like the key's.
func (l *Layout) fits(k *KeyForm, e *Entry, now int64) bool {
	if e.Problem != "" {
		return true // it could not be read: the name alone speaks
	}
	if shape := shapes[k.Value]; shape != nil {
		return shape(e)
	}
	switch k.Type {
	case "string":
		return l.isValue(k.Value, string(e.Text), now)
	case "hash":
		for _, name := range k.Fields {
			v, ok := e.Fields[name]
			if !ok && !e.Truncated || ok && !l.isValue(k.Value, v, now) {
				return false
			}
		}
		if slices.Contains(k.Optional, "*") {
			for _, v := range e.Fields {
				if !l.isValue(k.Value, v, now) {
					return false
				}
			}
			return true
		}
		for name := range e.Fields {
			if !slices.Contains(k.Fields, name) && !slices.Contains(k.Optional, name) {
				return false
			}
		}
		return true
	}
	for i, m := range e.Members {
		if i == shownMembers {
			break
		}
		score := true
		switch k.Score {
		case "instant":
			ns, ok := instantOf(m.Score, units[l.Decode.Unit], l.Decode.Epoch)
			score = ok && ns > now-plausible && ns < now+plausible
		}
		if !score || !l.isValue(k.Value, m.Name, now) {
			return false
		}
	}
	return true
}

// shapes are kinds of whole values, by the code that knows them.
var shapes = map[string]func(e *Entry) bool{
	"weir-log": func(e *Entry) bool {
		_, ok := readWeirLog(e)
		return ok
	},
	"bucket4j":         isBucket4j,
	"limitador-id":     isLimitadorID,
	"mennanov-leaky":   func(e *Entry) bool { return isMennanov(e, false) },
	"mennanov-token":   func(e *Entry) bool { return isMennanov(e, true) },
	"pickled-floats":   isPickledFloats,
	"redisson-permits": isRedissonPermits,
	"slot-and-tokens":  isSlotAndTokens,
	"symfony":          isSymfony,
	"weir-slots": func(e *Entry) bool {
		// Without a holder too, as long as the limit is there.
		for _, m := range e.Members {
			if m.Name == "limit" && m.Score < 0 {
				return true
			}
		}
		return false
	},
}

// isValue reports whether text is of a kind that layouts name.
func (l *Layout) isValue(kind, text string, now int64) bool {
	switch kind {
	case "", "text":
		return true
	case "whole":
		n, ok := parseNumber(text)
		return ok && n.isWhole
	case "number":
		_, ok := parseNumber(text)
		return ok
	case "uuid":
		return len(text) == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-'
	case "letters20":
		return len(text) == 20 && strings.IndexFunc(text, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) < 0
	case "decimal":
		n, ok := parseNumber(text)
		return ok && !n.isWhole
	case "instant-us":
		return strings.HasSuffix(text, "000") && isInstant(text, l.Decode.Unit, l.Decode.Epoch, now)
	case "instant":
		return isInstant(text, l.Decode.Unit, l.Decode.Epoch, now)
	}
	head, err := hex.DecodeString(strings.TrimPrefix(kind, "hex:"))
	return err == nil && strings.HasPrefix(text, string(head))
}

// lives reports whether the key's TTL is one that its writer gives.
func (l *Layout) lives(k *KeyForm, e *Entry, parts map[string]string, now int64) bool {
	switch k.Life {
	case "none":
		return e.TTL == NoTTL
	case "instant":
		return livesTo(l, e, now)
	case "aligned":
		return livesToEdge(e, parts["window"], now)
	case "window", "two-windows":
		n, ok := parseNumber(parts["window"])
		if !ok || n.whole <= 0 || e.TTL == NoTTL {
			return e.TTL != NoTTL
		}
		w := inferWindow(n.whole, now)
		if k.Life == "window" {
			return e.TTL <= w+time.Second
		}
		return e.TTL <= 2*w+2*time.Second
	}
	return true
}
