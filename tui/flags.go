package tui

import "slices"

// word is that of a mark below the column that it stands in.
type word struct {
	x    int
	text string
}

// placed is where a word goes.
type placed struct {
	x, row int
	text   string
}

// flags are the words of the marks in sight, from left to right.
func (m *model) flags(line *timeline) []word {
	var out []word
	for _, mark := range m.about.Marks {
		if at, seen := line.column(int64(mark.AtS * 1e9)); seen {
			out = append(out, word{labels + at, tame(mark.Text)})
		}
	}
	slices.SortStableFunc(out, func(a, b word) int { return a.x - b.x })
	return out
}

// placeFlags finds a place for each word in one or two rows of w columns, and
// reports whether all of them are whole. In the first row a word stands beside
// its mark, in the second below it or, where another is there, left of that. The
// newest comes first: it is cut only where it is wider than the screen. Words for
// which not even two columns are left have no place.
func placeFlags(list []word, w, rows int) (out []placed, whole bool) {
	whole = true
	ends := [2]int{w + 1, w + 1} // where the next word of a row begins
	put := func(x, row, room int, text string) {
		whole = whole && width(text) <= room
		if room >= min(width(text), 2) {
			out = append(out, placed{x, row, fit(text, room)})
			ends[row] = x
		}
	}
	for i, f := range slices.Backward(list) {
		n, beside := width(f.text), ends[0]-1-(f.x+2)
		if i+1 < len(list) {
			beside = min(beside, list[i+1].x-1-(f.x+2))
		}
		switch {
		case n <= beside:
			put(f.x+2, 0, beside, f.text)
		case rows > 1:
			at := max(min(f.x, ends[1]-1-n), 0)
			put(at, 1, ends[1]-1-at, f.text)
		case i == len(list)-1 && f.x-1 > beside:
			put(max(f.x-1-n, 0), 0, f.x-1, f.text)
		default:
			put(f.x+2, 0, beside, f.text)
		}
	}
	return out, whole
}

// drawFlags writes the marks, in the row y, and their words.
func drawFlags(c *canvas, y int, list []word, words []placed) {
	for _, f := range list {
		c.set(f.x, y, '▲', style{tone: marked})
	}
	for _, p := range words {
		c.text(p.x, y+p.row, p.text, style{tone: marked})
	}
}
