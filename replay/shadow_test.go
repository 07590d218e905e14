package replay

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

func spec(t testing.TB, text string) limit.Spec {
	t.Helper()
	s, err := limit.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, text string, o Options) *Source {
	t.Helper()
	src, err := Open(strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// mixedTrace is many keys with several costs, some calls out of order.
func mixedTrace(calls int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("t,key,cost\n")
	at := 0.0
	for range calls {
		at += r.ExpFloat64() / 200
		fmt.Fprintf(&b, "%.6f,k-%d,%d\n", max(at-r.Float64()/50, 0), r.IntN(r.IntN(12)+1), 1+r.IntN(3))
	}
	return b.String()
}

// A replay decides as the limiter does call by call.
func TestShadowDecidesAsTheLimiter(t *testing.T) {
	text := mixedTrace(5000)
	for _, lim := range []string{"10/s,burst=20", "gcra:rate=10/s,burst=20", "fixed-window:limit=30,window=3s", "sliding-log:limit=30,window=3s",
		"sliding-counter:limit=30,window=3s", "leaky-meter:rate=10/s,burst=20", "leaky-queue:rate=10/s,queue=19"} {
		s := spec(t, lim)
		l, err := s.New()
		if err != nil {
			t.Fatal(err)
		}
		states := map[string]*limit.State{}
		var admitted, refused, weight int64
		src := open(t, text, Options{})
		var c Call
		for src.Next(&c) == nil {
			st := states[string(c.Key)]
			if st == nil {
				st = &limit.State{}
				states[string(c.Key)] = st
			}
			if l.Take(st, c.At, c.Cost).OK {
				admitted++
				weight += c.Cost
			} else {
				refused++
			}
		}
		sh := Shadow{Limit: s, Promise: &report.Promise{Text: lim, Units: 10, Per: 1e9, Burst: 1000}}
		r, err := sh.Run(t.Context(), open(t, text, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if r.Totals.Admitted != admitted || r.Totals.Refused != refused || refused == 0 || r.Replay.Trace.Backwards == 0 {
			t.Errorf("%s: admitted %d and refused %d, want %d and %d", lim, r.Totals.Admitted, r.Totals.Refused, admitted, refused)
		}
		var listed int64
		for _, k := range r.Replay.Refused {
			listed += k.Refused
		}
		if listed != refused || r.Replay.RefusedKeys != int64(len(r.Replay.Refused)) {
			t.Errorf("%s: the refused keys add up to %d", lim, listed)
		}
	}
}

func TestShadowCompares(t *testing.T) {
	text := "t,key,verdict\n0,a,admitted\n0,a,refused\n0,b,refused\n0.1,a,refused\n"
	other := spec(t, "fixed-window:limit=1,window=60s")
	sh := Shadow{Limit: spec(t, "10/s,burst=2"), Against: &other}
	r, err := sh.Run(t.Context(), open(t, text, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	// Here a passes at 0, 0 and 0.1, and b once; the window admits one each.
	a := r.Replay.Against
	if a.Calls != 4 || a.BothAdmitted != 2 || a.OnlyHere != 2 || a.OnlyThere != 0 || a.KeysDiffering != 1 {
		t.Errorf("against: %+v", a)
	}
	f := a.First
	if f == nil || f.Line != 3 || f.Key != "a" || f.Here != "admitted" || f.There != "refused" ||
		f.Before != "1 of 2 left, as new in 100ms" || f.After != "0 of 2 left, the next passes in 100ms, as new in 200ms" && f.After != "0 of 2 left, as new in 200ms" ||
		!strings.HasPrefix(f.ThereBefore, "0 of 1 left") {
		t.Errorf("first: %+v", f)
	}
	rec := r.Replay.Recorded
	if rec.Calls != 4 || rec.BothAdmitted != 1 || rec.OnlyHere != 3 || rec.KeysDiffering != 2 || rec.First.Line != 3 {
		t.Errorf("recorded: %+v", rec)
	}
}

func TestShadowHidesKeys(t *testing.T) {
	sh := Shadow{Limit: spec(t, "1/s,burst=1"), Hidden: true}
	r, err := sh.Run(t.Context(), open(t, "0,secret\n0,secret\n", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if k := r.PerKey[0].Key; k != Hidden("secret") || strings.Contains(k, "secret") || r.Replay.Refused[0].Key != k {
		t.Errorf("the key is shown as %q and %q", k, r.Replay.Refused[0].Key)
	}
}

// Five calls a second are a burst of five where the log has whole seconds only.
func TestWholeSecondsAreSaid(t *testing.T) {
	for trace, want := range map[string]bool{strings.Repeat("1,k\n", 5) + strings.Repeat("2,k\n", 5): true, "1,k\n1,k\n1.5,k\n2,k\n": false, "1,k\n2,k\n5,k\n": false} {
		sh := Shadow{Limit: spec(t, "5/s,burst=1")}
		r, err := sh.Run(t.Context(), open(t, trace, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(r.Notes, " "), "whole seconds"); said != want {
			t.Errorf("%q: %q", trace, r.Notes)
		}
	}
}

// nginx refuses with 503 unless it is told otherwise.
func TestStatus503IsAskedAbout(t *testing.T) {
	log := strings.Repeat("10.0.0.1 - - [01/Aug/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 503 5 \"-\" \"-\"\n", 3)
	for _, c := range []struct {
		refused []int64
		want    bool
	}{{nil, true}, {[]int64{429, 503}, false}} {
		sh := Shadow{Limit: spec(t, "5/s,burst=1")}
		r, err := sh.Run(t.Context(), open(t, log, Options{Refused: c.refused}))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(r.Notes, " "), "3 calls of the trace have status 503"); said != c.want {
			t.Errorf("refused %v: %q", c.refused, r.Notes)
		}
	}
}

// Keys that are taken from a credential unasked are hidden, also in lines that
// cannot be read.
func TestCredentialsAreHidden(t *testing.T) {
	for trace, want := range map[string]bool{
		"t,api_key\n0,topsecret\nx,topsecret\n":                                          true,
		"{\"t\":0,\"api_key\":\"topsecret\"}\n{\"t\":\"x\",\"api_key\":\"topsecret\"}\n": true,
		"t,key\n0,api_key\n": false,
	} {
		src := open(t, trace, Options{HideCredential: true})
		s, err := Measure(t.Context(), src, "trace", src.Hidden())
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprint(s); src.Hidden() != want || strings.Contains(text, "topsecret") {
			t.Errorf("%q: hidden %v, and shown is %s", trace, src.Hidden(), text)
		}
	}
}

// The storm that load sends is the storm that is replayed.
func TestGeneratedStorm(t *testing.T) {
	p, err := profiles.Open("retry-storm")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := load.Compile(p, load.Options{Seed: 1, Duration: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	s := spec(t, "10/s,burst=20")
	src := Generate(t.Context(), Generated{Plan: plan, Limit: s, Answer: 100 * time.Millisecond})
	defer src.Close()
	sh := Shadow{Limit: s}
	r, err := sh.Run(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	// 40 workers at 100 ms an answer are 400 a second.
	if r.Totals.Offered != 4000 || r.Totals.Admitted < 115 || r.Totals.Admitted > 120 {
		t.Errorf("admitted %d of %d", r.Totals.Admitted, r.Totals.Offered)
	}
	// One that is left in the middle ends.
	src = Generate(t.Context(), Generated{Plan: plan, Limit: s, Answer: 100 * time.Millisecond})
	var c Call
	if err := src.Next(&c); err != nil {
		t.Fatal(err)
	}
	src.Close()
}

func TestStats(t *testing.T) {
	s, err := Measure(t.Context(), open(t, "t,key,cost,verdict\n10,a,1,admitted\n10.5,a,2,refused\n10.9,b,1,\n12,b,1,admitted\n", Options{}), "x", false)
	if err != nil {
		t.Fatal(err)
	}
	if s.PeakCalls != 3 || s.PeakAt != "10 s" || s.Cost != 5 || s.MostCost != 2 || s.Keys != 2 || s.Admitted != 2 || s.Refused != 1 ||
		s.MeanPerS != 2 || s.Busiest[0] != (BusyKey{"a", 2, 2}) || s.Busiest[1] != (BusyKey{"b", 2, 1}) {
		t.Errorf("%+v", s)
	}
}

// BenchmarkShadow is a line of an access log through a token bucket.
func BenchmarkShadow(b *testing.B) {
	var line strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&line, "10.0.%d.%d - - [10/Oct/2023:13:55:%02d +0000] \"GET /v1/orders/%d?page=2 HTTP/1.1\" 200 512 \"-\" \"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\"\n", i*7919%256, i*104729%256, i/500, i)
	}
	text := line.String()
	b.SetBytes(int64(len(text) / 20000))
	b.ReportAllocs()
	r := strings.NewReader("")
	src, err := Open(&repeat{r: r, text: text, left: b.N/20000 + 1}, Options{Format: "combined"})
	if err != nil {
		b.Fatal(err)
	}
	sh := Shadow{Limit: spec(b, "10/s,burst=20")}
	if _, err := sh.Run(b.Context(), src); err != nil {
		b.Fatal(err)
	}
}

// repeat reads a text several times.
type repeat struct {
	r    *strings.Reader
	text string
	left int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.r.Len() == 0 && r.left > 0 {
		r.left--
		r.r.Reset(r.text)
	}
	return r.r.Read(p)
}
