package main

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
