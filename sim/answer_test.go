package sim

import (
	"context"
	"strings"
	"testing"
	"unicode"
)

// Every scenario has a line about it that reads as the others do.
func TestAboutLines(t *testing.T) {
	for _, s := range List() {
		if r := []rune(s.About); len(r) == 0 || !unicode.IsUpper(r[0]) && !unicode.IsDigit(r[0]) || strings.HasSuffix(s.About, ".") {
			t.Errorf("%s: %q does not begin with a capital or a number, or ends in a period", s.Name, s.About)
		}
	}
}

// A run that judges no promise says in words what it came to.
func TestAnswers(t *testing.T) {
	for _, info := range List() {
		s, err := Open(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Kind == "fleet" {
			if s, err = Open(info.Name, "duration=1s", "requests=10000/s", "keys=1000"); err != nil {
				t.Fatal(err)
			}
		}
		if d, ok := s.Params.(Documented); ok && d.Document().Promise != nil {
			continue
		}
		r, err := s.Result(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a := r.Model.Answer; !strings.HasSuffix(a, ".") || strings.ContainsAny(a, "%!") {
			t.Errorf("%s: answer %q", info.Name, a)
		}
	}
}

// A run without a figure that its answer needs has no answer.
func TestAnswerNeedsFigures(t *testing.T) {
	s, err := Open("storms/herd-same")
	if err != nil {
		t.Fatal(err)
	}
	if a := s.answer(map[string]float64{"admitted": 3}); a != "" {
		t.Errorf("answer %q", a)
	}
}

func TestShortNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1219: "1,219", 1180672.932331: "1,180,672.9", 0.014161: "0.0142", -0.5: "-0.5", -212: "-212",
		0.9999: "1", 1999.97: "2,000", 10.01: "10.01", -1999.97: "-2,000", 0.0002: "0.0002", 88.420094: "88.42", 1e18: "1e+18",
	} {
		if got := ShortNumber(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
