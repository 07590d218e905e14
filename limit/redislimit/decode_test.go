package redislimit

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
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

func TestJoin(t *testing.T) {
	pass := func(remaining int64, reset, delay time.Duration) limit.Decision {
		return limit.Decision{OK: true, Limit: 9, Remaining: remaining, ResetAfter: reset, Delay: delay}
	}
	short := func(retry time.Duration) limit.Decision {
		return limit.Decision{Limit: 7, RetryAfter: retry, ResetAfter: time.Second}
	}
	for _, tt := range []struct {
		name  string
		parts []limit.Decision
		want  limit.Decision
		by    int
	}{
		{"no limits", nil, limit.Decision{OK: true}, -1},
		{"all pass", []limit.Decision{pass(5, 3, 0), pass(2, 1, 4), pass(2, 9, 1)}, limit.Decision{OK: true, Limit: 9, Remaining: 2, ResetAfter: 9, Delay: 4}, 1},
		{"one is short", []limit.Decision{pass(5, 3, 8), short(time.Second)}, limit.Decision{Limit: 7, RetryAfter: time.Second, ResetAfter: time.Second}, 1},
		{"the longest wait", []limit.Decision{short(2), short(3), short(3)}, limit.Decision{Limit: 7, RetryAfter: 3, ResetAfter: time.Second}, 1},
		{"a wait that is known", []limit.Decision{short(limit.Unknown), short(time.Hour), short(time.Hour)}, limit.Decision{Limit: 7, RetryAfter: time.Hour, ResetAfter: time.Second}, 1},
		{"never is the longest", []limit.Decision{short(time.Hour), short(limit.Unknown), short(limit.Never), short(limit.Never)}, limit.Decision{Limit: 7, RetryAfter: limit.Never, ResetAfter: time.Second}, 2},
		{"unknown reset", []limit.Decision{pass(1, limit.Unknown, 0), pass(2, 5, 0)}, limit.Decision{OK: true, Limit: 9, Remaining: 1, ResetAfter: limit.Unknown}, 0},
	} {
		a := Answer{Parts: tt.parts}
		a.join()
		if a.Decision != tt.want || a.By != tt.by {
			t.Errorf("%s: %+v by %d, want %+v by %d", tt.name, a.Decision, a.By, tt.want, tt.by)
		}
		for i, d := range a.Parts {
			if !a.OK && d.Delay != 0 {
				t.Errorf("%s: part %d of a refused request is held back for %v", tt.name, i, d.Delay)
			}
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
