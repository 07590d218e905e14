package replay

import (
	"slices"
	"strings"

	"github.com/weir-cli/weir/report"
)

// declared are the keys that a sampled call gave to its script.
func (l *lab) declared(s *sampled, half int, prefix string) []string {
	m := moment{now: s.at, number: 1}
	if half > 0 {
		m.reply = s.obs[half-1].reply
	}
	return l.run.Halves[half].Map.fill(&s.call, prefix, m).keys
}

// prefixOf is the prefix of a sample's keys: the run's, or the lab's.
func (l *lab) prefixOf(touched []touch) string {
	for _, t := range touched {
		if strings.HasPrefix(t.key, "lab-samples:") {
			return "lab-samples:"
		}
	}
	return l.run.prefix
}

func checkUndeclared(l *lab) outcome {
	commands := 0
	for _, s := range l.samples() {
		for half, o := range s.obs {
			prefix := l.prefixOf(o.touched)
			keys := l.declared(&s, half, prefix)
			for _, t := range o.touched {
				commands++
				if !slices.Contains(keys, t.key) {
					key := l.run.show(strings.TrimPrefix(t.key, prefix))
					return found(report.High, map[string]any{"command": t.command, "key": key, "keys": len(keys)},
						"the script calls %s on %q, which is not in its KEYS: a cluster cannot send the call to the right node, and an ACL user with key rules is refused. Give every key in KEYS.",
						t.command, key)
				}
			}
		}
	}
	if commands == 0 {
		return unmade("no key was touched in the calls that were looked at")
	}
	return held("all keys of %d commands are in KEYS", commands)
}

func checkSlots(l *lab) outcome {
	most := 0
	for _, s := range l.samples() {
		for half, o := range s.obs {
			prefix := l.prefixOf(o.touched)
			keys := l.declared(&s, half, prefix)
			for _, t := range o.touched {
				keys = append(keys, t.key)
			}
			most = max(most, len(keys))
			for _, k := range keys {
				// Without the scratch prefix, which may take part in the slot.
				a, b := strings.TrimPrefix(keys[0], prefix), strings.TrimPrefix(k, prefix)
				if slotOf(a) != slotOf(b) {
					return found(report.Medium, map[string]any{"key": l.run.show(a), "slot": slotOf(a), "other_key": l.run.show(b), "other_slot": slotOf(b)},
						"one call has keys in two slots of a cluster, %q in %d and %q in %d, so a cluster answers CROSSSLOT. Put what they have in common in braces, as in {%s}.",
						l.run.show(a), slotOf(a), l.run.show(b), slotOf(b), l.run.show(string(s.call.Key)))
				}
			}
		}
	}
	if most == 0 {
		return unmade("no key was touched in the calls that were looked at")
	}
	return held("the keys of every call are in one slot")
}

func checkDigits(l *lab) outcome {
	n := 0
	look := func(obs []observed) *outcome {
		for _, o := range obs {
			n++
			if o.bad != "" {
				f := found(report.High, map[string]any{"written": report.Clean(o.bad)},
					"a number is passed on as %q: in scientific notation, or above 2^53, digits are lost, so times and counts jump. Write numbers with string.format('%%.0f', n), or keep them smaller.",
					report.Clean(o.bad))
				return &f
			}
		}
		return nil
	}
	for _, s := range l.samples() {
		if f := look(s.obs); f != nil {
			return *f
		}
	}
	u := l.fresh(l.run.sample[0].call, 0)
	t, _ := u.drain()
	if f := look(t.obs); f != nil {
		return *f
	}
	if l.run.Store.virtual() {
		return held("no number of %d calls was in scientific notation or above 2^53; what .. makes of a number shows on a server only (--redis)", n)
	}
	return held("no number of %d calls was in scientific notation or above 2^53", n)
}
