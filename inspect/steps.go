package inspect

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Step is one thing that a change writes, for people and for the record.
// Values are as they are; From and To are "" for what is not there.
type Step struct {
	Key  string
	What string // "value", "field NAME", "member", "items", "key" or "TTL"
	From string
	To   string
}

// Steps are what a change writes, key by key.
func (c *Change) Steps() []Step {
	var out []Step
	for i := range c.Before.Entries {
		before, after := &c.Before.Entries[i], &c.After.Entries[i]
		add := func(what, from, to string) { out = append(out, Step{before.Key, what, from, to}) }
		switch {
		case !before.Exists():
			continue
		case !after.Exists():
			add("key", before.Type, "")
			continue
		}
		switch before.Type {
		case "string":
			if !bytes.Equal(before.Text, after.Text) {
				add("value", string(before.Text), string(after.Text))
			}
		case "hash":
			for _, name := range slices.Sorted(maps.Keys(after.Fields)) {
				if from, to := before.Fields[name], after.Fields[name]; from != to {
					add("field "+name, from, to)
				}
			}
		case "zset":
			out = append(out, memberSteps(before, after)...)
		case "list":
			if len(before.Members) != len(after.Members) {
				add("items", strconv.Itoa(len(before.Members)), strconv.Itoa(len(after.Members)))
			}
		}
		if before.TTL != after.TTL {
			add("TTL", shownLife(before.TTL), shownLife(after.TTL))
		}
	}
	return out
}

func shownLife(d time.Duration) string {
	if d < 0 {
		return "none"
	}
	return limit.ShortDuration(d)
}

func memberSteps(before, after *Entry) []Step {
	var out []Step
	removed, added := memberDiff(before, after)
	for _, m := range removed {
		out = append(out, Step{before.Key, "member", shownMember(m), ""})
	}
	for _, m := range added {
		out = append(out, Step{before.Key, "member", "", shownMember(m)})
	}
	return out
}

func shownMember(m Member) string { return fmt.Sprintf("%s at %s", m.Name, decimal(m.Score)) }

// memberDiff are the members of a set that go, and those that come or get
// another score.
func memberDiff(before, after *Entry) (removed, added []Member) {
	was, is := map[string]float64{}, map[string]float64{}
	for _, m := range before.Members {
		was[m.Name] = m.Score
	}
	for _, m := range after.Members {
		is[m.Name] = m.Score
		if score, ok := was[m.Name]; !ok || score != m.Score {
			added = append(added, m)
		}
	}
	for _, m := range before.Members {
		if _, ok := is[m.Name]; !ok {
			removed = append(removed, m)
		}
	}
	return removed, added
}
