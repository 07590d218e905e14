package survey

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// readACL is the rule in docs/scan.md.
func readACL(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/scan.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(page), "ACL SETUSER scanner on '>PASSWORD' ")
	rule, _, ok := strings.Cut(rule, "\n")
	if !ok || rule == "" {
		t.Fatal("docs/scan.md has no rule")
	}
	return strings.ReplaceAll(rule, "'", "")
}

func scan(t *testing.T, c redis.UniversalClient, o Options) *Survey {
	t.Helper()
	o.Layouts = inspect.Builtin()
	s, err := Scan(context.Background(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func told(t *testing.T, text string) *limit.Spec {
	t.Helper()
	s, err := limit.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// put sends commands in pipelines.
func put(t *testing.T, c redis.UniversalClient, n int, each func(pipe redis.Pipeliner, i int)) {
	t.Helper()
	for i := 0; i < n; {
		pipe := c.Pipeline()
		for ; i < n && pipe.Len() < 1000; i++ {
			each(pipe, i)
		}
		if _, err := pipe.Exec(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

func arrival(in time.Duration) string {
	return fmt.Sprintf("%.6f", float64(time.Now().Add(in).UnixNano())/1e9-1483228800)
}

func TestScanAddsUp(t *testing.T) {
	server := redistest.Server(t)
	c, ctx := server.Client(t), context.Background()
	// 700 customers, of whom 7 have used all, and one waits the longest.
	put(t, c, 700, func(pipe redis.Pipeliner, i int) {
		in := time.Duration(0)
		switch {
		case i == 100:
			in = time.Hour
		case i%100 == 0:
			in = time.Minute
		}
		pipe.Set(ctx, fmt.Sprintf("rate:user:%d", i), arrival(in), time.Hour)
	})
	// States of two keys, one with its second alone.
	put(t, c, 50, func(pipe redis.Pipeliner, i int) {
		pipe.Set(ctx, fmt.Sprintf("request_rate_limiter.{route.k-%d}.tokens", i), "5", time.Hour)
		pipe.Set(ctx, fmt.Sprintf("request_rate_limiter.{route.k-%d}.timestamp", i), fmt.Sprint(time.Now().Unix()), time.Hour)
	})
	c.Set(ctx, "request_rate_limiter.{route.half}.timestamp", fmt.Sprint(time.Now().Unix()), time.Hour)
	// Strangers of all types, some hostile.
	c.SAdd(ctx, "tags:1", "x")
	c.HSet(ctx, "session:1", "who", "k-7", "what", strings.Repeat("x", 100_000))
	c.ZAdd(ctx, "board:1", redis.Z{Score: 1, Member: strings.Repeat("m", 100_000)})
	c.RPush(ctx, "queue:1", "a", "b")
	c.Set(ctx, "rate:\x1b[31mred\n\xff", "?", 0)
	c.Set(ctx, strings.Repeat("n", maxName+1), "1", 0)
	c.Set(ctx, strings.Repeat("m", maxName), "1", 0)
	if err := c.SetRange(ctx, "huge", 64<<20, "x").Err(); err != nil {
		t.Fatal(err)
	}
	put(t, c, 5000, func(pipe redis.Pipeliner, i int) {
		pipe.ZAdd(ctx, "long", redis.Z{Score: float64(i), Member: fmt.Sprintf("m%06d", i)})
		pipe.HSet(ctx, "wide", fmt.Sprintf("f%06d", i), i)
	})
	c.HSet(ctx, "fat", "f", strings.Repeat("x", 2<<20))

	seen := map[string]*Key{}
	s := scan(t, c, Options{Told: told(t, "10/s,burst=20"), Each: func(x *Sighting) {
		k := *x.Key
		seen[k.Key] = &k
	}})
	tally := s.Tally()
	total, _ := c.DBSize(ctx).Result()
	if all := tally.All.Keys; all != total-1 || !s.Complete() || s.listed() != total {
		t.Errorf("%d keys of %d, %q", all, total, s.Stopped)
	}
	rate, spring := tally.Layouts.Rows["redis-rate"], tally.Layouts.Rows["spring"]
	if rate == nil || rate.States != 700 || rate.Out != 7 || rate.Known != 700 || rate.NoTTL != 0 {
		t.Errorf("redis-rate: %+v", rate)
	}
	if spring == nil || spring.States != 51 || spring.Keys != 51 || tally.Parts != 50 {
		t.Errorf("spring: %+v, %d parts", spring, tally.Parts)
	}
	if top := tally.Tops["out"].Sorted(); len(top) != 7 || top[0].Key != "rate:user:100" || *top[0].Remaining != 0 {
		t.Errorf("out: %+v", top)
	}
	if top := tally.Tops["biggest"].Sorted(); len(top) != DefaultTop || top[0].Key != "huge" {
		t.Errorf("biggest: %+v", top[0])
	}
	if tally.Problems["half-missing"] == nil || tally.Problems["half-missing"].Key != "request_rate_limiter.{route.half}.timestamp" {
		t.Errorf("problems: %v", slices.Collect(maps.Keys(tally.Problems)))
	}
	if k := seen["huge"]; k == nil || !k.Truncated || len(k.Text) != maxText || k.Len != 64<<20+1 {
		t.Errorf("huge: %+v", k)
	}
	if k := seen["long"]; k == nil || len(k.Members) != maxMembers || k.Head != maxMembers/2 || k.Len != 5000 || !k.Truncated {
		t.Errorf("long: %d members", len(k.Members))
	}
	if k := seen["wide"]; k == nil || len(k.Fields) == 0 || len(k.Fields) > maxMembers || !k.Truncated {
		t.Errorf("wide: %d fields", len(k.Fields))
	}
	if k := seen["fat"]; k == nil || len(k.Fields) != 0 || k.Problem == "" {
		t.Errorf("fat: %+v", k)
	}
	if k := seen["session:1"]; k == nil || len(k.Fields["what"]) != maxPart || k.Problem == "" {
		t.Errorf("session: %+v", k)
	}
	if k := seen["queue:1"]; k == nil || len(k.Members) != 2 || k.Members[1].Name != "b" {
		t.Errorf("queue: %+v", k)
	}
	cost := s.Cost()
	if cost.Commands < 4*tally.All.Keys || cost.Sent == 0 || cost.Received == 0 || !cost.CPUKnown || cost.Took <= 0 {
		t.Errorf("cost: %+v", cost)
	}
	if len(s.Blind) != 0 {
		t.Errorf("%v", s.Blind)
	}
}

// A scan that stops goes on where it was, and what it says in the end is what
// one that did not stop says.
func TestScanGoesOn(t *testing.T) {
	server := redistest.Server(t)
	c, ctx := server.Client(t), context.Background()
	put(t, c, 3000, func(pipe redis.Pipeliner, i int) {
		pipe.Set(ctx, fmt.Sprintf("rate:user:%d", i), arrival(0), time.Hour)
	})
	whole := scan(t, c, Options{})
	var from *Survey
	parts := 0
	for ; ; parts++ {
		stopping, stop := context.WithCancel(ctx)
		s, err := Scan(stopping, c, Options{Layouts: inspect.Builtin(), From: from, Progress: func(*Survey, Progress) { stop() }})
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if s.Complete() {
			from = s
			break
		}
		text, err := Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if from, err = Unmarshal(text); err != nil {
			t.Fatal(err)
		}
		if parts > 100 {
			t.Fatal("it does not come to an end")
		}
	}
	if got, want := from.Tally(), whole.Tally(); got.All != want.All || *got.Layouts.Rows["redis-rate"] != *want.Layouts.Rows["redis-rate"] || parts < 2 || !from.Resumed {
		t.Errorf("in %d parts %+v, at once %+v", parts, got.All, want.All)
	}

	// By its bound, and from a process that is another one now.
	part := scan(t, c, Options{MaxKeys: 500})
	if n := part.Tally().All.Keys; part.Stopped != "max-keys" || n < 500 || n > 1500 {
		t.Errorf("%q after %d keys", part.Stopped, n)
	}
	if s := scan(t, c, Options{From: part}); s.Tally().All != whole.Tally().All {
		t.Errorf("after the bound %+v, at once %+v", s.Tally().All, whole.Tally().All)
	}
	part = scan(t, c, Options{MaxKeys: 500})
	server.Restart()
	put(t, c, 10, func(pipe redis.Pipeliner, i int) {
		pipe.Set(ctx, fmt.Sprintf("rate:user:%d", i), arrival(0), time.Hour)
	})
	s := scan(t, c, Options{From: part})
	if n := s.Tally().All.Keys; n != 10 || len(s.Notes) == 0 || !strings.Contains(strings.Join(s.Notes, " "), "restarted") {
		t.Errorf("%d keys after a restart, %q", n, s.Notes)
	}
	if _, err := Scan(ctx, c, Options{Layouts: inspect.Builtin(), Match: "x*", From: part}); !errors.Is(err, ErrOtherSurvey) {
		t.Errorf("%v", err)
	}
}

func TestScanOfACluster(t *testing.T) {
	cl := redistest.Cluster(t, 3, 1)
	c, ctx := cl.Client(t), context.Background()
	const n = 300
	put(t, c, n, func(pipe redis.Pipeliner, i int) {
		pipe.Set(ctx, fmt.Sprintf("rate:user:%d", i), arrival(time.Minute), time.Hour)
		// Without braces its two keys are on several nodes.
		pipe.Set(ctx, fmt.Sprintf("request_rate_limiter.k-%d.tokens", i), "0", time.Hour)
		pipe.Set(ctx, fmt.Sprintf("request_rate_limiter.k-%d.timestamp", i), fmt.Sprint(time.Now().Add(time.Minute).Unix()), time.Hour)
	})
	s := scan(t, c, Options{Told: told(t, "10/s,burst=20")})
	tally := s.Tally()
	if len(s.Nodes) != 3 || tally.All.Keys != 3*n || tally.Layouts.Rows["redis-rate"].Out != n {
		t.Errorf("%d nodes, %+v, %+v", len(s.Nodes), tally.All, tally.Layouts.Rows["redis-rate"])
	}
	if gist := tally.Layouts.Rows["stripe-gist"]; gist == nil || gist.States != n || gist.Out != n || tally.Parts != n {
		t.Errorf("states in several slots: %+v, %d parts", gist, tally.Parts)
	}
	for _, node := range s.Nodes {
		if node.Replica || !node.Done || node.Listed == 0 || node.RunID == "" {
			t.Errorf("%+v", node)
		}
	}
	if row := tally.Tops["out"].Sorted()[0]; row.Node == "" {
		t.Errorf("%+v", row)
	}
	for _, r := range cl.Nodes[:3] {
		r.CLI("WAIT", "1", "5000")
	}
	s = scan(t, c, Options{Replicas: true, Match: "rate:*"})
	if len(s.Nodes) != 3 || s.Tally().All.Keys != n || !s.Nodes[0].Replica || len(s.Notes) == 0 {
		t.Errorf("replicas: %+v, %+v", s.Tally().All, s.Notes)
	}
}

// The rule of the pages is enough. Without a part of it either less is known,
// and what, or the command that is missing is named.
func TestScanUnderACL(t *testing.T) {
	optional := []string{"+time", "+object|idletime", "+memory|usage", "+dbsize", "+info"}
	needed := []string{"+type", "+pttl", "+strlen", "+getrange", "+hlen", "+hscan", "+zcard", "+zrange", "+llen", "+lrange", "+scan", "%R~*"}
	whole := readACL(t)
	users := []string{"all on >p " + whole}
	name := func(part string) string {
		return "no" + strings.NewReplacer("+", "", "|", "", "%", "", "~", "", "*", "").Replace(part)
	}
	for _, part := range append(slices.Clone(optional), needed...) {
		rule := strings.Replace(" "+whole, " "+part, "", 1)
		if part == "%R~*" {
			rule = " %R~rate:*" + rule
		}
		users = append(users, name(part)+" on >p"+rule)
	}
	server := redistest.ACL(t, users...)
	admin, ctx := server.Client(t), context.Background()
	admin.Set(ctx, "rate:user:1", arrival(0), time.Hour)
	admin.Set(ctx, "text", strings.Repeat("x", 2*maxText), time.Hour)
	for i := range 3 {
		admin.HSet(ctx, fmt.Sprintf("h:%d", i), "a", "1")
		admin.ZAdd(ctx, fmt.Sprintf("z:%d", i), redis.Z{Score: 1, Member: "a"})
		admin.RPush(ctx, fmt.Sprintf("l:%d", i), "a")
	}
	run := func(user string) (*Survey, error) {
		c, err := redisconn.Open(redisconn.Options{URL: server.As(user, "p")})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return Scan(ctx, c, Options{Layouts: inspect.Builtin()})
	}
	s, err := run("all")
	if err != nil || s.Tally().All.Keys != 11 || len(s.Blind) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, part := range optional {
		s, err := run(name(part))
		if err != nil || s.Tally().All.Keys != 11 || len(s.Blind) != 1 || s.Blind[0].Rule != part || s.Blind[0].Lost == "" {
			t.Errorf("without %s: %v, %v", part, s.Blind, err)
		}
	}
	for _, part := range needed {
		_, err := run(name(part))
		var denied *inspect.DeniedError
		if !errors.As(err, &denied) || denied.Rule != part {
			t.Errorf("without %s: %v", part, err)
		}
	}
}

// Where the server keeps how often a key is used in place of when, that is the
// order of the hottest.
func TestScanByFrequency(t *testing.T) {
	server := redistest.Server(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lfu")
	c, ctx := server.Client(t), context.Background()
	put(t, c, 50, func(pipe redis.Pipeliner, i int) {
		pipe.Set(ctx, fmt.Sprintf("limiter:k-%d", i), 1, time.Hour)
	})
	for range 200 {
		c.Get(ctx, "limiter:k-7")
	}
	scan(t, c, Options{}) // a scan counts as a use of all alike
	top := scan(t, c, Options{}).Tally().Tops["hottest"].Sorted()
	if len(top) == 0 || top[0].Key != "limiter:k-7" || top[0].Frequency <= top[1].Frequency {
		t.Errorf("%+v", top)
	}
}

// The pace holds: in so many steps the limiter of the pace must have waited.
func TestScanKeepsItsPace(t *testing.T) {
	server := redistest.Server(t)
	c, ctx := server.Client(t), context.Background()
	put(t, c, 300, func(pipe redis.Pipeliner, i int) {
		pipe.Set(ctx, fmt.Sprintf("limiter:k-%d", i), 1, time.Hour)
	})
	began := time.Now()
	s := scan(t, c, Options{Pace: 400})
	// All but the first batch must wait; never faster, however busy the machine.
	if took := time.Since(began); took < 600*time.Millisecond || s.Tally().All.Keys != 300 {
		t.Errorf("%d keys in %s", s.Tally().All.Keys, took)
	}
}
