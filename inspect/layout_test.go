package inspect

import "testing"

func TestBuiltinLayoutsLoad(t *testing.T) {
	if n := len(Builtin()); n < 3 {
		t.Fatalf("%d layouts", n)
	}
}
