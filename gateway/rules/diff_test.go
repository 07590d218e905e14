package rules

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	a := mustParse(t, shop)
	replace := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("no %q in the shop", old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	tests := []struct {
		name    string
		edit    func(string) string
		want    string // lines
		buckets string // of the last
	}{
		{"nothing", func(s string) string { return s }, "", ""},
		{"a comment", func(s string) string { return "# x\n" + s }, "", ""},
		{"the version", replace("version: 7", "version: 8"), "version: 7 → 8", ""},
		{"twice", replace("10/s,burst=20", "20/s,burst=40"), "limit requests default: 10/s,burst=20 → 20/s,burst=40: twice", bucketsKeep},
		{"more burst", replace("10/s,burst=20", "10/s,burst=50"), "limit requests default: 10/s,burst=20 → 10/s,burst=50: rate the same, burst 2.5 times", bucketsKeep},
		{"the same in another unit", replace("10/s,burst=20", "600/m,burst=20"), "limit requests default: 10/s,burst=20 → 600/m,burst=20: the same", bucketsKeep},
		{"half the slots", replace("limit=400", "limit=200"), "limit everybody default: concurrency:limit=400 → concurrency:limit=200: half", bucketsKeep},
		{"another algorithm", replace("10/s,burst=20", "gcra:rate=10/s,burst=20"), "limit requests default: 10/s,burst=20 → gcra:rate=10/s,burst=20: another algorithm", bucketsStart},
		{"another type", replace("10/s,burst=20", "sliding-log:limit=20,window=2s"), "limit requests default: 10/s,burst=20 → sliding-log:limit=20,window=2s: another algorithm", bucketsStuck},
		{"a plan gone", replace("      - {plan: gold, limit: \"100/s,burst=200\"}\n", ""), "limit removed requests plan gold: 100/s,burst=200", bucketsKeep},
		{"a key's own", replace("key: k-7, limit: \"80/s", "key: k-7, limit: \"40/s"), "limit requests " + KeyName("k-7") + ": 80/s,burst=160 → 40/s,burst=160: rate half, burst the same", bucketsKeep},
		{"another plan", replace("- {plan: gold", "- {plan: tin, limit: 5/s}\n      - {plan: gold"), "limit added requests plan tin: 5/s,burst=5", bucketsKeep},
		{"mode", replace("mode: shadow", "mode: enforce"), "rule everybody mode: shadow → enforce", ""},
		{"cost", replace("POST /v1/export: 10", "POST /v1/export: 20"), "rule requests cost: POST /v1/export 10, GET /v1/health 0 → POST /v1/export 20, GET /v1/health 0", ""},
		{"per", replace("per: all", "per: plan"), "rule everybody per: all → plan", bucketsFull},
		{"lease", replace("lease: {block: 5, life: 10s}", "lease: off"), "rule requests lease: block 5, life 10s → off", ""},
		{"a new name", replace("name: everybody", "name: total"), "rule added total: per all, concurrency:limit=400, in shadow\nrule removed everybody: per all, concurrency:limit=400, in shadow", bucketsGone},
		{"an override longer", replace("2030-06-01", "2030-07-01"), "override requests " + KeyName("k-9") + " until 2030-07-01T00:00:00Z (a launch, asked for by support)", ""},
		{"an override wider", replace("20/s,burst=40", "30/s,burst=60"), "override requests " + KeyName("k-9") + ": 20/s,burst=40 → 30/s,burst=60: 1.5 times until 2030-06-01T00:00:00Z (a launch, asked for by support)", bucketsKeep},
		{"an override gone early", func(s string) string { return s[:strings.Index(s, "  - {key: k-7, rule")] }, "override removed requests " + KeyName("k-7") + ": 90/s,burst=90 until 2030-01-02T12:00:00Z (a test: two days)", bucketsKeep},
		{"an override more", func(s string) string {
			return s + "  - {key: k-8, rule: login, limit: 1/s, reason: y, expires: 2030-02-01}\n"
		}, "override added login " + KeyName("k-8") + ": 1/s,burst=1 until 2030-02-01T00:00:00Z (y)", bucketsKeep},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changes := Diff(a, mustParse(t, tt.edit(shop)), day("2030-01-01"))
			var lines []string
			buckets := ""
			for _, c := range changes {
				lines = append(lines, c.String())
				buckets = c.Buckets
			}
			if got := strings.Join(lines, "\n"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if buckets != tt.buckets {
				t.Errorf("buckets %q, want %q", buckets, tt.buckets)
			}
			if strings.Contains(strings.Join(lines, " "), "k-7") {
				t.Error("a key is shown")
			}
		})
	}
	late := Diff(a, mustParse(t, shop[:strings.Index(shop, "  - {key: k-7, rule")]), day("2030-01-03"))
	if len(late) != 1 || late[0].Kind != "override-expired" {
		t.Errorf("after its end: %+v", late)
	}
}
