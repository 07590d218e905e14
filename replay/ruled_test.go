package replay

import (
	"slices"
	"testing"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/report"
)

func TestRuled(t *testing.T) {
	set, err := rules.Parse([]byte(`version: 1
rules:
  - name: requests
    per: key
    limits:
      - default: true
        limit: "sliding-log:limit=2,window=60s"
      - plan: gold
        limit: "sliding-log:limit=3,window=60s"
  - name: by-address
    per: address
    limits:
      - default: true
        limit: "sliding-log:limit=4,window=60s"
  - name: tight
    per: key
    mode: shadow
    limits:
      - default: true
        limit: "sliding-log:limit=1,window=60s"
`), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := "t,key,remote_addr,plan,verdict\n" +
		"0,a,10.0.0.1,,1\n1,a,10.0.0.1,,1\n2,a,10.0.0.1,,1\n" + // the third is one too many for a
		"3,b,10.0.0.1,gold,1\n4,b,10.0.0.1,gold,1\n" + // refused calls were not charged to the address
		"5,b,10.0.0.1,gold,1\n" + // a third of gold, the fifth of the address
		"6,b,10.0.0.2,gold,1\n"
	src := open(t, text, Options{Fields: append(slices.Clone(RuleFields), "plan")})
	u := Ruled{Set: set, Plan: true}
	r, err := u.Run(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	want := []report.ReplayRule{{Rule: "requests", Offered: 7, Refused: 1}, {Rule: "by-address", Offered: 7, Refused: 1}, {Rule: "tight", Shadow: true, Offered: 7, Refused: 5}}
	if !slices.Equal(r.Replay.Rules, want) || r.Totals.Refused != 2 || r.Replay.Recorded.OnlyThere != 2 || r.Replay.Recorded.First.Line != 4 {
		t.Errorf("%+v, refused %d, %+v", r.Replay.Rules, r.Totals.Refused, r.Replay.Recorded)
	}
	if by := ByRefusals(r.Replay.Rules); by[0].Rule != "tight" {
		t.Errorf("%+v", by)
	}
	// Whom nobody knows is counted by address under every rule.
	u = Ruled{Set: set, Keyless: true}
	r, err = u.Run(t.Context(), open(t, text, Options{Fields: RuleFields}))
	if err != nil || r.Totals.Refused != 4 || r.Replay.Rules[0].Refused != 4 || r.Replay.Rules[1].Refused != 0 {
		t.Errorf("%+v, refused %d, %v", r.Replay.Rules, r.Totals.Refused, err)
	}
}
