package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/inspect/doctor"
	"github.com/weir-cli/weir/internal/redistest"
)

// inspectRun runs weir inspect on a server and returns what it said.
func inspectRun(t *testing.T, r *redistest.Redis, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	a, out, errs := testApp()
	a.now = time.Now
	code = a.execute(context.Background(), newRoot(a, verbs(a)...), append(append([]string{"inspect"}, args...), "--redis", r.URL))
	if strings.ContainsAny(out.String()+errs.String(), "\x1b\x07") {
		t.Errorf("%q: a name reached the terminal as it is: %q %q", args, out, errs)
	}
	return code, out.String(), errs.String()
}

func TestInspectScan(t *testing.T) {
	r := redistest.Server(t)
	seedLimits(t, r)
	code, out, errs := inspectRun(t, r, "scan", "--limit", "fixed-window:limit=10,window=1h")
	if code != exitOK || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"7 keys on one server", "weir  ", "ulule", `odd\x1b[2J`, "limiter:10.0.0.1 ulule, used 10 of 10, passes in ", "limiter:10.0.0.2 ulule, used 10 of 10, never passes", "all reads"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}

	code, out, errs = inspectRun(t, r, "scan", "--json", "--top", "2", "--match", "limiter:*", "--layout", "ulule")
	var doc scanJSON
	if err := json.Unmarshal([]byte(out), &doc); code != exitOK || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, errs)
	}
	if doc.Schema != "weir.scan/v1" || !doc.Complete || doc.Totals.Keys != 2 || doc.Totals.States != 2 || doc.Totals.NoTTL != 1 || len(doc.Top["used"]) != 2 || doc.Cost.Commands == 0 {
		t.Errorf("%+v", doc)
	}

	_, out, _ = inspectRun(t, r, "scan", "--format", "csv")
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(lines) < 10 || lines[0][2] != "key" {
		t.Errorf("%v: %s", err, out)
	}

	// What stopped goes on, and its file goes when all is seen.
	for i := range 400 {
		r.CLI("SET", fmt.Sprintf("limiter:k-%d", i), "1", "EX", "600")
	}
	state := filepath.Join(t.TempDir(), "scan.json")
	code, out, errs = inspectRun(t, r, "scan", "--max-keys", "50", "--pace", "100000/s", "--resume", state)
	if info, err := os.Stat(state); code != exitOK || err != nil || info.Mode().Perm()&0o077 != 0 || !strings.Contains(out, "Stopped at --max-keys") {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	code, out, errs = inspectRun(t, r, "scan", "--pace", "max", "--resume", state, "--json")
	if err := json.Unmarshal([]byte(out), &doc); code != exitOK || err != nil || !doc.Resumed || !doc.Complete || doc.Totals.Keys != 407 {
		t.Errorf("exit %d, %v: %+v %s", code, err, doc.Totals, errs)
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("the file of a finished scan is still there")
	}
	_, _, _ = inspectRun(t, r, "scan", "--max-keys", "50", "--pace", "100000/s", "--resume", state)
	if code, _, errs = inspectRun(t, r, "scan", "--match", "x*", "--resume", state); code != exitUsage || !strings.Contains(errs, "another survey") && !strings.Contains(errs, "its match is") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// An interrupt ends a scan with what there is, and the file to go on with.
func TestInspectScanInterrupted(t *testing.T) {
	r := redistest.Server(t)
	for i := range 100 {
		r.CLI("SET", fmt.Sprintf("limiter:k-%d", i), "1", "EX", "600")
	}
	state := filepath.Join(t.TempDir(), "scan.json")
	ctx, cancel := context.WithCancel(context.Background())
	a, stdout, stderr := testApp()
	looked := 0
	a.now = func() time.Time { // it is asked at each step
		if looked++; looked == 8 {
			cancel()
		}
		return time.Now()
	}
	code := a.execute(ctx, newRoot(a, verbs(a)...), []string{"inspect", "scan", "--pace", "100/s", "--resume", state, "--redis", r.URL})
	if code != exitInterrupted || !strings.Contains(stdout.String(), "Interrupted") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if code, out, errs := inspectRun(t, r, "scan", "--pace", "max", "--resume", state); code != exitOK || !strings.Contains(out, "100 keys on one server") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestInspectDoctor(t *testing.T) {
	r := redistest.Server(t)
	r.CLI("SET", "limiter:k-7", "1", "EX", "600")
	if code, out, errs := inspectRun(t, r, "doctor"); code != exitOK || !strings.Contains(out, "Nothing is wrong") {
		t.Errorf("where all is well, exit %d: %s%s", code, out, errs)
	}
	seedLimits(t, r)
	code, out, errs := inspectRun(t, r, "doctor")
	if code != exitCheck || errs != "" || !strings.Contains(out, "HIGH no-ttl-for-ever: ") || !strings.Contains(out, "limiter:10.0.0.2: ") || !strings.Contains(out, "What to do: ") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	var doc checkupJSON
	code, out, _ = inspectRun(t, r, "doctor", "--match", "limiter:*", "--json")
	if err := json.Unmarshal([]byte(out), &doc); code != exitCheck || err != nil || len(doc.Findings) != 1 || len(doc.Passed) != len(doctor.Checks())-1 || doc.Keys != 3 || doc.Servers != 1 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
	code, out, _ = inspectRun(t, r, "doctor", "--format", "junit")
	var suite doctorSuite
	if err := xml.Unmarshal([]byte(out), &suite); code != exitCheck || err != nil || suite.Tests != len(doctor.Checks()) || suite.Failures != 1 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}

	// One key, one customer, and none.
	if code, out, _ = inspectRun(t, r, "doctor", "limiter:10.0.0.2"); code != exitCheck || !strings.Contains(out, "Looked at 1 key with 1 limit on 1 server.") {
		t.Errorf("a key: exit %d: %s", code, out)
	}
	if code, out, _ = inspectRun(t, r, "doctor", "--id", "k-7", "--rule", "requests"); code != exitOK || !strings.Contains(out, "Looked at 3 keys with 3 limits") {
		t.Errorf("a customer: exit %d: %s", code, out)
	}
	if code, out, _ = inspectRun(t, r, "doctor", "nobody"); code != exitOK || !strings.Contains(out, "There is nothing under nobody.") {
		t.Errorf("nobody: exit %d: %s", code, out)
	}
}

// A command that the user may not run is named with the rule that allows it.
func TestInspectScanNamesTheRule(t *testing.T) {
	server := redistest.ACL(t, "noscan on >S3cret %R~* +ping +time +type +pttl +memory|usage +object|idletime +getrange")
	for _, verb := range []string{"scan", "doctor"} {
		a, stdout, stderr := testApp()
		code := a.execute(context.Background(), newRoot(a, verbs(a)...), []string{"inspect", verb, "--redis", server.As("noscan", "S3cret")})
		if code != exitReach || !strings.Contains(stderr.String(), "the user may not run SCAN") || !strings.Contains(stderr.String(), "hint: redis-cli ACL SETUSER NAME +scan") || strings.Contains(stderr.String()+stdout.String(), "S3cret") {
			t.Errorf("%s: exit %d: %s%s", verb, code, stdout, stderr)
		}
	}
}

// Every field of the documents has its place in the pages.
func TestScanAndDoctorAreDocumented(t *testing.T) {
	for page, doc := range map[string]any{"scan.md": scanJSON{}, "doctor.md": checkupJSON{}} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		seen := []string{}
		var walk func(typ reflect.Type)
		walk = func(typ reflect.Type) {
			switch typ.Kind() {
			case reflect.Pointer, reflect.Slice, reflect.Map:
				walk(typ.Elem())
				return
			case reflect.Struct:
			default:
				return
			}
			for i := range typ.NumField() {
				name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
				if name == "" {
					continue // a time
				}
				if seen = append(seen, name); !strings.Contains(string(text), "`"+name+"`") {
					t.Errorf("docs/%s does not name %q", page, name)
				}
				walk(typ.Field(i).Type)
			}
		}
		walk(reflect.TypeOf(doc))
		if slices.Sort(seen); len(slices.Compact(seen)) < 18 {
			t.Errorf("docs/%s: only %d fields", page, len(seen))
		}
	}
}

// ruleOf is the rule that a page gives a user of that name.
func ruleOf(t *testing.T, page, user string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(text), "ACL SETUSER "+user+" on '>PASSWORD' ")
	rule, _, ok := strings.Cut(rule, "\n")
	if !ok || rule == "" {
		t.Fatalf("docs/%s has no rule for %s", page, user)
	}
	return strings.ReplaceAll(rule, "'", "")
}

// Each verb runs under exactly the rule of its page, without a word of what it
// may not do; and without any part of the rule that it uses it says which part
// to add.
func TestInspectUnderTheRulesOfThePages(t *testing.T) {
	verbLines := []struct {
		page, user string
		args       []string
	}{
		{"inspect.md", "support", []string{"get", "k-7", "long", "s", "h", "z", "l", "limiter:k-7"}},
		{"inspect.md", "support", []string{"watch", "limiter:k-7", "--every", "100ms", "--for", "150ms"}},
		{"scan.md", "scanner", []string{"scan", "--pace", "max"}},
		{"doctor.md", "doctor", []string{"doctor", "--pace", "max"}},
	}
	// Of no use where they are left out, or asked for only elsewhere.
	spare := map[string]string{
		"+ping": "a server answers the greeting all the same", "+object|freq": "only where it evicts by frequency",
		"+exists": "only where names are made up", "+strlen": "only of long texts",
	}
	users, seen := []string{}, map[string]string{}
	add := func(rule string) string {
		if seen[rule] == "" {
			seen[rule] = fmt.Sprintf("u%d", len(seen))
			users = append(users, seen[rule]+" on >S3cret "+rule)
		}
		return seen[rule]
	}
	for _, v := range verbLines {
		whole := ruleOf(t, v.page, v.user)
		add(whole)
		for part := range strings.FieldsSeq(whole) {
			add(without(whole, part))
		}
	}
	server := redistest.ACL(t, users...)
	for _, line := range []string{"SET limiter:k-7 5 EX 600", "SET s 1", "HSET h a 1", "ZADD z 1 a", "RPUSH l a", "SETRANGE long 9000 x"} {
		server.CLI(strings.Fields(line)...)
	}
	run := func(user string, args []string) (code int, said string) {
		a, stdout, stderr := testApp()
		a.now = time.Now
		code = a.execute(context.Background(), newRoot(a, verbs(a)...), append(append([]string{"inspect"}, args...), "--redis", server.As(user, "S3cret")))
		return code, strings.Join(strings.Fields(stdout.String()+" "+stderr.String()), " ")
	}
	for _, v := range verbLines {
		whole := ruleOf(t, v.page, v.user)
		if code, said := run(add(whole), v.args); code != exitOK && v.args[0] != "doctor" || strings.Contains(said, "Not allowed") || strings.Contains(said, "may not") {
			t.Errorf("%s under its rule: exit %d: %s", v.args[0], code, said)
		}
		named := 0
		for part := range strings.FieldsSeq(whole) {
			_, said := run(add(without(whole, part)), v.args)
			switch hint := "ACL SETUSER NAME "; {
			case strings.Contains(said, hint+part), strings.Contains(said, hint+"'"+part+"'"): // a shell needs %R~* quoted
				named++
			case spare[part] == "" && v.args[0] != "watch":
				t.Errorf("%s without %s: %s", v.args[0], part, said)
			}
		}
		if named < 3 {
			t.Errorf("%s names only %d parts of its rule", v.args[0], named)
		}
	}
}

// without is a rule without one part; without the keys it is that of others'.
func without(rule, part string) string {
	if part == "%R~*" {
		return strings.Replace(rule, part, "%R~elsewhere:*", 1)
	}
	return strings.TrimSpace(strings.Replace(" "+rule+" ", " "+part+" ", " ", 1))
}
