package inspect

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// Bounds on the names that are made up for one id.
const (
	maxNames     = 2000
	maxFormNames = 64 // of one key of a layout
)

// Name is a key that may hold something of a customer's.
type Name struct {
	Key    string
	Layout *Layout
}

// Skipped is a layout for which no name could be made up, for want of what
// stands for one placeholder.
type Skipped struct {
	Layout *Layout
	Part   string
}

// Guesser makes up names. The zero value knows nothing but what layouts try.
type Guesser struct {
	Parts map[string][]string // what may stand for placeholders, by their names
	Told  *limit.Spec         // its window tells window numbers; nil when not known
	Now   int64               // unix ns
}

// Names are the main keys that a customer's id may have in each layout, the
// windows of now and of before among them. At most 2,000.
func (g *Guesser) Names(layouts []*Layout, id string) (names []Name, skipped []Skipped) {
	seen := map[string]bool{}
	for _, l := range layouts {
		form := &l.Keys[0]
		list, missing := g.fill(l, form, id)
		if len(list) == 0 {
			skipped = append(skipped, Skipped{l, missing})
		}
		for _, key := range list {
			if !seen[key] && len(names) < maxNames {
				seen[key] = true
				names = append(names, Name{key, l})
			}
		}
	}
	return names, skipped
}

// fill makes up the names of one key.
func (g *Guesser) fill(l *Layout, form *KeyForm, id string) (keys []string, missing string) {
	if l.IDs == "weir" {
		id = weirID(id)
	}
	sets := []map[string]string{{"id": id}}
	for _, hashed := range g.hashed(l, "id", sets[0]) {
		sets = append(sets, map[string]string{"id": hashed})
	}
	names := form.Name.Names()
	// What a window is depends on the other parts, its period above all.
	slices.SortStableFunc(names, func(a, b string) int { return isWindow(a) - isWindow(b) })
	for _, name := range names {
		if name == "id" {
			continue
		}
		var next []map[string]string
		for _, set := range sets {
			for _, value := range g.values(l, name, set) {
				with := map[string]string{name: value}
				maps.Copy(with, set)
				next = append(next, with)
			}
		}
		if len(next) == 0 {
			return nil, g.lacks(l, name, sets[0])
		}
		sets = next[:min(len(next), maxFormNames)]
	}
	for _, set := range sets {
		key, lacks := form.Name.Fill(set)
		if lacks != "" {
			missing = lacks
			continue
		}
		keys = append(keys, key)
	}
	return keys, missing
}

func isWindow(name string) int {
	if name == "window" {
		return 1
	}
	return 0
}

// weirID is an id as it stands in weir's own keys.
func weirID(id string) string {
	key := redislimit.Key("p", id, "r")
	return key[len("p:{") : len(key)-len("}:r")]
}

// values are what may stand for one placeholder, given the others.
func (g *Guesser) values(l *Layout, name string, set map[string]string) []string {
	if given := g.Parts[name]; len(given) > 0 {
		return given
	}
	if _, ok := l.Hashes[name]; ok {
		return g.hashed(l, name, set)
	}
	switch name {
	case "window":
		return g.windows(l, set)
	case "limit":
		if n, _, ok := g.toldWindow(); ok {
			return []string{strconv.FormatInt(n, 10)}
		}
		return nil
	case "multiple", "period":
		if _, w, ok := g.toldWindow(); ok {
			if multiple, period, ok := inPeriods(w); ok {
				return []string{map[string]string{"multiple": multiple, "period": period}[name]}
			}
		}
	}
	return l.Try[name]
}

func (g *Guesser) toldWindow() (n int64, w time.Duration, ok bool) {
	if g.Told == nil || g.Told.Window <= 0 {
		return 0, 0, false
	}
	return g.Told.Limit, g.Told.Window, true
}

// inPeriods is a window as so many of the longest period that divides it.
func inPeriods(w time.Duration) (multiple, period string, ok bool) {
	for _, name := range []string{"day", "hour", "minute", "second"} {
		if w%periods[name] == 0 {
			return strconv.FormatInt(int64(w/periods[name]), 10), name, true
		}
	}
	return "", "", false
}

// triedWindows are the lengths that names are made up for when none is told.
var triedWindows = []time.Duration{time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, time.Hour, 24 * time.Hour}

// windows are the numbers or starts of the windows of now and of before.
func (g *Guesser) windows(l *Layout, set map[string]string) []string {
	lengths := triedWindows
	if _, w, ok := g.toldWindow(); ok {
		lengths = []time.Duration{w}
	}
	period := set["period"]
	if w, ok := periods[period]; ok {
		lengths = []time.Duration{w}
	}
	var out []string
	for _, w := range lengths {
		starts := []int64{g.Now / int64(w) * int64(w), (g.Now/int64(w) - 1) * int64(w)}
		if l.Decode.Calendar && (period == "month" || period == "year") {
			starts = calendarStarts(g.Now, period)
		}
		for _, start := range starts {
			value := start / int64(w)
			if l.Decode.Window == "start" {
				value = start / units[l.Decode.Unit]
			}
			if text := strconv.FormatInt(value, 10); value >= 0 && !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

// calendarStarts are when this month or year and the one before began, in UTC.
func calendarStarts(now int64, period string) []int64 {
	t := time.Unix(0, now).UTC()
	month := t.Month()
	years, months := 0, -1
	if period == "year" {
		month, years, months = time.January, -1, 0
	}
	start := time.Date(t.Year(), month, 1, 0, 0, 0, 0, time.UTC)
	return []int64{start.UnixNano(), start.AddDate(years, months, 0).UnixNano()}
}

// Together are the names of all keys that belong to the one that c was found
// for, the main one first. A pair of windows is that of now when the key is of
// the window before.
func (c *Candidate) Together(key string, now int64, told *limit.Spec) []string {
	parts := map[string]string{}
	maps.Copy(parts, c.Parts)
	if n, ok := parseNumber(parts["window"]); ok && c.Layout.Decode.Window == "number" && len(c.Layout.Keys) > 1 {
		w := inferWindow(n.whole, now)
		if told != nil && told.Window > 0 {
			w = told.Window
		}
		if w > 0 && now/int64(w) == n.whole+1 {
			parts["window"] = strconv.FormatInt(n.whole+1, 10)
		}
	}
	keys := []string{}
	for i := range c.Layout.Keys {
		name, missing := c.Layout.Keys[i].Name.Fill(parts)
		if missing == "" && !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	if !slices.Contains(keys, key) {
		return []string{key}
	}
	return keys
}
