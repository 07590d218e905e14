package load

import (
	"slices"
	"strings"
)

// BehaviourError says what is wrong with the text of a behaviour.
type BehaviourError struct {
	Text    string   // as given
	Part    string   // the offending part of it
	Problem string   // lower case, without the part
	Near    []string // names the part may have meant, best first
	Try     string   // what to type instead; may be empty
}

func (e *BehaviourError) Error() string {
	text := e.Text
	if len(text) > maxBehaviourText {
		text = text[:maxBehaviourText] + "…"
	}
	part := e.Part
	if len(part) > maxBehaviourText {
		part = part[:maxBehaviourText] + "…"
	}
	if part == "" || part == text {
		return "behaviour " + quote(text) + ": " + e.Problem
	}
	return "behaviour " + quote(text) + ": " + quote(part) + ": " + e.Problem
}

// Hint is what to do about it, in one line.
func (e *BehaviourError) Hint() string {
	switch {
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, " or ") + "?"
	case e.Try != "":
		return e.Try
	}
	return "for example storm, full-jitter:100ms,10s, retry-after,spread or go-retryablehttp; weir behaviours lists all"
}

func quote(s string) string { return `"` + strings.Map(printable, s) + `"` }

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}

// nearest are the up to three names closest to word: within two edits, or
// with word as a beginning.
func nearest(word string, names []string) []string {
	word = strings.ToLower(word)
	if word == "" || len(word) > 40 {
		return nil
	}
	type scored struct {
		name string
		far  int
	}
	var found []scored
	for _, name := range names {
		far := edits(word, name)
		if far > 2 && len(word) >= 3 && (strings.HasPrefix(name, word) || strings.HasPrefix(word, name)) {
			far = 2
		}
		if far <= min(2, (len(word)+1)/2-1) {
			found = append(found, scored{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return a.far - b.far })
	var out []string
	for _, f := range found[:min(len(found), 3)] {
		out = append(out, f.name)
	}
	return out
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
