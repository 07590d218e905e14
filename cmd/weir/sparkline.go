package main

import (
	"strings"
)

// sparkline draws counts as bars of one row; nothing is a dot, and the least
// of something still shows.
func sparkline(counts []uint32) string {
	const bars = "▁▂▃▄▅▆▇█"
	levels := []rune(bars)
	top := uint32(1)
	for _, c := range counts {
		top = max(top, c)
	}
	var out []rune
	for _, c := range counts {
		if c == 0 {
			out = append(out, '·')
			continue
		}
		out = append(out, levels[(uint64(c)*uint64(len(levels))-1)/uint64(top)])
	}
	return string(out)
}

// around cuts counts to at most width of them with counts[at] near the middle.
func around(counts []uint32, at, width int) []uint32 {
	width = min(max(width, 1), len(counts))
	from := min(max(at-width/2, 0), len(counts)-width)
	return counts[from : from+width]
}

// fold breaks text into lines of at most width columns, each after indent. A
// word that is longer stands alone. Escape sequences count as no columns.
func fold(text, indent string, width int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(text) {
		n := columns(word)
		switch {
		case i == 0 || col+1+n >= width:
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(indent)
			col = columns(indent)
		default:
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += n
	}
	return b.String()
}

// columns counts runes outside of escape sequences that end in m.
func columns(s string) int {
	n, escaped := 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escaped = true
		case escaped:
			escaped = r != 'm'
		default:
			n++
		}
	}
	return n
}

// style makes words bold where the terminal can.
type style struct{ on bool }

func newStyle(on bool) style { return style{on} }

func (s style) bold(text string) string {
	if !s.on {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}
