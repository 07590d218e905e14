package profiles

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

// described is the part of a profile that an override can reach, one
// population a line.
func described(p *Profile) string {
	var lines []string
	for _, q := range p.Populations {
		f := flow{formatCount(q.Clients), q.Keys.flow().String(), q.Arrivals.flow().String()}
		if q.Arrivals.Kind == Step {
			for _, s := range q.Arrivals.Steps {
				f = append(f, formatRate(s.Rate))
			}
		}
		lines = append(lines, q.Name+" "+strings.Join(append(f, q.Behaviour), " "))
	}
	return strings.Join(lines, "\n")
}

func TestOverride(t *testing.T) {
	for _, tt := range []struct {
		name    string
		profile string
		o       Override
		want    string // described, or the start of the error
	}{
		{"nothing", "retry-storm", Override{}, "workers 40 {kind: one} {kind: closed, stagger: 100ms} storm"},
		{"a storm of another size", "retry-storm", Override{Clients: 100_000, Behaviour: "retry-after", Think: ptr(time.Second)},
			"workers 100k {kind: one} {kind: closed, think: 1s, stagger: 100ms} retry-after"},
		{"as many keys as clients", "steady", Override{Keys: 300, Clients: 300},
			"callers 300 {kind: cycle, count: 300} {kind: constant, rate: 50/s} give-up"},
		{"rate and keys of one population", "steady", Override{Rate: 200, Keys: 3},
			"callers 10 {kind: cycle, count: 3} {kind: constant, rate: 200/s} give-up"},
		{"one key", "page-load", Override{Keys: 1}, "browsers 20 {kind: one} {kind: burst, min: 10, max: 15, period: 500ms} give-up"},
		{"a random draw stays one", "many-keys", Override{Keys: 50}, "callers 1000 {kind: zipf, count: 50, s: 1} {kind: poisson, rate: 500/s} give-up"},
		{"clients where there were only new callers", "poisson", Override{Clients: 7}, "callers 7 {kind: one} {kind: poisson, rate: 50/s} give-up"},
		{"totals are shared in proportion", "noisy-neighbour", Override{Clients: 12, Rate: 450},
			"noisy 2 {kind: one, prefix: noisy-} {kind: constant, rate: 400/s} give-up\n" +
				"honest 10 {kind: per-client, prefix: honest-} {kind: poisson, rate: 50/s} retry-after"},
		{"steps by their top", "step", Override{Rate: 80}, "callers 10 {kind: one} {kind: step} 10/s 20/s 40/s 80/s 0/s 80/s give-up"},
		{"a sine by its mean", "sine", Override{Rate: 5}, "callers 10 {kind: one} {kind: sine, rate: 5/s, amplitude: 5/s, period: 20s} give-up"},
		{"a spike by what is beside it", "spike", Override{Rate: 1}, "callers 20 {kind: one} {kind: spike, rate: 1/s, to: 20/s, at: 20s, for: 10s} give-up"},
		{"the only prefix is replaced", "steady", Override{KeyPrefix: "t-"}, "callers 10 {kind: one, prefix: t-} {kind: constant, rate: 50/s} give-up"},
		{"several are kept apart", "noisy-neighbour", Override{KeyPrefix: "t-"},
			"noisy 10 {kind: one, prefix: t-noisy-} {kind: constant, rate: 200/s} give-up\n" +
				"honest 50 {kind: per-client, prefix: t-honest-} {kind: poisson, rate: 25/s} retry-after"},
		{"keys from a file", "steady", Override{KeyFile: "k.txt"}, "callers 10 {kind: file, file: k.txt} {kind: constant, rate: 50/s} give-up"},

		{"no rate in a closed loop", "retry-storm", Override{Rate: 200}, "profile retry-storm has no rate to set to 200/s"},
		{"no think time at a rate", "steady", Override{Think: ptr(time.Second)}, "profile steady has no closed loop"},
		{"too few clients", "noisy-neighbour", Override{Clients: 1}, "1 clients are too few for the profile's 2 populations"},
		{"file and number", "steady", Override{KeyFile: "k.txt", Keys: 4}, "a key file cannot go with"},
		{"negative rate", "steady", Override{Rate: -1}, `population "callers": arrivals.rate "-1/s" is not a possible rate`},
		{"negative duration", "steady", Override{Duration: -1}, `duration "-1ns" is negative`},
		{"keys that nobody would use", "steady", Override{Keys: 300}, "300 keys are more than profile steady can use: each of its 10 clients keeps one"},
		{"negative keys", "steady", Override{Keys: -2}, `population "callers": keys.count "-2" is not between`},
		{"negative attempts", "steady", Override{MaxAttempts: ptr(-2)}, `population "callers": max_attempts "-2" is not between`},
		{"too many clients", "steady", Override{Clients: 1 << 40}, `population "callers": clients "1099511627776" is not between`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, err := Builtin(tt.profile)
			if err != nil {
				t.Fatal(err)
			}
			kept, _ := Builtin(tt.profile)
			got, err := before.Override(tt.o)
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || !strings.HasPrefix(e.Msg, tt.want) {
					t.Errorf("error %v, want %q", err, tt.want)
				}
			} else if diff := cmp.Diff(tt.want, described(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(kept, before); diff != "" {
				t.Errorf("the profile itself changed:\n%s", diff)
			}
		})
	}
}

func TestSharesSumUp(t *testing.T) {
	for n := 3; n < 200; n++ {
		out := shareOut(n, []float64{0.7, 0.2, 0.1})
		if out[0]+out[1]+out[2] != n || out[2] < 1 || out[0] < out[1] || out[1] < out[2] {
			t.Errorf("%d is shared out as %v", n, out)
		}
	}
}
