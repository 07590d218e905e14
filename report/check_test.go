package report

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestChecks(t *testing.T) {
	w := storm(gates(1, func() gate { return bucket(10, 20) }))
	r := run(Setup{Promise: tenPerSecond}, w.run())
	f := Figures(r)
	for _, c := range []struct {
		text   string
		pass   bool
		detail string
	}{
		{"refused_share<5%", false, "refused_share is 9"},
		{"refused_share > 0.9", true, ""},
		{"worst_excess<=0", true, "worst_excess is -1.0"},
		{"max_in.1s<=30", true, "max_in.1s is 28"},
		{"max_in.10s<=120", true, ""},
		{"p99<200ms", true, "latency_ms.from_due.p99 is"},
		{"p99<90", false, " ms"},
		{"latency_ms.from_due.p99<0.2s", true, ""},
		{"totals.offered>=1k", true, ""},
		{"offered<0.001M", false, ""},
		{"status.503==0", true, "status.503 is 0"},
		{"status.429!=0", true, ""},
		{"errors.timeout==0", true, ""},
		{"jain>0.2", true, "fairness.jain is 0.2"},
		{"herd.over_mean<3", false, ""},
		{"herd.at_s<1m", true, " s"},
		{"max_in.7m<=1", false, "not measured"},
		{"sender.late_ms.p99<=10ms", true, ""},
	} {
		x, err := ParseCheck(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := x.Eval(f); got.Pass != c.pass || !strings.Contains(got.Detail, c.detail) || got.Name != c.text {
			t.Errorf("%s: %+v", c.text, got)
		}
	}
	x, _ := ParseCheck("worst_excess<=0")
	if c := x.Eval(Figures(run(Setup{}, nil))); c.Pass || !strings.Contains(c.Detail, "no limit") {
		t.Errorf("a bound nobody promised: %+v", c)
	}
}

func TestCheckErrors(t *testing.T) {
	for _, c := range []struct{ text, problem, near string }{
		{"refused_shar<5%", "unknown figure", "refused_share"},
		{"latency_ms.from_du.p99<1", "unknown figure", "latency_ms.from_due.p99"},
		{"excess<1", "unknown figure", "worst_excess"},
		{"refused", "no comparison", ""},
		{"refused=5", "no comparison", ""},
		{"refused<", "no value", ""},
		{"refused<five", "not a number", ""},
		{"refused<NaN", "not a number", ""},
		{"refused<5s", "not a time", ""},
		{"max_in.x<5", "unknown figure", ""},
		{"<5", "unknown figure", ""},
	} {
		_, err := ParseCheck(c.text)
		var ce *CheckError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), c.problem) || c.near != "" && !slices.Contains(ce.Near, c.near) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

func FuzzParseCheck(f *testing.F) {
	for _, s := range []string{"p99<200ms", "refused_share>=5%", "a!=b", "max_in.1s==1e400", "status.<1"} {
		f.Add(s)
	}
	fig := Figures(&Result{Bound: &Bound{}})
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCheck(s)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		if got := c.Eval(fig); got.Detail == "" {
			t.Errorf("%q: no detail", s)
		}
	})
}
