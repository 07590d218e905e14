package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/internal/redistest"
)

func runBucketCmd(t *testing.T, url, state string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	a, out, errs := testApp("WEIR_REDIS_URL="+url, "XDG_STATE_HOME="+state)
	a.width = func() int { return 10_000 }
	code = a.execute(context.Background(), newRoot(a, verbs(a)...), append([]string{"inspect", "bucket"}, args...))
	return code, out.String(), errs.String()
}

func auditLines(t *testing.T, file string) []auditLine {
	t.Helper()
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []auditLine
	for s := bufio.NewScanner(f); s.Scan(); {
		var l auditLine
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%v in %s", err, s.Text())
		}
		lines = append(lines, l)
	}
	return lines
}

// A story of one customer, whose count is 3 of 10 at first.
func TestInspectBucketWrites(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c, ctx, state := r.Client(t), context.Background(), t.TempDir()
		file := filepath.Join(state, "weir", "audit.ndjson")
		if err := c.Set(ctx, "rlflx:k-9", "3", time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		ten := []string{"--limit", "fixed-window:limit=10,window=1h"}
		yes := append([]string{"--yes", "--reason", "ticket 4711"}, ten...)
		steps := []struct {
			args    []string
			code    int
			value   string
			has     []string
			written int // lines of the audit file so far
		}{
			{append([]string{"drain", "k-9", "2"}, ten...), exitOK, "3", []string{"Before: k-9 has used 3 of 10", "rlflx:k-9 value: 3 → 5", "Then: k-9 has used 5 of 10", "Nothing was written. --yes"}, 0},
			{append([]string{"drain", "k-9", "2", "--dry-run"}, ten...), exitOK, "3", []string{"Nothing was written."}, 0},
			{append([]string{"drain", "k-9", "2"}, yes...), exitOK, "5", []string{"Now: k-9 has used 5 of 10", "Written, and recorded in " + file}, 2},
			{append([]string{"drain", "k-9"}, yes...), exitOK, "10", []string{"value: 5 → 10", "The next call is refused now"}, 4},
			{append([]string{"drain", "k-9"}, yes...), exitOK, "10", []string{"There is nothing to drain: it is so already"}, 4},
			{append([]string{"grant", "rlflx:k-9", "4"}, yes...), exitOK, "6", []string{"value: 10 → 6", "4 would pass at once"}, 6},
			{append([]string{"grant", "rlflx:k-9", "400"}, yes...), exitOK, "0", []string{"10 would pass at once"}, 8},
			{append([]string{"expire", "rlflx:k-9", "30m"}, yes...), exitOK, "0", []string{"TTL: ", "→ 30m"}, 10},
			{append([]string{"reset", "rlflx:k-9"}, yes...), exitOK, "", []string{"key: string → nothing", "Now: There is no state of k-9: nothing counts against it"}, 12},
			{append([]string{"reset", "rlflx:k-9"}, yes...), exitCheck, "", []string{"weir: there is nothing of rlflx:k-9: everything is there already"}, 12},
		}
		for _, s := range steps {
			code, out, errs := runBucketCmd(t, r.URL, state, s.args...)
			value, _ := c.Get(ctx, "rlflx:k-9").Result()
			if code != s.code || value != s.value {
				t.Fatalf("%q: exit %d, and %q is there\n%s%s", s.args, code, value, out, errs)
			}
			for _, want := range s.has {
				if !strings.Contains(out+errs, want) {
					t.Errorf("%q lacks %q:\n%s%s", s.args, want, out, errs)
				}
			}
			if n := len(auditLines(t, file)); n != s.written {
				t.Fatalf("%q: %d lines in the audit file, want %d", s.args, n, s.written)
			}
		}
		lines := auditLines(t, file)
		in, out := lines[0], lines[1]
		if in.Step != "intent" || in.Outcome != "" || *in.Before.Used != 3 || *in.After.Used != 5 || in.Reason != "ticket 4711" || in.Layout != "rate-limiter-flexible" || len(in.Steps) != 1 || in.Keys[0] != "rlflx:k-9" {
			t.Errorf("%+v", in)
		}
		if out.Step != "outcome" || out.Outcome != "written" || out.ID != in.ID || out.Before != nil {
			t.Errorf("%+v", out)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	})
}

func TestInspectBucketRefuses(t *testing.T) {
	r := redistest.Server(t)
	seedLimits(t, r)
	c, state := r.Client(t), t.TempDir()
	if err := c.Set(context.Background(), "rlflx:k-7", "3", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, args string
		code       int
		want       string
	}{
		{"no reason", "reset k-7 --yes", exitUsage, "--reason is missing"},
		{"blank reason", "reset k-7 --yes --reason=", exitUsage, "--reason is missing"},
		{"yes and no", "reset k-7 --yes --dry-run --reason x", exitUsage, "dry-run"},
		{"no key", "reset", exitUsage, "missing KEY"},
		{"no number", "grant k-7", exitUsage, "missing N\nhint: weir inspect bucket grant k-7 20"},
		{"a number that is none", "grant k-7 many", exitUsage, `N is "many"`},
		{"nothing to grant", "grant k-7 0", exitUsage, `N is "0"`},
		{"below nothing", "drain k-7 -- -3", exitUsage, `N is "-3"`},
		{"a fraction", "grant k-7 1.5", exitUsage, `N is "1.5"`},
		{"no time", "expire k-7 soon", exitUsage, `D is "soon"`},
		{"for ever", "expire k-7 100000h", exitUsage, "ten years"},
		{"too much", "reset k-7 3", exitUsage, `unexpected argument "3"`},
		{"several", "reset k-7 --yes --reason x", exitCheck, "k-7 has 3 states: fastify-rate-limit-k-7, "},
		{"merely likely", "reset limiter:10.0.0.1 --yes --reason x", exitCheck, "hint: if it is: --layout ulule"},
		{"unknown", "reset odd\x1b[2J --yes --reason x", exitCheck, "no layout fits"},
		{"nobody", "reset k-nobody --yes --reason x", exitCheck, "there is nothing of k-nobody"},
		{"no room for the audit", "reset rlflx:k-7 --yes --reason x --audit " + state, exitReach, "nothing was written, since the audit file cannot be: " + state},
		{"no such directory", "reset rlflx:k-7 --yes --reason x --audit " + state + "/none/x", exitReach, "no such file or directory\nhint: --audit FILE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := r.CLI("DBSIZE")
			code, out, errs := runBucketCmd(t, r.URL, state, strings.Split(tt.args, " ")...)
			if code != tt.code || !strings.Contains(errs, tt.want) || strings.Contains(out+errs, "\x1b") {
				t.Errorf("exit %d, want %d and %q: %s%s", code, tt.code, tt.want, out, errs)
			}
			if after := r.CLI("DBSIZE"); after != before || len(auditLines(t, filepath.Join(state, "weir", "audit.ndjson"))) != 0 {
				t.Errorf("something was written")
			}
		})
	}
	code, out, errs := runBucketCmd(t, r.URL, state, "reset", "rlflx:k-7", "--json")
	var doc bucketJSON
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitOK || !doc.DryRun || doc.Written || doc.Action != inspect.Reset || len(doc.Steps) != 1 || doc.Before.Layout != "rate-limiter-flexible" {
		t.Errorf("exit %d: %v %s%s", code, err, out, errs)
	}
}

// The rule of the page is enough to write, and without it nothing is written
// and the rule is shown. A replica takes no writes.
func TestInspectBucketUnderACLAndOnAReplica(t *testing.T) {
	page, err := os.ReadFile("../../docs/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := func(user string) string {
		_, text, _ := strings.Cut(string(page), "ACL SETUSER "+user+" on '>PASSWORD' ")
		text, _, ok := strings.Cut(text, "\n")
		if !ok {
			t.Fatalf("docs/inspect.md has no rule for %s", user)
		}
		return strings.ReplaceAll(text, "'", "")
	}
	r := redistest.ACL(t, "operator on >S3cret "+rule("operator"), "support on >S3cret "+rule("support"))
	c, ctx, state := r.Client(t), context.Background(), t.TempDir()
	set := func() {
		t.Helper()
		if err := c.Set(ctx, "rlflx:k-9", "3", time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"drain", "rlflx:k-9", "1", "--yes", "--reason", "x", "--limit", "fixed-window:limit=10,window=1h"}
	set()
	code, out, errs := runBucketCmd(t, r.As("support", "S3cret"), state, args...)
	if code != exitReach || !strings.Contains(errs, "the user may not run EVAL") || !strings.Contains(errs, inspect.WriteRule) || strings.Contains(out+errs, "S3cret") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	lines := auditLines(t, filepath.Join(state, "weir", "audit.ndjson"))
	if len(lines) != 2 || lines[1].Outcome != "failed" || strings.Contains(lines[0].Server, "S3cret") {
		t.Errorf("%+v", lines)
	}
	for _, args := range [][]string{args, {"expire", "rlflx:k-9", "1m", "--yes", "--reason", "x"}, {"reset", "rlflx:k-9", "--yes", "--reason", "x"}} {
		if code, out, errs := runBucketCmd(t, r.As("operator", "S3cret"), state, args...); code != exitOK {
			t.Errorf("%q: exit %d: %s%s", args, code, out, errs)
		}
	}
	for _, l := range [][]string{{"HSET", "rl:{k}:r", "g", "1000000", "t", "1795978030880559", "b", "20", "r", "10", "n", "5"}, {"ZADD", "limit:k", "1795978030880559", "1795978030880559"}} {
		r.CLI(l...)
	}
	for _, args := range [][]string{{"drain", "rl:{k}:r", "1", "--yes", "--reason", "x"}} {
		if code, out, errs := runBucketCmd(t, r.As("operator", "S3cret"), state, args...); code != exitOK {
			t.Errorf("%q: exit %d: %s%s", args, code, out, errs)
		}
	}

	replica := redistest.Server(t)
	primary := redistest.Server(t)
	if err := primary.Client(t).Set(ctx, "rlflx:k-9", "3", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(primary.Addr, ":")
	replica.CLI("REPLICAOF", host, port)
	for end := time.Now().Add(20 * time.Second); replica.CLI("EXISTS", "rlflx:k-9") == "0" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	code, out, errs = runBucketCmd(t, replica.URL, state, args...)
	if code != exitReach || !strings.Contains(errs, "a replica answered, which takes no writes\nhint: the primary's address") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if v := primary.Client(t).Get(ctx, "rlflx:k-9").Val(); v != "3" {
		t.Errorf("%q is there", v)
	}
}

// Every field of the documents has its place in the page.
func TestInspectWritingIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range []any{bucketJSON{}, stepJSON{}, auditLine{}, auditState{}, lookJSON{}, eventJSON{}, watchEndJSON{}} {
		for i := range reflect.TypeOf(v).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			n++
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/inspect.md does not name %q of %T", name, v)
			}
		}
	}
	for _, l := range inspect.Builtin() {
		if len(l.Writes) == 0 {
			continue
		}
		if !strings.Contains(string(page), "`"+l.Name+"`") {
			t.Errorf("docs/inspect.md does not list %s", l.Name)
		}
	}
	if n < 50 {
		t.Errorf("only %d fields", n)
	}
}
