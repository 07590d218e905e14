package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit/metering"
)

// What weir itself keeps beside limits is told as that, with who wrote the rules
// and when, without a word of their text; and the doctor has nothing against it,
// even beside a limiter whose names it fits.
func TestInspectKnowsWeirsOwnKeys(t *testing.T) {
	r := redistest.Server(t)
	c, ctx := r.Client(t), context.Background()
	const secret = "sk-live-4711"
	push := func(key, text, reason string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "rules.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, _, errs := testApp("USER=ops")
		a.now = time.Now
		if code := a.execute(ctx, newRoot(a, verbs(a)...), []string{"serve", "rules", "push", file, "--rules-key", key, "--reason", reason, "--yes", "--redis", r.URL}); code != exitOK {
			t.Fatalf("push: %d, %s", code, errs)
		}
	}
	rules := func(version, rest string) string {
		return "# ours\nversion: " + version + "\nrules:\n  - name: requests\n    per: key\n    limits:\n      - {key: " + secret + ", limit: \"10/s,burst=20\"}\n      - {default: true, limit: \"1/s,burst=2\"}\n" + rest
	}
	push("rl:rules", rules("1", ""), "the first")
	// Longer than what a look reads of a text.
	push("rl:rules", rules("2", strings.Repeat("# "+strings.Repeat("x", 98)+"\n", 900)), `more "\x1b[31m`+"\u009b")
	push("shop:limits", `{"version": 3, "rules": [{"name": "r", "per": "all", "limits": [{"default": true, "limit": "10/s,burst=20"}]}]}`, "json too")
	now := time.Now()
	if err := gateway.NewMeterRedis(c).Write(ctx, []metering.Record{
		{Kind: metering.Begin, Instance: "0011aabb-1", Gateway: 1, At: now},
		{Kind: metering.Total, Instance: "0011aabb-1", Gateway: 1, At: now, Seq: 1, Key: secret, Start: now.UnixNano(), Units: 5, Requests: 5},
	}); err != nil {
		t.Fatal(err)
	}
	c.Set(ctx, "rl:203.0.113.9", "3", time.Minute) // rate-limit-redis
	// What is no such key is not taken for one.
	c.Set(ctx, "app:manifest", "version: 4\nname: app\n", 0)
	c.RPush(ctx, "queue", `{"version":1,"at":"2026-01-01T00:00:00Z"}`)
	c.HSet(ctx, "rl:meter:shop", "total 1 k-7", "many")

	code, out, errs := inspectRun(t, r, "get", "rl:rules", "{rl:rules}:history", "shop:limits", "rl:meter:0011aabb-1")
	if code != exitOK {
		t.Fatalf("get: %d %s", code, errs)
	}
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"it holds weir's rules, version 2,", "by ops", `because "more`, "{rl:rules}:history is no limit of a customer: it holds who changed weir's rules, 2 changes.",
		"weir's rules, version 3,", "rl:meter:0011aabb-1 is no limit of a customer: it holds what a gateway let through, for metering, in 2 records.",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("get does not say %q:\n%s", want, out)
		}
	}

	_, scanned, _ := inspectRun(t, r, "scan", "--json")
	var doc scanJSON
	if err := json.Unmarshal([]byte(scanned), &doc); err != nil {
		t.Fatal(err)
	}
	if got := doc.Totals; got.Own != 5 || got.Unknown != 3 || got.States != 1 || got.Keys != 9 {
		t.Errorf("totals %+v", got)
	}
	if len(doc.Records) != 2 || doc.Records[0].Key != "shop:limits" || doc.Records[1].Version != 2 || !strings.HasPrefix(doc.Records[1].Who, "ops") || doc.Records[1].Since == nil || doc.Records[1].Strange {
		t.Errorf("records %+v", doc.Records)
	}
	for _, list := range []string{"no-ttl", "hottest", "oldest"} {
		for _, row := range doc.Top[list] {
			if strings.Contains(row.Key, "rules") || strings.Contains(row.Key, "aabb") {
				t.Errorf("%s is in the list %s", row.Key, list)
			}
		}
	}
	code, examined, _ := inspectRun(t, r, "doctor", "--json")
	var checked checkupJSON
	if err := json.Unmarshal([]byte(examined), &checked); err != nil || code != exitOK || checked.Own != 5 {
		t.Errorf("doctor: exit %d, %v: %s", code, err, examined)
	}
	for _, f := range checked.Findings {
		for _, e := range f.Examples {
			if !strings.HasPrefix(e.Subject, "127.0.0.1") {
				t.Errorf("%s is said of %s", f.ID, e.Subject)
			}
		}
	}

	// Somebody writes them by hand.
	c.Set(ctx, "shop:limits", `{"version": 3, "rules": []}`, 0)
	_, byHand, _ := inspectRun(t, r, "get", "shop:limits")
	if !strings.Contains(strings.Join(strings.Fields(byHand), " "), "it was written by another way than weir serve rules push") {
		t.Errorf("rules that were written by hand:\n%s", byHand)
	}
	for _, verb := range [][]string{{"bucket", "reset", "rl:rules"}, {"watch", "rl:rules"}} {
		if code, _, errs := inspectRun(t, r, verb...); code == exitOK || !strings.Contains(errs, "rl:rules is no limit: weir keeps its rules there") {
			t.Errorf("%q: %d %s", verb, code, errs)
		}
	}
	_, text, _ := inspectRun(t, r, "scan")
	for _, said := range []string{out, scanned, examined, byHand, text} {
		if strings.Contains(said, secret) {
			t.Errorf("a customer's key is shown:\n%s", said)
		}
	}
	if !strings.Contains(text, "Weir's own, no limits") || !strings.Contains(strings.Join(strings.Fields(text), " "), "1 limit of a customer, 5 keys of weir's own, 3 keys that no layout fits") {
		t.Errorf("scan:\n%s", text)
	}
}
