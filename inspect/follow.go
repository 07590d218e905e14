package inspect

import (
	"context"
	"maps"
	"strconv"
)

// Follower looks at one customer's state again and again. Not safe for
// concurrent use.
type Follower struct {
	r       *Reader
	q       Query
	last    *Reading // nil before anything was there
	lastKey string
}

// Several is the error of names under which there is more than one state.
type Several struct{ Keys []string }

func (e *Several) Error() string {
	return "there are " + strconv.Itoa(len(e.Keys)) + " states under that name"
}

// NotFound is the error of a query that names nothing that is there and has no
// key that could appear.
type NotFound struct{ ID string }

func (e *NotFound) Error() string { return "nothing of " + shownKey(e.ID) + " is there" }

// Follow begins with a query for one key or one id. What it finds is followed
// from then on: windows that stand in names move along. Of a key that is not
// there yet, the name is.
func Follow(ctx context.Context, r *Reader, q Query) (*Follower, Sight, error) {
	f := &Follower{r: r, q: q}
	s, err := Look(ctx, r, q)
	if err != nil {
		return nil, s, err
	}
	current := Present(s.Readings, s.Now)
	switch {
	case len(current) == 1:
		f.take(current[0])
	case len(current) > 1:
		several := &Several{}
		for _, x := range current {
			several.Keys = append(several.Keys, x.Entries[0].Key)
		}
		return nil, s, several
	case len(s.Own) > 0:
		return nil, s, refused("weir inspect get KEY", "%s is no limit: weir keeps its %s there", shownKey(s.Own[0].Key), s.Own[0].Kind)
	case len(s.Strangers) > 0:
		return nil, s, refused("--layout NAME, or --layouts FILE", "no layout fits %s, a %s", shownKey(s.Strangers[0].Key), shownKey(s.Strangers[0].Type))
	case len(q.Keys) == 0:
		return nil, s, &NotFound{q.IDs[0]}
	default:
		f.lastKey = q.Keys[0]
	}
	return f, s, nil
}

// Present are the readings without those of windows that are over, where one
// of now is there, too.
func Present(list []Reading, now int64) []*Reading {
	var out []*Reading
	for i := range list {
		r := &list[i]
		over := r.WindowEnd != nil && *r.WindowEnd <= now && r.Parts["window"] != ""
		for j := range list {
			o := &list[j]
			if over && o != r && o.Layout == r.Layout && o.ID == r.ID && o.Rule == r.Rule && o.WindowEnd != nil && *o.WindowEnd > *r.WindowEnd {
				r = nil
				break
			}
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out
}

func (f *Follower) take(r *Reading) { f.last, f.lastKey = r, r.Entries[0].Key }

// Look looks again. The reading is nil while nothing has ever been there.
func (f *Follower) Look(ctx context.Context) (*Reading, Sight, error) {
	keys := []string{f.lastKey}
	if f.last != nil && f.last.Parts["window"] != "" {
		snap, err := f.r.Get(ctx) // the time alone
		if err != nil {
			return nil, Sight{}, err
		}
		if key := windowKey(f.last, snap.Now); key != "" && key != f.lastKey {
			keys = []string{key, f.lastKey}
		}
	}
	q := Query{Keys: keys, Exact: true, again: true, Layouts: f.q.Layouts, Only: f.q.Only, Told: f.q.Told}
	s, err := Look(ctx, f.r, q)
	if err != nil {
		return nil, s, err
	}
	var best *Reading
	for _, r := range Present(s.Readings, s.Now) {
		if best == nil || f.last != nil && r.Layout == f.last.Layout && best.Layout != f.last.Layout {
			best = r
		}
	}
	if best != nil {
		f.take(best)
		return best, s, nil
	}
	if f.last == nil {
		return nil, s, nil
	}
	// Gone: what was there last, as nothing.
	entries := cloneEntries(f.last.Entries)
	for i := range entries {
		entries[i] = gone(&entries[i])
	}
	r, err := f.last.With(entries, s.Now)
	return &r, s, err
}

// windowKey is the main key of the window that now is in, where the name has
// it; "" where it cannot be told.
func windowKey(r *Reading, now int64) string {
	m := &r.Layout.Decode
	switch m.Name {
	case "numbered-window", "sliding-pair", "weir-plain":
	default:
		return "" // its windows begin when somebody calls
	}
	if r.WindowStart == nil || r.WindowEnd == nil || *r.WindowEnd <= *r.WindowStart {
		return ""
	}
	w := *r.WindowEnd - *r.WindowStart
	start := now / w * w
	if period := r.Parts["period"]; m.Calendar && (period == "month" || period == "year") {
		start = calendarStarts(now, period)[0]
	}
	number := start / w
	if m.Window == "start" {
		number = (start - m.Epoch*1e9) / units[m.Unit]
	}
	parts := map[string]string{}
	maps.Copy(parts, r.Parts)
	parts["window"] = strconv.FormatInt(number, 10)
	key, missing := r.Layout.Keys[0].Name.Fill(parts)
	if missing != "" {
		return ""
	}
	return key
}
