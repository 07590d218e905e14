package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/report"
)

// Keeper is a source that reads what limiters keep.
type Keeper interface {
	// Buckets are what was read last; nil where nothing is read.
	Buckets() *Buckets
}

// Buckets is a look at what limiters keep. It is never changed.
type Buckets struct {
	Now      int64 // unix ns of the server's clock, as time has gone on since
	Readings []inspect.Reading
	Missing  []string      // what was asked for and is not there
	Strange  []string      // keys that are there and fit no layout
	Every    time.Duration // how often they are read
	Trouble  string        // why the newest look failed; "" when it did not
}

// Kept columns end here, right of the gauge, and beyond keptTold those of what
// callers were told.
var (
	keptEnds  = [...]int{12, 22, 31}
	keptHeads = [...]string{"left", "next in", "TTL"}
	toldHeads = [...]string{"told left", "told wait"}
	toldWide  = [...]int{11, 22}
)

// kept draws what limiters keep: a row each, and in sentences the one that the
// arrows choose.
func (m *model) kept(c *canvas, b *Buckets) {
	if len(b.Readings) == 0 {
		y := c.wrap(2, 1, "There is no state of what was asked for. A limiter that was not called for a while keeps nothing.", style{tone: dim})
		m.absent(c, y+1, b)
		return
	}
	told := map[string]report.Told{}
	for _, k := range m.snap.Detail.Keys {
		if k.Told.At > 0 || k.Told.RefusedAt > 0 {
			told[k.Key] = k.Told
		}
	}
	name := 4
	for i := range b.Readings {
		name = max(name, width(keptName(&b.Readings[i])))
	}
	name = min(name, max(c.w/4, 12))
	ends := keptEnds[len(keptEnds)-1]
	if len(told) > 0 {
		ends += toldWide[len(toldWide)-1]
	}
	x := 1 + name + 2
	gauge := max(c.w-x-ends-2, 0)
	c.text(1, 0, "key", style{bold: true})
	for i, h := range keptHeads {
		c.right(x+gauge+keptEnds[i], 0, h, style{bold: true})
	}
	if len(told) > 0 {
		for i, h := range toldHeads {
			c.right(x+gauge+keptEnds[len(keptEnds)-1]+toldWide[i], 0, h, style{bold: true})
		}
	}
	room := max(c.h/2-1, 1)
	at := min(m.table.from, len(b.Readings)-1)
	from := max(min(at-room/2, len(b.Readings)-room), 0)
	y := 1
	for i := from; i < min(from+room, len(b.Readings)); i++ {
		r := &b.Readings[i]
		st := style{}
		if i == at && len(b.Readings) > 1 {
			st.reverse = true
		}
		c.text(1, y, fit(keptName(r), name), st)
		keptRow(c, x, y, gauge, r, b.Now)
		if t, ok := told[r.ID]; ok {
			toldRow(c, x+gauge+keptEnds[len(keptEnds)-1], y, t)
		}
		y++
	}
	y++
	r := &b.Readings[at]
	c.text(2, y, "as it was read "+seconds(max(b.Now-r.Now, 0))+" ago:", style{tone: dim})
	y++
	for _, s := range r.Sentences(1) {
		y = c.wrap(2, y, tameText(s), style{})
	}
	y = m.absent(c, y, b)
	foot := fmt.Sprintf("read every %v; the rows go on by themselves in between", b.Every)
	if len(b.Readings) > 1 {
		foot = fmt.Sprintf("%d of %d (↑↓), ", at+1, len(b.Readings)) + foot
	}
	if y < c.h {
		c.text(1, c.h-1, fit(foot, c.w-2), style{tone: dim})
	}
}

// absent says what was asked for and not found, or not understood.
func (m *model) absent(c *canvas, y int, b *Buckets) int {
	for _, l := range []struct {
		what string
		list []string
	}{{"Not there: ", b.Missing}, {"Fits no layout: ", b.Strange}} {
		if len(l.list) == 0 {
			continue
		}
		var names []string
		for _, n := range l.list[:min(len(l.list), 8)] {
			names = append(names, fit(tame(n), 40))
		}
		if more := len(l.list) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		y = c.wrap(2, y, l.what+strings.Join(names, ", ")+".", style{tone: dim})
	}
	return y
}

// keptName is whose the state is, and under which rule.
func keptName(r *inspect.Reading) string {
	switch {
	case r.ID != "" && r.Rule != "":
		return tame(r.ID + " " + r.Rule)
	case r.ID != "":
		return tame(r.ID)
	}
	return tame(r.Entries[0].Key)
}

func keptRow(c *canvas, x, y, gauge int, r *inspect.Reading, now int64) {
	col := func(i int, text string, t tone) { c.right(x+gauge+keptEnds[i], y, text, style{tone: t}) }
	left, of, known := keptLeft(r, now)
	switch {
	case known:
		for i := range gauge {
			c.set(x+i, y, '·', style{tone: dim})
		}
		bar(c, x, y, gauge, max(left, 0)/math.Max(of, 1), solid, admitted)
		col(0, brief(math.Floor(left*10)/10)+" of "+brief(of), admitted)
	case r.Used != nil:
		col(0, brief(float64(*r.Used))+" used", plain)
	default:
		col(0, "unknown", dim)
	}
	if _, wait, ok := r.Later(now, 1); ok {
		switch wait {
		case 0:
			col(1, "now", admitted)
		case inspect.WaitNever:
			col(1, "never", refused)
		case inspect.WaitUnknown:
			col(1, "unknown", refused)
		default:
			col(1, seconds(int64(wait)), refused)
		}
	}
	switch ttl := r.Entries[0].TTL; ttl {
	case inspect.NoTTL:
		col(2, "none", failed)
	case inspect.NoKey:
		col(2, "gone", dim)
	default:
		col(2, seconds(max(int64(ttl)-max(now-r.Now, 0), 0)), plain)
	}
}

// keptLeft is how much of what passes at once there is at now: with its
// fraction for what refills evenly.
func keptLeft(r *inspect.Reading, now int64) (left, of float64, known bool) {
	if r.Capacity == nil {
		return 0, 0, false
	}
	of = float64(*r.Capacity)
	if r.Held != nil && r.Limit != nil && r.Limit.Rate.Per > 0 {
		left = *r.Held + float64(r.Limit.Rate.Units)*float64(max(now-r.Now, 0))/float64(r.Limit.Rate.Per)
		return min(left, of), of, true
	}
	n, _, ok := r.Later(now, 1)
	return float64(n), of, ok
}

// toldRow is what stood in the answers about the same key.
func toldRow(c *canvas, x, y int, t report.Told) {
	if t.At > 0 && t.Remaining >= 0 {
		text := brief(float64(t.Remaining))
		if t.Limit > 0 {
			text += " of " + brief(float64(t.Limit))
		}
		c.right(x+toldWide[0], y, text, style{tone: marked})
	}
	if t.RefusedAt > 0 && t.RetryAfter >= 0 {
		c.right(x+toldWide[1], y, seconds(t.RetryAfter), style{tone: marked})
	}
}
