package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

// everyBehaviour is each name with its defaults, and some with wrappers.
func everyBehaviour() []string {
	var out []string
	for _, info := range Behaviours() {
		if info.Kind == KindWrapper {
			out = append(out, "storm+"+info.Name)
			continue
		}
		out = append(out, info.Name)
	}
	return append(out, "retry-after,jitter=0.25", "retry-after,spread", "storm,attempts=3",
		"full-jitter:100ms,10s+breaker:5,1s,refusals+budget:0.1", "decorrelated-jitter:1ms,8760h+throttle:1.5")
}

// atOnce are the behaviours that may come back with no wait at all: storms,
// and clients that do so by default or when Retry-After says 0.
var atOnce = []string{
	"storm", "urllib3", "axios-retry", "okhttp", "failsafe", "go-retryablehttp", "ky", "undici",
	"aws-sdk-js-v3",      // whole milliseconds, 0 among them
	"octokit-throttling", // a missing reset reads as 1970
	"slack-sdk",          // int(0) + U(0, 1), down to a nanosecond
}

func mayComeAtOnce(b Behaviour) bool {
	name := b.String()
	if i := strings.IndexAny(name, ":,+"); i >= 0 {
		name = name[:i]
	}
	return slices.Contains(atOnce, name)
}

func FuzzParseBehaviour(f *testing.F) {
	for _, s := range everyBehaviour() {
		f.Add(s)
	}
	for _, s := range []string{"", "+", ":", ",", "storm+", "fixed:-1s", "fixed:1e9h", "storm+budget:0.0000001", "fixed:1s,attempts=99999999999999999999", "retry-after,jitter=", "\x00", "full-jitter:10s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBehaviour(text)
		if err != nil {
			e, ok := err.(*BehaviourError)
			if !ok || e.Error() == "" || e.Hint() == "" || b != nil {
				t.Fatalf("%q: %#v, %v", text, err, b)
			}
			return
		}
		again, err := ParseBehaviour(b.String())
		if err != nil {
			t.Fatalf("%q: canonical %q: %v", text, b, err)
		}
		if d := cmp.Diff(parts(b), parts(again)); d != "" {
			t.Fatalf("%q and %q differ:\n%s", text, b, d)
		}
	})
}

// parts are what two equal behaviours have in common.
func parts(b Behaviour) []any {
	c := b.(*client)
	var r any = c.rule
	if _, ok := r.(presetRule); ok {
		r = "a preset" // named in text
	}
	s, isBackoff := r.(backoff)
	if isBackoff {
		r = []int64{int64(s.shape), int64(s.base), int64(s.cap)}
	}
	if o, ok := r.(obey); ok {
		r = []int64{int64(o.own.shape), int64(o.own.base), int64(o.own.cap), o.jitter, map[bool]int64{true: 1}[o.spread]}
	}
	if s, ok := r.(stainless); ok {
		r = int64(s.longest)
	}
	p := c.purse
	return []any{
		c.text, r, c.attempts, int64(c.within), c.breaker.after, int64(c.breaker.open), c.breaker.refusals,
		uint8(p.kind), p.ratio, p.start, p.max,
	}
}

func FuzzDecide(f *testing.F) {
	f.Add(int64(1), uint8(0), uint8(2), uint8(0), uint16(429), uint16(1), int64(0), int64(time.Second), uint32(3), []byte("7"))
	f.Add(int64(2), uint8(9), uint8(3), uint8(8), uint16(503), uint16(900), int64(1)<<62, int64(1)<<62, ^uint32(0), []byte("99999999999999999999"))
	f.Add(int64(3), uint8(20), uint8(2), uint8(0), uint16(403), uint16(2), int64(-5), int64(-1), uint32(0), []byte("Sat, 14 Mar 2026 10:00:05 GMT, 9"))
	f.Add(int64(4), uint8(31), uint8(2), uint8(0), uint16(0), uint16(0), int64(9), int64(7), uint32(77), []byte("-1e308"))
	names := everyBehaviour()
	behaviours := make([]Behaviour, len(names))
	for i, s := range names {
		behaviours[i] = mustParse(f, s)
	}
	f.Fuzz(func(t *testing.T, seed int64, pick, verdict, class uint8, status, attempt uint16, now, hint int64, bits uint32, raw []byte) {
		b := behaviours[int(pick)%len(behaviours)]
		a := dialect.Answer{Should: dialect.Tri(bits%3) - 1, HasRemaining: bits&8 != 0, Remaining: int64(bits >> 4 & 1), Limited: bits&32 != 0, Notes: dialect.Notes(bits >> 6)}
		h := dialect.Hint{Has: bits&1 != 0, Wait: time.Duration(hint), Source: dialect.Source(bits >> 8 % 16), Unit: dialect.Unit(bits >> 12 % 8)}
		h.RawLen = uint8(copy(h.Raw[:], raw))
		a.Retry, a.Wait = h, h
		h.Has, h.Source = bits&2 != 0, dialect.RetryAfterMS
		a.Milli = h
		h.Has, h.Source = bits&4 != 0, dialect.XRateLimitReset
		a.Reset = h
		o := Outcome{
			Verdict: report.Verdict(verdict % 5), Class: report.Class(class % 14), Status: status % 1000,
			Attempt: int(attempt), Elapsed: time.Duration(hint), Answer: &a,
		}
		if o.Verdict != report.Failed {
			o.Class = report.NoError
		}
		l := Limits{MaxWait: time.Duration(bits>>16) * ms, MaxAttempts: int(bits>>3) % 50}
		now = max(now, 0) / 2
		var m, twin Memory
		r, s := NewRand(seed, 1, 2), NewRand(seed, 1, 2)
		for range 4 {
			d := Decide(b, o, now, &m, &r, l)
			if d != Decide(b, o, now, &twin, &s, l) || m != twin || r != s {
				t.Fatalf("%s: the same arguments gave another decision", b)
			}
			switch {
			case d.Wait < 0 || d.Wait > longestWait || now+int64(d.Wait) < 0:
				t.Fatalf("%s: a wait of %d", b, d.Wait)
			case l.MaxWait > 0 && d.Wait > l.MaxWait:
				t.Fatalf("%s: %v is above the cap %v", b, d.Wait, l.MaxWait)
			case d.Retry && d.Capped, !d.Retry && d.Wait != 0, d.Capped && l.MaxWait == 0:
				t.Fatalf("%s: %+v makes no sense", b, d)
			case d.Retry && o.Verdict != report.Refused && o.Verdict != report.Failed:
				t.Fatalf("%s tries again after verdict %d", b, o.Verdict)
			case d.Retry && d.Wait == 0 && !mayComeAtOnce(b):
				t.Fatalf("%s comes back at once after %+v", b, o)
			case d.FromHeader && a.Wait.Has && d.Wait < a.Wait.Wait:
				t.Fatalf("%s: %v does not obey %v", b, d.Wait, a.Wait.Wait)
			case m.Tokens < 0 || m.Fails < 0:
				t.Fatalf("%s: memory %+v", b, m)
			}
			o.Attempt++
			now += int64(d.Wait)
			now = min(now, 1<<61)
		}
	})
}

// The same seed gives the same waits on any client, another seed others.
func TestSeeds(t *testing.T) {
	for _, text := range everyBehaviour() {
		b := mustParse(t, text)
		waits := func(seed int64, client uint32) []time.Duration {
			var m Memory
			r := NewRand(seed, client, 0)
			var out []time.Duration
			for n := 1; n <= 6; n++ {
				wait, _ := b.After(withAnswer(refused(n), asked(time.Second, "1")), 0, &m, &r)
				out = append(out, wait)
			}
			return out
		}
		if d := cmp.Diff(waits(1, 7), waits(1, 7)); d != "" {
			t.Errorf("%s: %s", text, d)
		}
		if strings.Contains(text, "jitter") && (slices.Equal(waits(1, 7), waits(2, 7)) || slices.Equal(waits(1, 7), waits(1, 8))) {
			t.Errorf("%s: seed or client makes no difference", text)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	a := asked(2*time.Second, "2")
	for _, text := range []string{
		"storm", "full-jitter", "decorrelated-jitter", "retry-after", "retry-after,spread", "full-jitter+budget:1+breaker:5,1s",
		"go-retryablehttp", "got", "urllib3", "aws-sdk-js-v3",
	} {
		beh := mustParse(b, text)
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			var m Memory
			r := NewRand(1, 0, 0)
			o := withAnswer(refused(1), a)
			good := admitted(1)
			l := Limits{MaxWait: time.Minute, MaxAttempts: 100}
			for i := range b.N {
				if i&7 == 0 {
					Decide(beh, good, int64(i), &m, &r, l)
				} else {
					Decide(beh, o, int64(i), &m, &r, l)
				}
			}
		})
	}
}

// Deciding allocates nothing, dates included.
func TestDecideAllocatesNothing(t *testing.T) {
	for _, text := range everyBehaviour() {
		b := mustParse(t, text)
		for _, hint := range []string{"none", "7", "2.5", "imf", "soon"} {
			o := withAnswer(refused(1), answerOf(hint))
			var m Memory
			r := NewRand(1, 0, 0)
			if n := testing.AllocsPerRun(20, func() { Decide(b, o, 0, &m, &r, Limits{MaxWait: time.Minute}) }); n != 0 {
				t.Errorf("%s on %s: %v allocations", text, hint, n)
			}
		}
	}
}
