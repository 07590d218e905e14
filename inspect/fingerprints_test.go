package inspect

import (
	"encoding/hex"
	"testing"
)

func TestScripts(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Scripts() {
		if b, err := hex.DecodeString(s.SHA); err != nil || len(b) != 20 || seen[s.SHA] {
			t.Errorf("%q is no SHA-1, or twice", s.SHA)
		}
		seen[s.SHA] = true
		if Find(Builtin(), s.Layout) == nil || s.Name == "" {
			t.Errorf("%s is of the layout %q", s.SHA, s.Layout)
		}
	}
	if s, ok := ScriptOf("f52a5b566060d79fd321d695df55bc918339c4aa"); !ok || s.Layout != "redis-rate" || !s.Seen {
		t.Errorf("%+v", s)
	}
	if _, ok := ScriptOf("0000000000000000000000000000000000000000"); ok {
		t.Error("a script that nobody has")
	}
}
