package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-cli/weir/report"
)

// table is how the keys are shown: in what order, which, and from where on.
type table struct {
	order    int // index of keyColumns
	reversed bool
	filter   string
	from     int
}

// keyColumn is one column of the keys view.
type keyColumn struct {
	name  string
	w     int
	value func(report.KeyLine) (text string, order float64, t tone)
}

func count(n int64, t tone) (string, float64, tone) {
	if n < 0 {
		return "·", -1, dim
	}
	return report.Count(n), float64(n), t
}

// keyColumns stand right of the key's name; the first order is by share.
var keyColumns = []keyColumn{
	{"of bound", 9, func(k report.KeyLine) (string, float64, tone) {
		switch {
		case k.Bound == 0:
			return "·", k.Share, dim
		case k.Excess > 0:
			return percent(k.Share), k.Share, refused
		}
		return percent(k.Share), k.Share, admitted
	}},
	{"excess", 9, func(k report.KeyLine) (string, float64, tone) {
		switch {
		case k.Bound == 0:
			return "·", k.Excess, dim
		case k.Excess > 0:
			return fmt.Sprintf("+%s", brief(k.Excess)), k.Excess, refused
		}
		return brief(k.Excess), k.Excess, dim
	}},
	{"admitted", 10, func(k report.KeyLine) (string, float64, tone) { return count(k.Admitted, admitted) }},
	{"refused", 10, func(k report.KeyLine) (string, float64, tone) { return count(k.Refused, refused) }},
	{"offered", 10, func(k report.KeyLine) (string, float64, tone) { return count(k.Offered, offered) }},
	{"most in 1s", 11, func(k report.KeyLine) (string, float64, tone) { return count(k.Most, plain) }},
	{"failed", 8, func(k report.KeyLine) (string, float64, tone) { return count(k.Failed, failed) }},
	{"fairness", 9, func(k report.KeyLine) (string, float64, tone) {
		if k.Clients < 2 {
			return "·", 2, dim
		}
		return fmt.Sprintf("%.3f", k.Jain), k.Jain, plain
	}},
	{"clients", 8, func(k report.KeyLine) (string, float64, tone) {
		if k.Clients < 1 {
			return "·", -1, dim
		}
		return count(k.Clients, plain)
	}},
}

// key takes one of the table's own keys.
func (t *table) key(name string) bool {
	switch name {
	case "o":
		t.order, t.from = (t.order+1)%len(keyColumns), 0
	case "O":
		t.order, t.from = (t.order+len(keyColumns)-1)%len(keyColumns), 0
	case "r":
		t.reversed, t.from = !t.reversed, 0
	case "esc":
		t.filter = ""
	case "up", "k":
		t.from--
	case "down", "j":
		t.from++
	case "pgup":
		t.from -= 10
	case "pgdown":
		t.from += 10
	default:
		return false
	}
	t.from = max(t.from, 0)
	return true
}

// rows are the keys that pass the filter, in order.
func (t *table) rows(keys []report.KeyLine) []report.KeyLine {
	var rows []report.KeyLine
	for _, k := range keys {
		if strings.Contains(strings.ToLower(k.Key), strings.ToLower(t.filter)) {
			rows = append(rows, k)
		}
	}
	by := keyColumns[t.order].value
	slices.SortStableFunc(rows, func(a, b report.KeyLine) int {
		_, x, _ := by(a)
		_, y, _ := by(b)
		n := cmp.Compare(y, x)
		if t.reversed {
			n = -n
		}
		return cmp.Or(n, cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
	})
	return rows
}

// keys draws the table of keys.
func (m *model) keys(c *canvas) {
	t := &m.table
	rows := t.rows(m.snap.Detail.Keys)
	name := 4
	for _, k := range rows {
		name = max(name, width(tame(k.Key)))
	}
	name = min(name, max(c.w/3, 12))
	cols, x := 0, 1+name
	for _, k := range keyColumns {
		if x+k.w > c.w-1 {
			break
		}
		x += k.w
		cols++
	}
	c.text(1, 0, "key", style{bold: true})
	x = 1 + name
	for i, k := range keyColumns[:cols] {
		x += k.w
		st, label := style{bold: true}, k.name
		if i == t.order {
			st.tone = accent
			c.set(x-width(label)-1, 0, map[bool]rune{false: '↓', true: '↑'}[t.reversed], st)
		}
		c.right(x, 0, label, st)
	}
	room := c.h - 2
	from := min(t.from, max(len(rows)-room, 0))
	for y, k := range rows[from:min(from+room, len(rows))] {
		c.text(1, y+1, fit(tame(k.Key), name), style{})
		x = 1 + name
		for _, col := range keyColumns[:cols] {
			x += col.w
			text, _, tone := col.value(k)
			c.right(x, y+1, text, style{tone: tone})
		}
		if gauge := c.w - x - 3; gauge >= 8 && k.Bound > 0 {
			tone, shape := admitted, solid
			if k.Excess > 0 {
				tone, shape = refused, dotted
			}
			bar(c, x+2, y+1, gauge, k.Share, shape, tone)
		}
	}
	said := "1 key"
	if m.snap.NKeys != 1 {
		said = fmt.Sprintf("%s of %s keys", report.Count(int64(len(rows))), report.Count(int64(m.snap.NKeys)))
	}
	if m.snap.NKeys > len(m.snap.Detail.Keys) {
		said += ": the worst and the busiest"
	}
	if t.filter != "" {
		said += ", only those with " + tame(t.filter) + " (esc: all)"
	}
	if from > 0 || from+room < len(rows) {
		said += fmt.Sprintf(", from %d on (↑↓)", from+1)
	}
	c.text(1, c.h-1, said, style{tone: dim})
}
