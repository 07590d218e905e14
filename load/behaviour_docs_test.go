package load

import (
	"os"
	"strings"
	"testing"
)

// Every name has a row in the page that a user reads, and every row's name
// exists.
func TestBehavioursAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/behaviours.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") {
			rows[name] = rest
		}
	}
	for _, info := range Behaviours() {
		row, ok := rows[info.Name]
		if !ok {
			t.Errorf("%s has no row in docs/behaviours.md", info.Name)
		}
		if info.Kind == KindWrapper && !strings.Contains(row, "`"+info.Syntax+"`") {
			t.Errorf("%s: the page does not show %s", info.Name, info.Syntax)
		}
		if info.About == "" || info.Syntax == "" {
			t.Errorf("%s: %+v", info.Name, info)
		}
		delete(rows, info.Name)
	}
	for name := range rows {
		t.Errorf("docs/behaviours.md has a row for %s, which does not exist", name)
	}
	// What the second block shows parses.
	blocks := strings.Split(string(page), "```\n")
	for example := range strings.FieldsSeq(blocks[3]) {
		if _, err := ParseBehaviour(example); err != nil {
			t.Error(err)
		}
	}
}

// The syntax of each, its optional parts left out, parses.
func TestSyntaxParses(t *testing.T) {
	for _, info := range Behaviours() {
		text := info.Syntax
		for {
			i, j := strings.IndexByte(text, '['), strings.IndexByte(text, ']')
			if i < 0 {
				break
			}
			text = text[:i] + text[j+1:]
		}
		if info.Kind == KindWrapper {
			text = "storm+" + text
		}
		b, err := ParseBehaviour(text)
		if err != nil {
			t.Error(err)
			continue
		}
		// It shows the defaults.
		short := info.Name
		if info.Kind == KindWrapper {
			short = "storm+" + short
		}
		if plain := mustParse(t, short); plain.String() != b.String() {
			t.Errorf("%s: the syntax shows %s, the defaults are %s", info.Name, b, plain)
		}
	}
}
