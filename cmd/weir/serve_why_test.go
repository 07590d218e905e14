package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/journal"
)

// Why a customer was held at 80 a second, in sentences.
func TestWhyText(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 8, 1, 12, 0, s, 0, time.UTC) }
	spell := func(from, to int, limit, whose string, version, admitted, refused int64, by map[string]int64) journal.Spell {
		return journal.Spell{Rule: journal.Rule{Name: "requests", Limit: limit, From: whose}, Version: version,
			Since: at(from), Until: at(to), Admitted: admitted, AdmittedUnits: admitted, Refused: refused, RefusedBy: by}
	}
	a := &journal.Answer{
		Name: "k-7", Plan: "gold", From: at(0), To: at(300), Lines: 999,
		Spells: []journal.Spell{
			spell(10, 20, "160/s,burst=160", "override: launch", 4, 1600, 1, map[string]int64{"\x1b[2J": 1}),
			spell(100, 200, "80/s,burst=80", "plan gold", 3, 8000, 1000, map[string]int64{"store": 120, "deny-cache": 880}),
		},
		Sampled:  journal.Sampled{Admitted: 3, Refused: 1},
		Versions: []journal.Version{{At: at(0), Version: 3}, {At: at(15), Version: 4}},
		Breakers: []journal.Turn{{At: at(30), Breaker: journal.Breaker{Open: true}}, {At: at(31)}, {At: at(40), Breaker: journal.Breaker{Open: true}}},
		Missing:  journal.Gap{Lines: 1234, Refusals: 1},
	}
	var b bytes.Buffer
	if err := writeWhy(&b, "k-7", a, 2, 76); err != nil {
		t.Fatal(err)
	}
	const want = `k-7 (plan gold) was held at 80.0 a second by rule requests (80/s,burst=80,
from plan gold).
  12:01:40 to 12:03:20, requests 80/s,burst=80 under version 3: 8,000 units
  passed (80.0 a second) and 1,000 requests were refused (10.0 a second).
  Who refused: refusals of the store that were still in force 88%, the store
  12%.
  12:00:10 to 12:00:20, requests 160/s,burst=160 under version 4: 1,600
  units passed (160.0 a second) and 1 request was refused (0.1 a second).
  Who refused: \x1b[2J 100%.
The log shows 4 decisions one by one: 3 passed, 1 refused.
The rules changed: version 3 from 12:00:00, version 4 from 12:00:15.
Meanwhile gateways' breakers opened 2 times, from 12:00:30 to 12:00:40: the
store did not answer, and each rule decided as it is told to for that.
note: 1,234 lines and 1 refusal of callers are missing from the log: too
many at once.
note: 2 lines could not be read.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}

	for _, tt := range []struct {
		why  string
		a    journal.Answer
		want string
	}{
		{"an empty log", journal.Answer{}, "The log says nothing about that time."},
		{"nobody of that name", journal.Answer{Lines: 1}, "No line names that caller, k, between"},
		{"never refused", journal.Answer{Lines: 1, Name: "k", Sampled: journal.Sampled{Admitted: 2}}, "k was not refused"},
		{"refused a moment ago", journal.Answer{Lines: 1, Name: "k", Sampled: journal.Sampled{Refused: 2}}, "its counts are not in the log yet"},
	} {
		b.Reset()
		if err := writeWhy(&b, "k", &tt.a, 0, 200); err != nil || !strings.Contains(b.String(), tt.want) {
			t.Errorf("%s: %s %v", tt.why, b.String(), err)
		}
	}
}

// Who asks for k-7 is answered about k-7, also where the log hides it, and told
// once as what.
func TestWhyNamesWhoWasAskedFor(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	hidden := gateway.ShownNames("k-7")[1]
	a := &journal.Answer{
		Name: hidden, From: at, To: at.Add(time.Minute), Lines: 9,
		Spells: []journal.Spell{{Rule: journal.Rule{Name: "requests", Limit: "80/s,burst=80", From: "default"},
			Since: at, Until: at.Add(time.Second), Admitted: 80, AdmittedUnits: 80, Refused: 1, RefusedBy: map[string]int64{"store": 1}}},
	}
	for asked, note := range map[string]string{
		"k-7":         "\nThe log hides k-7 as " + hidden + ".\n",
		hidden:        "",
		"203.0.113.9": "\nWho called from there last is " + hidden + " in the log.\n",
	} {
		var b bytes.Buffer
		if err := writeWhy(&b, asked, a, 0, 200); err != nil || !strings.HasPrefix(b.String(), asked+" was held at 80.0 a second") || !strings.Contains(b.String(), note) {
			t.Errorf("%s: %s, %v", asked, b.String(), err)
		}
		if n := strings.Count(b.String(), hidden); n != 1 {
			t.Errorf("%s: the hidden name stands there %d times, want once:\n%s", asked, n, b.String())
		}
	}
}

// How more than the rate came to pass is said.
func TestWhySaysWhyMoreThanTheRatePassed(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		limit string
		units int64
		by    string
		want  string
	}{
		{"80/s,burst=80", 800, "store", ""},
		{"80/s,burst=80", 879, "store", "since the burst, up to 80, passes on top"},
		{"80/s,burst=80", 965, "local-share", "allow in that time, 880 units: meanwhile gateways decided without the store"},
		{"80/s,burst=80", 965, "store", "allow in that time, 880 units."},
		{"fixed-window:limit=600,window=60s", 965, "store", ""},
		{"\x1b[2J", 965, "store", ""},
	} {
		s := journal.Spell{Rule: journal.Rule{Limit: tt.limit}, Since: at, Until: at.Add(10 * time.Second), AdmittedUnits: tt.units, Refused: 1, RefusedBy: map[string]int64{tt.by: 1}}
		if got := aboveRate(&s); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s, %d units: %q, want %q", tt.limit, tt.units, got, tt.want)
		}
	}
}

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", 3*maxNDJSONLine)
	for _, tt := range []struct {
		text, taken string
		bad         int
	}{
		{"", "", 0},
		{"a\nb\n", "a b", 0},
		{"a\n\n\nb", "a b", 0},
		{long + "\na\n", "a", 1},
		{"a\n" + long, "a", 1},
		{"no\na\n" + long + "\nno\nb\n", "a b", 3},
	} {
		var taken []string
		bad, err := eachLine(strings.NewReader(tt.text), func(line []byte) bool {
			if strings.HasPrefix(string(line), "no") {
				return false
			}
			taken = append(taken, strings.TrimSpace(string(line)))
			return true
		})
		if err != nil || bad != tt.bad || strings.Join(taken, " ") != tt.taken {
			t.Errorf("%.20q: took %q, %d bad, %v", tt.text, taken, bad, err)
		}
	}
}

// A ticket says "at 14:02": the last such time of day, in UTC as the log has it.
func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 8, 2, 14, 1, 0, 0, time.FixedZone("", 7200)) // 12:01 UTC
	for text, want := range map[string]string{
		"11:58": "2026-08-02T11:58:00Z", "12:01": "2026-08-02T12:01:00Z", "12:02": "2026-08-01T12:02:00Z", "14:02:30": "2026-08-01T14:02:30Z",
		"2h": "2026-08-02T10:01:00Z", "2026-07-31": "2026-07-31T00:00:00Z", "2026-07-31 14:02": "2026-07-31T14:02:00Z",
		"2026-07-31T14:02": "2026-07-31T14:02:00Z", "2026-07-31T14:02:03+02:00": "2026-07-31T12:02:03Z",
	} {
		if got, err := parseWhen("since", text, now); err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "25:00", "-2h", "14"} {
		if got, err := parseWhen("since", text, now); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}
