package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// seedLimits lets weir's own limiter and others' leave their state.
func seedLimits(t *testing.T, r *redistest.Redis) {
	t.Helper()
	ctx := context.Background()
	c := r.Client(t)
	store := redislimit.NewStore(c, redislimit.Options{Timeout: 10 * time.Second})
	defer store.Close()
	spec, err := limit.ParseSpec("1/h,burst=20")
	if err != nil {
		t.Fatal(err)
	}
	rule, err := redislimit.Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"k-7", "odd {}\x1b[31m"} {
		if _, err := store.Take(ctx, redislimit.Part{Key: redislimit.Key("", id, "requests"), Rule: rule, Cost: 7}); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		c.Set(ctx, "limiter:10.0.0.1", 10, time.Hour).Err(),
		c.Set(ctx, "limiter:10.0.0.2", 10, 0).Err(),
		c.Set(ctx, "fastify-rate-limit-k-7", 3, time.Hour).Err(),
		c.Set(ctx, "mine/k-9", 3, time.Hour).Err(),
		c.Set(ctx, "odd\x1b[2J", "\x1b]0;x\x07", 0).Err(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestInspectGet(t *testing.T) {
	r := redistest.Server(t)
	seedLimits(t, r)
	mine := filepath.Join(t.TempDir(), "mine.yaml")
	text := strings.NewReplacer("name: ulule", "name: mine", "limiter:<id>", "mine/<id>", "writer: ulule/limiter v3", "writer: our own").Replace(inspect.Find(inspect.Builtin(), "ulule").Text)
	if err := os.WriteFile(mine, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	if err := os.WriteFile(broken, []byte(strings.Replace(text, "model: counter", "model: countre", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	const ten = " --limit fixed-window:limit=10,window=1h"
	tests := []struct {
		name, args string
		code       int
		has, err   []string
	}{
		{name: "an id", args: "k-7 --limit 1/h,burst=20", has: []string{
			"k-7, under the rule requests, has 13 of 20 tokens (1/h,burst=20, as the state says). The next call passes now; 13 would pass at once.",
			"Written by weir.", "rl:{k-7}:requests hash, TTL 20h", "fastify-rate-limit-k-7"}},
		{name: "a cost", args: "rl:{k-7}:requests --cost 14", has: []string{"The next call of cost 14 is refused now and passes in "}},
		{name: "a cost that never passes", args: "rl:{k-7}:requests --cost 21", has: []string{"The next call of cost 21 never passes: at most 20 can pass at once."}},
		{name: "a rule of another name", args: "--id k-7 --rule other --layout weir", code: exitCheck, has: []string{"No key is called k-7, and none of 1 names"}},
		{name: "a limit that is told", args: "limiter:10.0.0.1" + ten, has: []string{"10.0.0.1 has used 10 of 10 in a window that ends in ", "as told", "The next call is refused now and passes in ", "Probably written by ulule/limiter v3."}},
		{name: "a limit that is not told", args: "limiter:10.0.0.1", has: []string{"The limit is not in the state; say it to know more, such as --limit fixed-window:limit=10,window=1m."}},
		{name: "the wrong kind of limit", args: "limiter:10.0.0.1 --limit 10/s,burst=20", has: []string{"10/s,burst=20 was told, and ulule/limiter v3 keeps a limit by a count and a window."}},
		{name: "no TTL", args: "limiter:10.0.0.2" + ten, has: []string{"The next call never passes as things are", "what was counted stays counted for ever", "no TTL"}},
		{name: "a layout that is told", args: "mine/k-9 --layout ulule" + ten, has: []string{"has used 3 of 10", "Perhaps written by ulule/limiter v3"}},
		{name: "a layout of the user's", args: "mine/k-9 --layouts " + mine + ten, has: []string{"k-9 has used 3 of 10", "Probably written by our own."}},
		{name: "an id in a layout of the user's", args: "--id k-9 --layout mine --layouts " + mine + ten, has: []string{"k-9 has used 3 of 10"}},
		{name: "a name close to it", args: "limiterr:10.0.0.1", code: exitCheck, has: []string{"No key is called limiterr:10.0.0.1", "Close to that, and there: limiter:10.0.0.1."}},
		{name: "nobody", args: "k-nobody", code: exitCheck, has: []string{"No key is called k-nobody", "no key mostly means that everything is there", "Not looked for, without --rule NAME:"}},
		{name: "one of two", args: "k-nobody limiter:10.0.0.1", has: []string{"No key is called k-nobody", "10.0.0.1 has used 10"}},

		{name: "nothing asked", code: exitUsage, err: []string{"missing KEY, or --id ID\nhint: weir inspect get k-7"}},
		{name: "a cost of nothing", args: "k-7 --cost 0", code: exitUsage, err: []string{"--cost 0 is not above zero"}},
		{name: "no such layout", args: "k-7 --layout redis-rat", code: exitUsage, err: []string{`no layout is called "redis-rat"`, `hint: did you mean "redis-rate"?`}},
		{name: "a limit that is none", args: "k-7 --limit 10", code: exitUsage, err: []string{"has no unit of time"}},
		{name: "a part that is none", args: "k-7 --part x", code: exitUsage, err: []string{`--part "x" is not NAME=VALUE`}},
		{name: "an empty key", args: "--id=", code: exitUsage, err: []string{"a KEY or an ID is empty"}},
		{name: "the one in the process", args: "k-7 --redis embedded", code: exitUsage, err: []string{"has nothing to look at"}},
		{name: "no such file", args: "k-7 --layouts none.yaml", code: exitReach, err: []string{"layouts: none.yaml: no such file"}},
		{name: "a broken file", args: "k-7 --layouts " + broken, code: exitUsage, err: []string{"broken.yaml:13:10: ", `"countre" is not one of`, `did you mean "counter"?`}},
		{name: "nobody listens", args: "k-7 --redis redis://127.0.0.1:1", code: exitReach, err: []string{"nobody listens there\nhint: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, stdout, stderr := testApp("WEIR_REDIS_URL=" + r.URL)
			a.width = func() int { return 10_000 }
			a.now = time.Now
			code := a.execute(context.Background(), newRoot(a, verbs(a)...), append([]string{"inspect", "get"}, strings.Fields(tt.args)...))
			if code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			for _, want := range tt.has {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("stdout lacks %q", want)
				}
			}
			for _, want := range tt.err {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("stderr lacks %q", want)
				}
			}
			if t.Failed() {
				t.Logf("%s%s", stdout, stderr)
			}
		})
	}
}

// Names and values that would do things to a terminal do not.
func TestInspectGetShowsHostileNamesHarmlessly(t *testing.T) {
	r := redistest.Server(t)
	seedLimits(t, r)
	for _, args := range [][]string{{"odd\x1b[2J"}, {"--id", "odd {}\x1b[31m"}, {"no\x1b[2Jne", "odd\x1b[2J"}, {"odd\x1b[2J", "--json"}, {"odd\x1b[2J", "--layout", "redis-rate"}} {
		a, stdout, stderr := testApp("WEIR_REDIS_URL=" + r.URL)
		code := a.execute(context.Background(), newRoot(a, verbs(a)...), append([]string{"inspect", "get"}, args...))
		if code != exitOK || strings.ContainsAny(stdout.String()+stderr.String(), "\x1b\x07") {
			t.Errorf("%q: exit %d: %q%q", args, code, stdout, stderr)
		}
	}
}

func TestInspectGetJSON(t *testing.T) {
	r := redistest.Server(t)
	seedLimits(t, r)
	a, stdout, _ := testApp("WEIR_REDIS_URL=" + r.URL)
	a.now = func() time.Time { return time.Now().Add(-90 * time.Second) } // a clock that is behind
	if code := a.execute(context.Background(), newRoot(a, verbs(a)...), []string{"inspect", "get", "rl:{k-7}:requests", "k-nobody", "--json", "--cost", "14"}); code != exitOK {
		t.Fatalf("exit %d", code)
	}
	var got sightJSON
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "weir.inspect/v1" || len(got.Readings) != 1 || len(got.Missing) != 1 || got.SkewMS < 80_000 || got.SkewMS > 100_000 {
		t.Fatalf("%s", stdout)
	}
	x := got.Readings[0]
	if x.Layout != "weir" || x.Sure.String() != "certain" || *x.Remaining != 13 || *x.Capacity != 20 || x.Next != "later" || *x.WaitMS < 3.5e6 || x.Limit != "1/h,burst=20" || x.LimitFrom != "state" ||
		len(x.Keys) != 1 || *x.Keys[0].TTLMS < 1 || len(x.Sentences) < 4 {
		t.Errorf("%s", stdout)
	}

	// The same clock gets a line in the text.
	a2, text, _ := testApp("WEIR_REDIS_URL=" + r.URL)
	a2.now = a.now
	a2.execute(context.Background(), newRoot(a2, verbs(a2)...), []string{"inspect", "get", "k-7"})
	if !strings.Contains(text.String(), "The server's clock is 1m30") {
		t.Errorf("%s", text)
	}
}

func TestInspectGetOverTLSAndAsUser(t *testing.T) {
	secure := redistest.TLS(t)
	a, stdout, stderr := testApp()
	if code := a.execute(context.Background(), newRoot(a, verbs(a)...), []string{"inspect", "get", "k-7", "--redis", secure.URL, "--redis-ca", secure.CAFile}); code != exitCheck {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	limited := redistest.ACL(t, "support on >S3cret %R~rl:* +ping +time +type +pttl +exists +strlen", "blind on >S3cret %R~* +ping +time +type +pttl +exists +hlen +hscan")
	seedLimits(t, limited)
	a, stdout, stderr = testApp()
	code := a.execute(context.Background(), newRoot(a, verbs(a)...), []string{"inspect", "get", "rl:{k-7}:requests", "--redis", limited.As("support", "S3cret")})
	if code != exitReach || !strings.Contains(stderr.String(), "the user may not run HLEN\nhint: redis-cli ACL SETUSER NAME +hlen") || strings.Contains(stderr.String(), "S3cret") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	a, stdout, stderr = testApp()
	code = a.execute(context.Background(), newRoot(a, verbs(a)...), []string{"inspect", "get", "rl:{k-7}:requests", "--redis", limited.As("blind", "S3cret")})
	if code != exitOK || !strings.Contains(stdout.String(), "redis-cli ACL SETUSER NAME\n+memory|usage") && !strings.Contains(stdout.String(), "NAME +memory|usage") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// Every field of the document has its place in the page, and so has the rule
// for reading.
func TestInspectIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
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
			seen++
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/inspect.md does not name %q", name)
			}
			walk(typ.Field(i).Type)
		}
	}
	walk(reflect.TypeOf(sightJSON{}))
	walk(reflect.TypeOf(layoutLine{}))
	if seen < 40 {
		t.Errorf("only %d fields", seen)
	}
	for _, l := range inspect.Builtin() {
		if !strings.Contains(string(page), "`"+l.Name+"`") {
			t.Errorf("docs/inspect.md does not list %s", l.Name)
		}
	}
}
