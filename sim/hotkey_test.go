package sim

import (
	"context"
	"testing"
)

// figuresOf runs a scenario of the library.
func figuresOf(t *testing.T, name string, sets ...string) map[string]float64 {
	t.Helper()
	s, err := Open(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	var o Outcome
	if err := s.Run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range s.Kind.Figures {
		known[f.Name] = true
	}
	got := map[string]float64{}
	for _, f := range o.Figures {
		if !known[f.Name] {
			t.Errorf("figure %s is not documented", f.Name)
		}
		got[f.Name] = f.Value
	}
	return got
}

func TestHotKey(t *testing.T) {
	got := figuresOf(t, "freshbox/hot-key-leases")
	t.Log(got)
}
