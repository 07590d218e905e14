package profiles

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// yamlBlocks are the fenced examples of the format's page.
func yamlBlocks(t *testing.T) (page string, blocks []string) {
	t.Helper()
	data, err := os.ReadFile("../docs/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(data), "```yaml\n")[1:] {
		block, _, ok := strings.Cut(part, "```")
		if !ok {
			t.Fatal("a block without an end")
		}
		blocks = append(blocks, block)
	}
	return string(data), blocks
}

func TestDocsExampleDecodes(t *testing.T) {
	_, blocks := yamlBlocks(t)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of YAML", len(blocks))
	}
	p, err := Decode("example.yaml", []byte(blocks[0]))
	if err != nil {
		t.Fatal(printed(err))
	}
	if p.Name != "checkout" || len(p.Populations) != 3 || p.Populations[0].Routes[1].Cost != 5 {
		t.Errorf("decoded to\n%s", p.Marshal())
	}
}

func TestDocsShowEveryArrival(t *testing.T) {
	_, blocks := yamlBlocks(t)
	shown := map[ArrivalKind]bool{}
	for line := range strings.Lines(blocks[1]) {
		text, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		p, err := Decode("line.yaml", fmt.Appendf(nil, "populations: [{name: a, clients: 2, keys: one, arrivals: %s}]", strings.TrimSpace(text)))
		if err != nil {
			t.Fatalf("%s%v", line, printed(err))
		}
		kind := p.Populations[0].Arrivals.Kind
		shown[kind] = true
		for _, f := range fieldsOf[kind] {
			if !strings.Contains(text, f+": ") {
				t.Errorf("the example of %s does not show %s", kind, f)
			}
		}
	}
	for _, kind := range arrivalKinds {
		if !shown[ArrivalKind(kind)] {
			t.Errorf("%s is not shown", kind)
		}
	}
}

func TestDocsShowEveryKindOfKeys(t *testing.T) {
	page, _ := yamlBlocks(t)
	shown := map[KeyKind]bool{}
	for line := range strings.Lines(page) {
		text, ok := strings.CutPrefix(line, "| `")
		text, _, closed := strings.Cut(text, "` |")
		if !ok || !closed || strings.HasPrefix(text, "--") {
			continue
		}
		p, err := Decode("line.yaml", fmt.Appendf(nil, "populations: [{name: a, clients: 2, keys: %s, arrivals: {kind: poisson, rate: 1/s}}]", text))
		if err != nil {
			t.Fatalf("%s%v", line, printed(err))
		}
		shown[p.Populations[0].Keys.Kind] = true
	}
	for _, kind := range keyKinds {
		if !shown[KeyKind(kind)] {
			t.Errorf("%s is not shown", kind)
		}
	}
}
