package sim

import (
	"os"
	"strings"
	"testing"
)

// The worked example of the page does what the page says.
func TestWorkedExample(t *testing.T) {
	page, err := os.ReadFile("../docs/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```yaml\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the page has no example")
	}
	path := t.TempDir() + "/ours.yaml"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		design, says string
		storm        float64
	}{{"local", "19,188", 19188}, {"central", "1,599", 1599}, {"shares", "1,593", 1593}} {
		want(t, figures(t, path, "design="+tt.design), fig{"admitted_in_storm": tt.storm})
		if !strings.Contains(string(page), tt.says) {
			t.Errorf("the page does not say %s", tt.says)
		}
	}
}
