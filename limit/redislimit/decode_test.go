package redislimit

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// A request of several token buckets is told what limit.All says of them.
func TestAnswerIsThatOfAll(t *testing.T) {
	c := redistest.Server(t).Client(t)
	r := rand.New(rand.NewPCG(5, 5))
	var rules []*Rule
	var all limit.All
	for _, text := range []string{"10/s,burst=20", "60/m,burst=30", "1000/h,burst=40"} {
		rule := compile(t, text)
		pure, err := rule.spec.Bucket().Rule()
		if err != nil {
			t.Fatal(err)
		}
		rules, all = append(rules, rule), append(all, limit.Part{Bucket: new(limit.Bucket), Rule: &pure})
	}
	clock := pace{now: epoch, high: epoch}
	var by [3]int
	for i := range 3000 {
		now := clock.step(r)
		parts := make([]Part, len(rules))
		for j := range parts {
			all[j].Cost = 1 + r.Int64N(6)
			if r.IntN(40) == 0 {
				all[j].Cost = []int64{-1, 41, math.MaxInt64}[r.IntN(3)]
			}
			parts[j] = Part{Key: "rl:{all}:" + rules[j].spec.String(), Rule: rules[j], Cost: all[j].Cost}
		}
		want, wantBy := all.Take(now)
		want.RetryAfter, want.ResetAfter = inMicros(want.RetryAfter), inMicros(want.ResetAfter)
		got, err := checkWith(c, outlive(t, scriptFor(parts)), now, parts...)
		if err != nil {
			t.Fatal(err)
		}
		if got.Decision != want || got.By != wantBy {
			t.Fatalf("request %d, %+v:\n got %+v by %d\nwant %+v by %d", i, parts, got.Decision, got.By, want, wantBy)
		}
		by[got.By]++
	}
	if min(by[0], by[1], by[2]) == 0 {
		t.Errorf("one limit never decided: %d", by)
	}
}

// A request's parts are decided together, and none is held back when one is
// short; see limit.Joint for the rest.
func TestJoin(t *testing.T) {
	pass := limit.Decision{OK: true, Limit: 9, Remaining: 5, ResetAfter: 3, Delay: 8}
	short := limit.Decision{Limit: 7, RetryAfter: time.Second, ResetAfter: time.Second}
	for _, tt := range []struct {
		parts, want []limit.Decision
		decision    limit.Decision
		by          int
	}{
		{nil, nil, limit.Decision{OK: true}, -1},
		{[]limit.Decision{pass}, []limit.Decision{pass}, pass, 0},
		{[]limit.Decision{pass, short}, []limit.Decision{{OK: true, Limit: 9, Remaining: 5, ResetAfter: 3}, short}, short, 1},
	} {
		a := Answer{Parts: slices.Clone(tt.parts)}
		a.join()
		if a.Decision != tt.decision || a.By != tt.by || !slices.Equal(a.Parts, tt.want) {
			t.Errorf("%+v: %+v by %d with %+v, want %+v by %d with %+v", tt.parts, a.Decision, a.By, a.Parts, tt.decision, tt.by, tt.want)
		}
	}
}

// Whatever a server replies, what is read from it is a decision.
func FuzzDecode(f *testing.F) {
	reply := func(numbers ...int64) (b []byte) {
		for _, n := range numbers {
			b = binary.BigEndian.AppendUint64(b, uint64(n))
		}
		return b
	}
	f.Add(reply(epoch/1000, 1, 0, 19, 100000, 0, 0), uint8(0))
	f.Add(reply(epoch/1000, 0, 100000, 0, 2000000, 0, 1, 0, -1, 3, 0, 0, 0), uint8(0))
	f.Add(reply(epoch/1000, 0, -2, 0, -2, 0, 0), uint8(0))
	f.Add(reply(math.MaxInt64, 1, 0, 19, 1, 0, 0), uint8(0))
	f.Add(reply(1<<53-1, 0, 1<<53-1, 19, 1<<53-1, 0, 0), uint8(0))
	f.Add(reply(1, 1, 0, 19, 1, 0, 0), uint8(3))
	rule := compile(f, "10/s,burst=20")
	f.Fuzz(func(t *testing.T, b []byte, odd uint8) {
		var list []any
		for ; len(b) >= 8 && len(list) < 200; b = b[8:] {
			list = append(list, int64(binary.BigEndian.Uint64(b)))
		}
		if odd > 0 && int(odd) <= len(list) {
			list[odd-1] = string(b)
		}
		parts := make([]Part, max(0, len(list)-1)/partNumbers)
		for i := range parts {
			parts[i].Rule = rule
		}
		a, err := decode(list, parts)
		if err != nil {
			return
		}
		if odd > 0 && int(odd) <= len(list) {
			t.Fatal("text was read as a number")
		}
		if a.OK != (a.RetryAfter == 0) || a.At < 0 || a.Remaining < 0 || a.Delay < 0 || len(a.Parts) != len(parts) || a.Unreadable > len(parts) {
			t.Fatalf("%+v", a)
		}
		for _, d := range append(a.Parts, a.Decision) {
			if d.OK != (d.RetryAfter == 0) || d.RetryAfter < limit.Unknown || d.ResetAfter < 0 && d.ResetAfter != limit.Unknown || d.Remaining > d.Limit {
				t.Fatalf("%+v in %+v", d, a)
			}
		}
	})
}
