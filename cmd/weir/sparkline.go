package main

import "strconv"

// thousands writes a number with separators.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

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

// style makes words bold where the terminal can.
type style struct{ on bool }

func newStyle(on bool) style { return style{on} }

func (s style) bold(text string) string {
	if !s.on {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}
