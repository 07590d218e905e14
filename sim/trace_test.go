package sim

import (
	"context"
	"testing"
)

// figures runs a scenario and returns what it reports.
func figures(t *testing.T, name string, sets ...string) map[string]float64 {
	t.Helper()
	s, err := Open(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	var o Outcome
	if err := s.Run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	m := map[string]float64{}
	for _, f := range o.Figures {
		m[f.Name] = f.Value
	}
	return m
}

func TestDump(t *testing.T) {
	for _, n := range scenarioNames() {
		t.Log(n)
		s, err := Open(n)
		if err != nil {
			t.Fatal(err)
		}
		var o Outcome
		if err := s.Run(context.Background(), &o); err != nil {
			t.Fatal(err)
		}
		for _, f := range o.Figures {
			t.Logf("   %s = %v", f.Name, f.Value)
		}
	}
}
