package journal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// tenSeconds is a held line that ends at second s.
func tenSeconds(s int64, key, limit string, version, admitted, refused int64) *Line {
	return &Line{Kind: Spent, At: time.Unix(s, 0).UTC(), Version: version, Caller: &Caller{Key: key, Plan: "gold"},
		Rule: &Rule{"requests", limit, "plan gold"},
		Held: &Held{SpanS: 10, First: time.Unix(s-10, 0).UTC(), Last: time.Unix(s, 0).UTC(), Admitted: admitted, AdmittedUnits: admitted, Refused: refused, RefusedBy: map[string]int64{"store": refused}}}
}

// A customer is held at 80 a second for half a minute, rests, is held again,
// and then their plan changes.
func TestWhyWasThisCustomerHeld(t *testing.T) {
	q := NewInquiry([]string{"k-7", "key#12345678"}, time.Time{}, time.Time{})
	at := func(s int64) time.Time { return time.Unix(s, 0).UTC() }
	for _, l := range []*Line{
		{Kind: Ruled, At: at(0), Version: 3},
		tenSeconds(110, "k-7", "80/s,burst=80", 3, 800, 200),
		tenSeconds(110, "other", "80/s,burst=80", 3, 9, 9),
		{Kind: Decided, At: at(115), Version: 3, Caller: &Caller{Key: "k-7"}, Decision: &Decision{Outcome: "refused"}},
		tenSeconds(120, "k-7", "80/s,burst=80", 3, 800, 300),
		tenSeconds(130, "k-7", "80/s,burst=80", 3, 800, 400),
		tenSeconds(300, "k-7", "80/s,burst=80", 3, 790, 1),
		{Kind: Ruled, At: at(305), Version: 4},
		tenSeconds(310, "k-7", "80/s,burst=80", 3, 400, 10),
		tenSeconds(310, "k-7", "160/s,burst=160", 4, 400, 5),
		{Kind: Broke, At: at(311), Version: 4, Gateway: 2, Breaker: &Breaker{"", true}},
		{Kind: Dropped, At: at(312), Version: 4, Gap: &Gap{5, 6}},
	} {
		q.Add(l)
	}
	a := q.Answer()
	if a.Name != "k-7" || a.Plan != "gold" || !a.From.Equal(at(0)) || !a.To.Equal(at(312)) || a.Lines != 12 {
		t.Errorf("%+v", a)
	}
	type want struct {
		limit             string
		version           int64
		since, until      int64
		admitted, refused int64
	}
	for i, w := range []want{
		{"80/s,burst=80", 3, 100, 130, 2400, 900},
		{"80/s,burst=80", 3, 290, 310, 1190, 11},
		{"160/s,burst=160", 4, 300, 310, 400, 5},
	} {
		s := a.Spells[i]
		if got := (want{s.Limit, s.Version, s.Since.Unix(), s.Until.Unix(), s.Admitted, s.Refused}); got != w {
			t.Errorf("spell %d: %+v, want %+v", i, got, w)
		}
	}
	if len(a.Spells) != 3 || a.Spells[0].RefusedBy["store"] != 900 || a.Spells[0].Seconds() != 30 {
		t.Errorf("%+v", a.Spells)
	}
	if len(a.Versions) != 2 || a.Versions[1] != (Version{at(305), 4}) || len(a.Breakers) != 1 || a.Sampled.Refused != 1 || a.Missing != (Gap{5, 6}) {
		t.Errorf("%+v %+v %+v %+v", a.Versions, a.Breakers, a.Sampled, a.Missing)
	}
}

// Two processes each wrote a log: their counts add up, their time does not.
func TestLogsOfTwoProcesses(t *testing.T) {
	q := NewInquiry([]string{"k"}, time.Time{}, time.Time{})
	for range 2 {
		for s := int64(110); s <= 150; s += 10 {
			q.Add(tenSeconds(s, "k", "80/s", 1, 400, 10))
		}
	}
	a := q.Answer()
	if len(a.Spells) != 1 || a.Spells[0].Seconds() != 50 || a.Spells[0].Admitted != 4000 || a.Spells[0].Refused != 100 {
		t.Errorf("%+v", a.Spells)
	}
}

func TestOnlyTheTimeThatIsAskedFor(t *testing.T) {
	q := NewInquiry([]string{"k"}, time.Unix(120, 0), time.Unix(140, 0))
	for s := int64(110); s <= 150; s += 10 {
		q.Add(tenSeconds(s, "k", "80/s", 1, 1, 1))
	}
	if a := q.Answer(); a.Lines != 3 || len(a.Spells) != 1 || a.Spells[0].Refused != 3 {
		t.Errorf("%+v", a)
	}
}

// What no journal can have written is no line of one.
func TestParse(t *testing.T) {
	const begin, good = `{"kind":"held","key":"k","span_s":10,"rule":"r","refused":1,`, `"at":"1970-01-01T00:02:00Z","first":"1970-01-01T00:01:40Z","last":"1970-01-01T00:01:50Z"}`
	if l := Parse([]byte(begin + good)); l == nil || l.Held == nil || l.Refused != 1 {
		t.Errorf("%+v", l)
	}
	for _, text := range []string{"", "{", `{"kind":""}`, `{"at":"1970-01-01T00:02:00Z"}`, // of no kind
		begin + strings.Replace(good, "1970-01-01T00:02", "0001-01-01T00:02", 1),
		begin + strings.Replace(good, "1970-01-01T00:01:40", "0001-01-01T00:01:40", 1),
		begin + strings.Replace(good, "00:01:50", "00:01:30", 1)} {
		if l := Parse([]byte(text)); l != nil {
			t.Errorf("%s: %+v", text, l)
		}
	}
}

// FuzzInquiry reads lines that no journal wrote.
func FuzzInquiry(f *testing.F) {
	for _, l := range []*Line{tenSeconds(110, "k", "80/s", 1, 1, 1), {Kind: Dropped, Gap: &Gap{1, 1}}, {Kind: Decided}} {
		text, err := json.Marshal(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"kind":"held","key":"k","span_s":10,"at":"0001-01-01T00:00:00Z","first":"1970-01-01T00:01:40Z","last":"1970-01-01T00:01:50Z","rule":"requests","refused":1}`)
	f.Add(`{"kind":"held","key":"k","span_s":1e300,"at":"9999-12-31T23:59:59Z","rule":"r"}` + "\n" + `{"kind":"held","key":"k"}`)
	f.Fuzz(func(t *testing.T, text string) {
		q := NewInquiry([]string{"k"}, time.Time{}, time.Time{})
		for s := range strings.Lines(text) {
			if l := Parse([]byte(s)); l != nil {
				q.Add(l)
			}
		}
		for _, s := range q.Answer().Spells {
			if s.end.IsZero() || s.Since.After(s.Until) || s.RefusedBy == nil {
				t.Fatalf("a spell without a span: %+v", s)
			}
		}
	})
}
