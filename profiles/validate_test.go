package profiles

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func valid() *Profile {
	return &Profile{Name: "x", Duration: time.Minute, Populations: []Population{{
		Name: "a", Clients: 4, Keys: Keys{Kind: OneKey}, Arrivals: Arrivals{Kind: Constant, Rate: 10},
	}}}
}

// What no text can say, a struct still can.
func TestValidate(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		change func(p *Profile, q *Population)
		want   string
	}{
		{func(_ *Profile, q *Population) { q.Arrivals.Rate = math.NaN() }, `population "a": arrivals.rate "NaN/s" is not a possible rate`},
		{func(_ *Profile, q *Population) { q.Arrivals.Rate = math.Inf(1) }, `population "a": arrivals.rate "+Inf/s" is not a possible rate`},
		{func(_ *Profile, q *Population) { q.Arrivals.Think = 1 }, `population "a": arrivals.think means nothing with kind constant`},
		{func(_ *Profile, q *Population) { q.Keys = Keys{Kind: KeyZipf, Count: 5, S: math.NaN()} }, `population "a": keys.s "NaN" is not above 0`},
		{func(_ *Profile, q *Population) { q.Keys = Keys{Kind: KeyZipf, Count: math.MaxInt, S: 1} }, `population "a": keys.count "9223372036854775807" is not between`},
		{func(_ *Profile, q *Population) { q.Cost = []Cost{{1, math.Inf(1)}} }, `population "a": cost[0].weight "+Inf" is not above 0`},
		{func(_ *Profile, q *Population) { q.Name = "a\nb" }, `population "a\nb": name "a\nb" has characters that do not print`},
		{func(_ *Profile, q *Population) { q.Behaviour = " storm" }, `population "a": behaviour " storm" starts or ends with a space`},
		{func(_ *Profile, q *Population) { q.Keys.Kind = "" }, `population "a": keys is missing`},
		{func(_ *Profile, q *Population) { q.Arrivals = Arrivals{} }, `population "a": arrivals is missing`},
		{func(_ *Profile, q *Population) { q.Clients, q.Arrivals = 0, Arrivals{Kind: Closed} }, `population "a": clients is missing`},
		{func(_ *Profile, q *Population) {
			q.Arrivals = Arrivals{Kind: Expiry, Period: time.Second, Stagger: math.MaxInt64, Lead: 1}
		}, `population "a": arrivals.stagger "2562047h47m16.854775807s" is more than`},
		{func(p *Profile, _ *Population) { p.Duration = 0 }, `duration "0s" is less than 1ms`},
		{func(p *Profile, _ *Population) { p.Populations = nil }, `populations is missing`},
		{func(p *Profile, q *Population) {
			for range MaxPopulations {
				p.Populations = append(p.Populations, *q)
			}
		}, `populations has 65 entries; the most is 64`},
		{func(_ *Profile, q *Population) {
			q.Routes = []Route{{Path: "/" + strings.Repeat(`"`, 4000), Weight: 1}}
		}, `populations cannot be written as a file: the line is longer`},
	} {
		p := valid()
		tt.change(p, &p.Populations[0])
		err := p.Validate()
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Msg, tt.want) {
			t.Errorf("got  %v\nwant %s…", err, tt.want)
		}
	}
}

// random makes a valid profile with every kind in it sooner or later.
func random(r *rand.Rand) *Profile {
	rate := func() float64 { return float64(1+r.IntN(1e6)) / float64(1+r.IntN(1000)) }
	span := func() time.Duration { return time.Duration(1e6 + r.Int64N(1e12)) }
	word := func() string {
		alphabet := []rune("abcXYZ019 -_./:,#'\"{}[]&*!|>%@`~?\\é世")
		var s []rune
		for range 1 + r.IntN(12) {
			s = append(s, alphabet[r.IntN(len(alphabet))])
		}
		if t := strings.TrimSpace(string(s)); t != "" {
			return t
		}
		return "no"
	}
	p := &Profile{Name: word(), Duration: span()}
	if r.IntN(2) == 0 {
		p.About = word()
	}
	for i := range 1 + r.IntN(4) {
		q := Population{Name: fmt.Sprint(i, word()), Clients: 1 + r.IntN(MaxClients), MaxAttempts: r.IntN(9)}
		switch q.Keys.Kind = KeyKind(keyKinds[r.IntN(len(keyKinds))]); q.Keys.Kind {
		case KeyFile:
			q.Keys.File = word()
		case KeyZipf:
			q.Keys.S = r.Float64() + 0.001
			fallthrough
		case KeyCycle, KeyUniform:
			q.Keys.Count = 1 + r.IntN(MaxKeys)
			fallthrough
		default:
			if r.IntN(2) == 0 {
				q.Keys.Prefix = word()
			}
		}
		a := &q.Arrivals
		switch a.Kind = ArrivalKind(arrivalKinds[r.IntN(len(arrivalKinds))]); a.Kind {
		case Closed:
			a.Think, a.ThinkJitter, a.Stagger = span(), r.Float64(), span()
		case Constant, Poisson:
			a.Rate = rate()
		case Ramp:
			a.Rate, a.To = rate(), rate()
		case Step:
			for range 1 + r.IntN(4) {
				a.Steps = append(a.Steps, StepOf{rate(), span()})
			}
		case Spike:
			a.Rate, a.To, a.At, a.For = rate(), rate(), span(), span()
		case Sine:
			a.Rate, a.Period = rate(), span()
			a.Amplitude = max(a.Rate*r.Float64(), minRate)
		case Burst:
			a.Min, a.Max, a.Period, a.Aligned = 1+r.IntN(9), 10+r.IntN(9), span(), r.IntN(2) == 0
		case Edge:
			a.Count, a.Spread, a.Aligned = 1+r.IntN(1e6), span(), r.IntN(2) == 0
			a.Period = 2 * a.Spread
		case Expiry:
			a.Lead, a.Stagger = span(), span()
			a.Period = a.Lead + a.Stagger
		case Trace:
			a.File = word()
		}
		if r.IntN(2) == 0 {
			q.Behaviour = word()
		}
		for range r.IntN(3) {
			q.Cost = append(q.Cost, Cost{1 + r.IntN(100), r.Float64() + 0.1})
			q.Routes = append(q.Routes, Route{[]string{"", "GET", "POST"}[r.IntN(3)], "/" + strings.NewReplacer(" ", "", "#", "").Replace(word()), rate(), r.IntN(3)})
		}
		p.Populations = append(p.Populations, q)
	}
	return p
}

func TestMarshalledDecodesToTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		p := random(r)
		if err := p.Validate(); err != nil {
			t.Fatalf("%v in\n%s", err, p.Marshal())
		}
		got, err := Decode("again.yaml", p.Marshal())
		if err != nil {
			t.Fatalf("%v in\n%s", err, p.Marshal())
		}
		if diff := cmp.Diff(p, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-before +after):\n%s\n%s", diff, p.Marshal())
		}
	}
}
