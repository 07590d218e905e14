package rules

// maxSegments is how many of a path's segments are looked at: more than any
// pattern has.
const maxSegments = maxPattern + 1

// path is a request's path in segments, without copying it. Empty segments and
// "." are left out and ".." takes one back, so that another spelling of a path
// does not pass a route by.
type path struct {
	text  string
	depth int // segments in all; the first maxSegments are kept
	at    [maxSegments][2]int
}

func (p *path) read(text string) {
	p.text, p.depth = text, 0
	for from := 0; from < len(text); {
		if text[from] == '/' {
			from++
			continue
		}
		to := from + 1
		for to < len(text) && text[to] != '/' {
			to++
		}
		switch text[from:to] {
		case ".":
		case "..":
			p.depth = max(p.depth-1, 0)
		default:
			if p.depth < maxSegments {
				p.at[p.depth] = [2]int{from, to}
			}
			p.depth++
		}
		from = to
	}
}

func (p *path) segment(i int) string { return p.text[p.at[i][0]:p.at[i][1]] }
