package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
)

// readACL is the rule in docs/inspect.md.
func readACL(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/inspect.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(page), "ACL SETUSER support on '>PASSWORD' ")
	rule, _, ok := strings.Cut(rule, "\n")
	if !ok || rule == "" {
		t.Fatal("docs/inspect.md has no rule")
	}
	return strings.ReplaceAll(rule, "'", "")
}

func seed(t *testing.T, c redis.UniversalClient) {
	t.Helper()
	ctx := context.Background()
	for _, err := range []error{
		c.Set(ctx, "s", "312749231.58055902", time.Minute).Err(),
		c.HSet(ctx, "h", "last", "1", "tokens", "2").Err(),
		c.ZAdd(ctx, "z", redis.Z{Score: 2, Member: "b"}, redis.Z{Score: 1, Member: "a"}).Err(),
		c.RPush(ctx, "l", "x", "y", "z").Err(),
		c.SAdd(ctx, "set", "x").Err(),
		c.Set(ctx, "n\x1b\n\xff", "1", 0).Err(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestReaderReadsEachType(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		seed(t, c)
		r := NewReader(c, ReaderOptions{})
		s, err := r.Get(context.Background(), "s", "h", "z", "l", "set", "none", "n\x1b\n\xff", "s")
		if err != nil {
			t.Fatal(err)
		}
		e := s.Entries
		switch {
		case string(e[0].Text) != "312749231.58055902" || e[0].TTL <= 0 || e[0].TTL > time.Minute || e[0].Len != 18 || e[0].Truncated:
			t.Errorf("string: %+v", e[0])
		case e[1].Fields["last"] != "1" || e[1].Fields["tokens"] != "2" || e[1].Len != 2 || e[1].TTL != NoTTL:
			t.Errorf("hash: %+v", e[1])
		case len(e[2].Members) != 2 || e[2].Members[0] != (Member{"a", 1}) || e[2].Members[1] != (Member{"b", 2}):
			t.Errorf("zset: %+v", e[2])
		case len(e[3].Members) != 3 || e[3].Members[2].Name != "z":
			t.Errorf("list: %+v", e[3])
		case e[4].Type != "set" || e[4].Problem == "":
			t.Errorf("set: %+v", e[4])
		case e[5].Exists() || e[5].Type != "none":
			t.Errorf("no key: %+v", e[5])
		case string(e[6].Text) != "1":
			t.Errorf("an odd name: %+v", e[6])
		case string(e[7].Text) != string(e[0].Text):
			t.Errorf("a key that is asked for twice: %+v", e[7])
		case time.Since(time.Unix(0, s.Now)).Abs() > time.Minute || s.Skew.Abs() > time.Minute:
			t.Errorf("now %d, skew %s", s.Now, s.Skew)
		case e[0].Slot != -1 || e[0].Node != "" || len(s.Blind) != 0:
			t.Errorf("%+v %v", e[0], s.Blind)
		}
	})
}

// A look leaves the time of last use as it was, or reads it before it is lost.
func TestReaderReadsIdleTimeFirst(t *testing.T) {
	server := redistest.Server(t)
	c := server.Client(t)
	seed(t, c)
	idle := time.Duration(0)
	for end := time.Now().Add(20 * time.Second); idle < time.Second && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		s, err := NewReader(c, ReaderOptions{}).Get(context.Background(), "z")
		if err != nil {
			t.Fatal(err)
		}
		idle = s.Entries[0].Idle
		if idle < time.Second {
			// The value was touched by the look: give it another second.
			time.Sleep(1100 * time.Millisecond)
		}
	}
	if idle < time.Second {
		t.Errorf("idle %s", idle)
	}
}

// Small whole numbers are one object for all keys that hold the same one, and
// its idle time is nobody's.
func TestReaderDoesNotBelieveSharedIdleTimes(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c, ctx := server.Client(t), context.Background()
		for key, value := range map[string]string{"small": "9999", "large": "10000", "text": "1.5"} {
			if err := c.Set(ctx, key, value, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		s, err := NewReader(c, ReaderOptions{}).Get(ctx, "small", "large", "text")
		if err != nil {
			t.Fatal(err)
		}
		for i, known := range []bool{false, true, true} {
			if e := s.Entries[i]; (e.Idle >= 0) != known {
				t.Errorf("%s: idle %v", e.Key, e.Idle)
			}
		}
	})
}

func TestReaderIsBounded(t *testing.T) {
	server := redistest.Server(t)
	c, ctx := server.Client(t), context.Background()
	// 512 MB less a byte, without sending them.
	if err := c.SetRange(ctx, "huge", 512<<20-2, "x").Err(); err != nil {
		t.Fatal(err)
	}
	const many = 30_000
	pipe := c.Pipeline()
	for i := range many {
		pipe.ZAdd(ctx, "z", redis.Z{Score: float64(i), Member: fmt.Sprintf("m%06d", i)})
		pipe.RPush(ctx, "l", fmt.Sprintf("m%06d", i))
		pipe.HSet(ctx, "h", fmt.Sprintf("f%06d", i), i)
	}
	pipe.HSet(ctx, "big", "f", strings.Repeat("x", 40<<20))
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	s, err := NewReader(c, ReaderOptions{Members: 1000}).Get(ctx, "huge", "z", "l", "h", "big")
	if err != nil {
		t.Fatal(err)
	}
	e := s.Entries
	if !e[0].Truncated || len(e[0].Text) != DefaultText || e[0].Len != 512<<20-1 {
		t.Errorf("a string of %d: %d read, truncated %v", e[0].Len, len(e[0].Text), e[0].Truncated)
	}
	for _, e := range e[1:3] {
		if !e.Truncated || len(e.Members) != 1000 || e.Head != 500 || e.Len != many || e.Members[499].Name != "m000499" || e.Members[500].Name != fmt.Sprintf("m%06d", many-500) {
			t.Errorf("%s of %d: %d members read, head %d", e.Type, e.Len, len(e.Members), e.Head)
		}
	}
	if !e[3].Truncated || len(e[3].Fields) > 1000 || len(e[3].Fields) == 0 || e[3].Len != many {
		t.Errorf("a hash of %d: %d fields read", e[3].Len, len(e[3].Fields))
	}
	if !e[4].Truncated || len(e[4].Fields) != 0 || e[4].Problem == "" {
		t.Errorf("a hash of %d bytes: %d fields read, %q", e[4].Bytes, len(e[4].Fields), e[4].Problem)
	}
	// Decoding says so and does not fall over.
	for _, l := range Builtin() {
		for i := range e {
			if _, err := Decode(l, e[i:i+1], s.Now, nil); err != nil {
				t.Errorf("%s: %v", l.Name, err)
			}
		}
	}
}

// The rule of the pages is enough, and without a command that can be done
// without, the rest is read.
func TestReaderUnderACL(t *testing.T) {
	rule := readACL(t)
	server := redistest.ACL(t, "reader on >p "+rule, "blind on >p "+strings.NewReplacer(" +memory|usage", "", " +object|idletime", "", " +time", "").Replace(rule),
		"deaf on >p "+strings.Replace(rule, " +getrange", "", 1), "narrow on >p "+strings.Replace(rule, "%R~*", "%R~rl:*", 1))
	seed(t, server.Client(t))
	as := func(user string) (Snapshot, error) {
		c, err := redisconn.Open(redisconn.Options{URL: server.As(user, "p")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		r := NewReader(c, ReaderOptions{})
		if found, _, err := r.Existing(context.Background(), "s", "none"); user == "reader" && (err != nil || len(found) != 1) {
			t.Errorf("existing: %q, %v", found, err)
		}
		return r.Get(context.Background(), "s", "h", "z", "l")
	}
	s, err := as("reader")
	if err != nil || len(s.Blind) != 0 || s.Entries[0].Bytes <= 0 || s.Entries[0].Idle < 0 {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = as("blind")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]bool{}
	for _, b := range s.Blind {
		rules[b.Rule] = true
	}
	if len(s.Blind) != 3 || !rules["+time"] || !rules["+memory|usage"] || !rules["+object|idletime"] || s.Entries[0].Bytes != Unknown || string(s.Entries[0].Text) == "" || s.Now == 0 {
		t.Errorf("%+v", s)
	}
	var denied *DeniedError
	if _, err = as("deaf"); !errors.As(err, &denied) || denied.Rule != "+getrange" || denied.Command != "GETRANGE" {
		t.Errorf("%v", err)
	}
	// Who may read the limiter's keys alone finds a customer among them by the id.
	narrow, err := redisconn.Open(redisconn.Options{URL: server.As("narrow", "p")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = narrow.Close() })
	if err := server.Client(t).Set(t.Context(), "rl:k-7", "5", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	for _, q := range []Query{{Keys: []string{"k-7"}}, {IDs: []string{"k-7"}}, {Keys: []string{"k-7", "rl:k-7"}}} {
		q.Layouts = Builtin()
		sight, err := Look(t.Context(), NewReader(narrow, ReaderOptions{}), q)
		if err != nil || len(sight.Readings) != 1 || sight.Readings[0].Entries[0].Key != "rl:k-7" || len(sight.Blind) != 1 || sight.Blind[0].Rule != "%R~*" {
			t.Errorf("%q %q: %d found, %v, %v", q.Keys, q.IDs, len(sight.Readings), sight.Blind, err)
		}
		// Of whom nothing is there, it is not known whether there is.
		q.Keys, q.IDs = nil, []string{"k-8"}
		if _, err := Look(t.Context(), NewReader(narrow, ReaderOptions{}), q); !KeyDenied(err) {
			t.Errorf("%v", err)
		}
	}
	if _, err = as("narrow"); !errors.As(err, &denied) || denied.Rule != "%R~*" {
		t.Errorf("%v", err)
	}
}

// Nothing that a look sends writes: the data set and its version stay.
func TestReaderWritesNothing(t *testing.T) {
	server := redistest.Server(t)
	c, ctx := server.Client(t), context.Background()
	seed(t, c)
	changes := func() string {
		for line := range strings.SplitSeq(server.CLI("INFO", "persistence"), "\n") {
			if strings.HasPrefix(line, "rdb_changes_since_last_save:") {
				return line
			}
		}
		return "?"
	}
	before := changes()
	for range 3 {
		if _, err := Look(ctx, NewReader(c, ReaderOptions{}), Query{Keys: []string{"s", "h", "nosuch:k-7"}, IDs: []string{"k-7"}, Layouts: Builtin()}); err != nil {
			t.Fatal(err)
		}
	}
	if after := changes(); after != before || before == "?" {
		t.Errorf("%s became %s", before, after)
	}
}

func TestReaderInCluster(t *testing.T) {
	cl := redistest.Cluster(t, 3, 0)
	c, ctx := cl.Client(t), context.Background()
	keys := []string{"rl:{a}:r", "rl:{b}:r", "rl:{c}:r", "rl:{d}:r", "rl:{a}:s"}
	for _, k := range keys {
		if err := c.Set(ctx, k, k, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewReader(c, ReaderOptions{}).Get(ctx, keys...)
	if err != nil {
		t.Fatal(err)
	}
	nodes := map[string]bool{}
	for i, e := range s.Entries {
		want := c.ClusterKeySlot(ctx, keys[i]).Val()
		if string(e.Text) != keys[i] || int64(e.Slot) != want || e.Node == "" {
			t.Errorf("%s: %+v, in slot %d", keys[i], e, want)
		}
		nodes[e.Node] = true
	}
	// A user with the rule of the pages, and what it says of clusters.
	rules := []string{"ACL", "SETUSER", "support", "on", ">p"}
	rules = append(append(rules, strings.Fields(readACL(t))...), "+cluster|slots", "+asking")
	for _, n := range cl.Nodes {
		n.CLI(rules...)
	}
	u, err := redisconn.Open(redisconn.Options{URL: "redis+cluster://support:p@" + cl.Nodes[0].Addr})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if s, err := NewReader(u, ReaderOptions{}).Get(ctx, keys...); err != nil || string(s.Entries[3].Text) != keys[3] {
		t.Errorf("as a user: %+v, %v", s, err)
	}
	if len(nodes) < 2 || s.Entries[0].Slot != s.Entries[4].Slot {
		t.Errorf("%d nodes", len(nodes))
	}
}
