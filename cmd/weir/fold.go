package main

import "strings"

// fold breaks text into lines of at most width columns, each after indent. A
// word that is longer stands alone. Escape sequences count as no columns.
func fold(text, indent string, width int) string {
	var b strings.Builder
	col := 0
	for i, word := range strings.Fields(text) {
		n := columns(word)
		switch {
		case i == 0 || col+1+n > width:
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
