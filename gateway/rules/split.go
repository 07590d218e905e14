package rules

import (
	"bytes"
	"fmt"
)

// chunkMarks is about how many entries of the list of overrides are parsed at
// a time, counted as tooMuch counts.
const chunkMarks = 1_500

// item is the lines of one entry of the list, the first and the last, from 1.
type item struct{ from, to int }

// split takes a list of overrides that is written one entry after the other,
// each on lines of its own under a name at the start of a line, out of the
// text. What is left keeps its line numbers. Another way of writing leaves the
// text as it is, and there are no items. end is the line after the list.
func split(data []byte) (rest []byte, items []item, lines [][]byte, end int) {
	lines = bytes.SplitAfter(data, []byte("\n"))
	begin := -1
	for i, l := range lines {
		if name, after, ok := bytes.Cut(l, []byte(":")); ok && string(name) == "overrides" {
			if after = bytes.TrimSpace(after); len(after) == 0 || after[0] == '#' {
				begin = i + 1
			}
			break
		}
	}
	if begin < 0 {
		return data, nil, lines, 0
	}
	indent := -1
	for end = begin; end < len(lines); end++ {
		l := lines[end]
		body := bytes.TrimLeft(l, " ")
		text := bytes.TrimSpace(body)
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		depth := len(l) - len(body)
		dash := text[0] == '-' && (len(text) == 1 || text[1] == ' ')
		if depth == 0 && !dash {
			break
		}
		if indent < 0 {
			indent = depth
		}
		if dash && depth == indent {
			items = append(items, item{end + 1, end + 1})
		}
		if len(items) == 0 {
			return data, nil, lines, 0 // no list
		}
		items[len(items)-1].to = end + 1
	}
	if len(items) == 0 {
		return data, nil, lines, 0
	}
	rest = make([]byte, 0, len(data))
	for i, l := range lines {
		if i < begin || i >= end {
			rest = append(rest, l...)
		} else if bytes.HasSuffix(l, []byte("\n")) {
			rest = append(rest, '\n')
		}
	}
	return rest, items, lines, end + 1
}

// chunks calls read for some items at a time, and the line that they end
// before.
func chunks(lines [][]byte, items []item, end int, read func(items []item, end int)) {
	start, marks := 0, 0
	for i, it := range items {
		n := 0
		for _, l := range lines[it.from-1 : it.to] {
			n++
			for _, b := range l {
				switch b {
				case ':', ',', '-', '?', '\r':
					n++
				}
			}
		}
		if marks += n; marks > chunkMarks && i > start {
			read(items[start:i], it.from)
			start, marks = i, n
		}
	}
	if start < len(items) {
		read(items[start:], end)
	}
}

// overrideItems reads items of a file's list.
func (p *reader) overrideItems(lines [][]byte, items []item, end int) {
	if len(items) > MaxOverrides {
		p.fail(spot{items[MaxOverrides].from, 1}, "", "overrides has %d entries; the most is %d", len(items), MaxOverrides)
		return
	}
	chunks(lines, items, end, func(some []item, end int) {
		if p.full() {
			return
		}
		first := some[0].from
		node, bad := parseYAML(p.file, bytes.Join(lines[first-1:end-1], nil), first-1)
		if bad != nil {
			p.errs = append(p.errs, bad)
			return
		}
		p.before = first - 1
		defer func() { p.before = 0 }()
		had := len(p.set.Overrides)
		p.overrideList(node)
		// One entry for one item, unless the text is not what it looks like.
		if got := p.set.Overrides[had:]; len(got) == len(some) {
			for i, o := range got {
				o.from, o.to = some[i].from, some[i].to
			}
		} else if len(p.errs) == 0 {
			p.fail(spot{first, 1}, checkSyntax, "%s", fmt.Sprintf("%d entries start here and %d can be read", len(some), len(got)))
		}
	})
}
