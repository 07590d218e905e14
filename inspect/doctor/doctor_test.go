package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/inspect/survey"
	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// examine looks at all keys and servers and returns the ids of what it found.
func examine(t *testing.T, c redis.UniversalClient, told string) []string {
	t.Helper()
	ctx := context.Background()
	x := NewExaminer(inspect.Builtin(), false)
	o := survey.Options{Layouts: inspect.Builtin(), Each: func(s *survey.Sighting) {
		switch {
		case s.Reading != nil:
			x.State(s.Reading)
		case !s.Part:
			x.Stranger(&s.Key.Entry)
		}
	}}
	if told != "" {
		spec, err := limit.ParseSpec(told)
		if err != nil {
			t.Fatal(err)
		}
		o.Told = &spec
	}
	if _, err := survey.Scan(ctx, c, o); err != nil {
		t.Fatal(err)
	}
	servers, blind, err := Gather(ctx, c, time.Now)
	if err != nil || len(blind) > 0 {
		t.Fatal(err, blind)
	}
	for _, s := range servers {
		x.Server(s)
	}
	ids := []string{}
	for _, f := range x.Findings() {
		if len(f.Examples) == 0 || f.Why == "" || f.Fix == "" || f.Count < int64(len(f.Examples)) {
			t.Errorf("%s is not told in full: %+v", f.ID, f)
		}
		ids = append(ids, f.ID)
	}
	return ids
}

// sow runs commands, written as for redis-cli. <s>, <ms> and <us> are
// the server's time in units, <s+100> that much later, <tat+2> what redis_rate
// keeps for then, <w> the number of the window of a minute, <w-120> of an
// earlier one, <sci> the time in us as Lua writes it, <scins> in ns as servers
// before 7.4 pass it on.
func sow(t *testing.T, server *redistest.Redis, lines ...string) {
	t.Helper()
	at := strings.Fields(server.CLI("TIME"))
	var now, us int64
	if _, err := fmt.Sscan(at[0]+" "+at[1], &now, &us); err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		var words []string
		for w := range strings.FieldsSeq(line) {
			for {
				before, rest, ok := strings.Cut(w, "<")
				inner, after, closed := strings.Cut(rest, ">")
				if !ok || !closed {
					break
				}
				name, plus := strings.TrimRight(inner, "+-0123456789"), int64(0)
				name = strings.TrimRight(name, "+-")
				if _, err := fmt.Sscan(inner[len(name):], &plus); err != nil && inner != name {
					t.Fatal(inner, err)
				}
				value := map[string]string{
					"s": fmt.Sprint(now + plus), "ms": fmt.Sprint((now+plus)*1e3 + us/1e3), "us": fmt.Sprint((now+plus)*1e6 + us),
					"tat": fmt.Sprintf("%d.%06d", now+plus-1483228800, us), "w": fmt.Sprint(now/60 + plus), "sci": fmt.Sprintf("%.3e", float64(now)*1e6),
					"ns": fmt.Sprint(now * 1e9), "scins": fmt.Sprintf("%.16e", float64(now*1e9)),
				}[name]
				w = before + value + after
			}
			words = append(words, w)
		}
		server.CLI(words...)
	}
}

// faults are each seeded alone; right is what is close to wrong, and well.
var faults = []struct {
	id    string
	told  string
	wrong []string
	right []string
}{
	{"no-ttl-for-ever", "", []string{"SET limiter:k-7 5"}, []string{"SET limiter:k-7 5 EX 60"}},
	{"no-ttl-leak", "", []string{"SET rate:k-7 <tat+1>"}, []string{"SET rate:k-7 <tat+1> EX 60"}},
	{"ttl-short", "10/s,burst=200", []string{"SET rate:k-7 <tat+15> PX 5000"}, []string{"SET rate:k-7 <tat+15> PX 60000"}},
	{"clock-ahead", "10/s,burst=20", []string{"SET rate:k-7 <tat+300> EX 600"}, []string{"SET rate:k-7 <tat+1> EX 600"}},
	{"clocks-differ", "", []string{"ZADD limit:k-7 <ms-9> <ms-5>.25 <ms-8> <ms-9>.5", "EXPIRE limit:k-7 60"}, []string{"ZADD limit:k-7 <ms-9> <ms-9>.25 <ms-8> <ms-5>.5", "EXPIRE limit:k-7 60"}},
	{"not-a-number", "", []string{"SET rate:k-7 <tat+1> EX 60", "SET rate:k-8 abc EX 60"}, []string{"SET rate:k-8 abc EX 60", "SET limiter:k-7 5 EX 60"}},
	{"wrong-type", "", []string{"SET limiter:k-7 5 EX 60", "HSET limiter:k-8 a b", "EXPIRE limiter:k-8 60"}, []string{"HSET limiter:k-8 a b", "EXPIRE limiter:k-8 60"}},
	{"half-missing", "", []string{"SET {k-7}.tokens 5 EX 60"}, []string{"SET {k-7}.tokens 5 EX 60", "SET {k-7}.ts <s> EX 60"}},
	{"negative", "", []string{"SET {k-7}.tokens -5 EX 60", "SET {k-7}.ts <s> EX 60"}, []string{"SET {k-7}.tokens 0 EX 60", "SET {k-7}.ts <s> EX 60"}},
	{"above-capacity", "5/s,burst=20", []string{"SET {k-7}.tokens 21 EX 60", "SET {k-7}.ts <s> EX 60"}, []string{"SET {k-7}.tokens 20 EX 60", "SET {k-7}.ts <s> EX 60"}},
	{"lost-digits", "", []string{"HSET rate:api:k-7 last <sci> tokens 3", "EXPIRE rate:api:k-7 60"}, []string{"HSET rate:api:k-7 last <us> tokens 3", "EXPIRE rate:api:k-7 60"}},
	// 1.7959780308831844e+18 ns, as servers before 7.4 write it.
	{"rounded-times", "", []string{"HSET k-7 k 8 m 10 t 0 s <scins>", "EXPIRE k-7 60"}, []string{"HSET k-7 k 8 m 10 t 0 s <ns>", "EXPIRE k-7 60"}},
	{"several-versions", "", []string{"SET rate:k-7:v1 <tat+1> EX 60", "SET rate:k-7:v2 <tat+1> EX 60"}, []string{"SET rate:k-7:v1 <tat+1> EX 60", "SET rate:k-8:v2 <tat+1> EX 60"}},
	{"composite-keys", "", []string{"SET rate:k-7:10.0.0.1 <tat+1> EX 60", "SET rate:k-7:10.0.0.2 <tat+1> EX 60"},
		[]string{"SET rate:ip:10.0.0.1 <tat+1> EX 60", "SET rate:ip:10.0.0.2 <tat+1> EX 60", "SET rate:k-8:10.0.0.2 <tat+1> EX 60"}},
	{"window-over", "", []string{"SET rack::attack:<w-120>:req/ip:k-7 5 EX 600"}, []string{"SET rack::attack:<w-1>:req/ip:k-7 5 EX 60", "SET rack::attack:<w>:req/ip:k-7 5 EX 60"}},
	{"log-grows", "sliding-log:limit=2,window=1h", []string{"ZADD limit:k-7 <us-9> <us-9> <us-8> <us-8> <us-7> <us-7>", "EXPIRE limit:k-7 60"}, []string{"ZADD limit:k-7 <us-9> <us-9> <us-8> <us-8>", "EXPIRE limit:k-7 60"}},
	{"memory-full", "", []string{"CONFIG SET maxmemory-policy noeviction maxmemory 1mb"}, []string{"CONFIG SET maxmemory-policy noeviction maxmemory 1gb"}},
	{"eviction-policy", "", []string{"CONFIG SET maxmemory-policy allkeys-random maxmemory 1gb"}, []string{"CONFIG SET maxmemory-policy volatile-ttl maxmemory 1gb"}},
	{"replica-lag", "", []string{"REPLICAOF 127.0.0.1 1"}, []string{"REPLICAOF NO ONE"}},
}

// Each fault is found, and nothing else; and what is close to it and well is
// not.
func TestFaultsAreFoundExactly(t *testing.T) {
	server := redistest.Server(t)
	c := server.Client(t)
	reset := func() {
		server.CLI("REPLICAOF", "NO", "ONE")
		server.CLI("FLUSHALL")
		server.CLI("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")
	}
	for _, tt := range faults {
		t.Run(tt.id, func(t *testing.T) {
			reset()
			sow(t, server, tt.wrong...)
			if got := examine(t, c, tt.told); !slices.Equal(got, []string{tt.id}) {
				t.Errorf("found %q", got)
			}
			reset()
			sow(t, server, tt.right...)
			if got := examine(t, c, tt.told); len(got) != 0 {
				t.Errorf("where all is well: %q", got)
			}
		})
	}
}

func TestEvictionsAreFound(t *testing.T) {
	server := redistest.Server(t, "--maxmemory", "3mb", "--maxmemory-policy", "volatile-ttl")
	c, ctx := server.Client(t), context.Background()
	for i := 0; i < 200_000 && !strings.Contains(server.CLI("INFO", "stats"), "evicted_keys:1"); i += 500 {
		pipe := c.Pipeline()
		for j := range 500 {
			pipe.Set(ctx, fmt.Sprintf("other:%d", i+j), "1", time.Hour)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got := examine(t, c, ""); !slices.Equal(got, []string{"evictions"}) {
		t.Errorf("found %q", got)
	}
}

// The state that weir's own limiters and a storm leave is well.
func TestHealthyServer(t *testing.T) {
	server := redistest.Server(t)
	c, ctx := server.Client(t), context.Background()
	store := redislimit.NewStore(c, redislimit.Options{})
	defer store.Close()
	for i, text := range []string{"10/s,burst=20", "gcra:rate=10/s,burst=20", "leaky-meter:rate=10/s,burst=20", "leaky-queue:rate=10/s,queue=20",
		"fixed-window:limit=9,window=1s", "sliding-log:limit=9,window=1s", "sliding-counter:limit=9,window=1s", "concurrency:limit=9"} {
		spec, err := limit.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := redislimit.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 30 {
			for _, id := range []string{"k-7", "k-8", "10.0.0.1", "10.0.0.2"} {
				part := redislimit.Part{Key: redislimit.Key("", id, fmt.Sprintf("rule%d", i)), Rule: rule, Cost: 1, ID: fmt.Sprint(n)}
				if _, err := store.Take(ctx, part); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if got := examine(t, c, ""); len(got) != 0 {
		t.Errorf("found %q", got)
	}
}

func TestClusterFaults(t *testing.T) {
	cl := redistest.Cluster(t, 3, 0)
	c, ctx := cl.Client(t), context.Background()
	set := func(format string, n int) {
		pipe := c.Pipeline()
		for i := range n {
			pipe.Set(ctx, fmt.Sprintf(format, i), fmt.Sprintf("%d.5", time.Now().Unix()-1483228800), time.Minute)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			t.Fatal(err)
		}
	}
	// Well: names that spread, limits of one customer in one slot, a script on
	// every primary.
	set("rate:user:%d", 1500)
	set("rate:{k-%d}:second", 3)
	set("rate:{k-%d}:day", 3)
	const script = "return redis.call('GET', KEYS[1])"
	own := inOrder(ownScripts())
	if len(own) < 8 {
		t.Fatalf("%d scripts of weir's own", len(own))
	}
	spec, _ := limit.ParseSpec("10/s,burst=20")
	rule, err := redislimit.Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	source, _, err := redislimit.Wire(redislimit.Part{Key: "k", Rule: rule, Cost: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range cl.Nodes {
		node.CLI("SCRIPT", "LOAD", source)
	}
	cl.Nodes[0].CLI("SCRIPT", "LOAD", script) // nobody's that is known
	if got := examine(t, c, ""); len(got) != 0 {
		t.Errorf("where all is well: %q", got)
	}

	cl.Nodes[1].CLI("SCRIPT", "FLUSH")
	if got := examine(t, c, ""); !slices.Equal(got, []string{"scripts-missing"}) {
		t.Errorf("found %q", got)
	}
	cl.Nodes[1].CLI("SCRIPT", "LOAD", source)

	set("rate:k-%d:second", 8)
	set("rate:k-%d:day", 8)
	if got := examine(t, c, ""); !slices.Equal(got, []string{"split-slots"}) {
		t.Errorf("found %q", got)
	}
	for _, node := range cl.Nodes {
		node.CLI("FLUSHALL")
	}

	set("rate:{all}:user%d", 1500)
	if got := examine(t, c, ""); !slices.Equal(got, []string{"slot-imbalance", "shard-imbalance"}) {
		t.Errorf("found %q", got)
	}
}

// What a test cannot bring about on a server, by what it would say.
func TestServerFacts(t *testing.T) {
	facts := func(pairs ...string) survey.Facts {
		f := survey.Facts{"role": "master", "maxmemory": "0"}
		for i := 0; i < len(pairs); i += 2 {
			f[pairs[i]] = pairs[i+1]
		}
		return f
	}
	tests := []struct {
		name    string
		servers []Server
		want    []string
	}{
		{"no bound and little memory left", []Server{{Facts: facts("used_memory_rss", "800", "total_system_memory", "1000")}}, []string{"memory-unbounded"}},
		{"no bound and much left", []Server{{Facts: facts("used_memory_rss", "600", "total_system_memory", "1000")}}, nil},
		{"a replica that is not online", []Server{{Facts: facts("slave0", "ip=10.0.0.1,port=6379,state=wait_bgsave,offset=0,lag=0")}}, []string{"replica-lag"}},
		{"a replica that says nothing", []Server{{Facts: facts("slave0", "ip=10.0.0.1,port=6379,state=online,offset=100,lag=11", "master_repl_offset", "100")}}, []string{"replica-lag"}},
		{"a replica that is far behind", []Server{{Facts: facts("slave1", "ip=10.0.0.1,port=6379,state=online,offset=100,lag=0", "master_repl_offset", "9000000")}}, []string{"replica-lag"}},
		{"a replica that is a little behind", []Server{{Facts: facts("slave0", "ip=10.0.0.1,port=6379,state=online,offset=100,lag=1", "master_repl_offset", "9000")}}, nil},
		{"a replica that hears nothing", []Server{{Facts: survey.Facts{"role": "slave", "master_link_status": "up", "master_last_io_seconds_ago": "30"}}}, []string{"replica-lag"}},
		{"clocks that differ", []Server{{Addr: "a", Facts: facts(), Skew: -time.Second, RTT: 100 * time.Millisecond}, {Addr: "b", Facts: facts(), Skew: time.Second, RTT: 100 * time.Millisecond}}, []string{"node-clocks"}},
		{"clocks that may be one", []Server{{Addr: "a", Facts: facts(), RTT: time.Second}, {Addr: "b", Facts: facts(), Skew: 1500 * time.Millisecond, RTT: time.Second}}, nil},
		{"two servers of which one has nearly all", []Server{{Addr: "a", Cluster: true, Keys: 1900}, {Addr: "b", Cluster: true, Keys: 100}}, []string{"shard-imbalance"}},
		{"two servers, uneven", []Server{{Addr: "a", Cluster: true, Keys: 1400}, {Addr: "b", Cluster: true, Keys: 600}}, nil},
		{"few keys", []Server{{Addr: "a", Cluster: true, Keys: 190}, {Addr: "b", Cluster: true, Keys: 1}}, nil},
		{"nothing is known", []Server{{}, {}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := NewExaminer(nil, false)
			for _, s := range tt.servers {
				x.Server(s)
			}
			var got []string
			for _, f := range x.Findings() {
				got = append(got, f.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// Every check has a fault that is found, so that none is for show.
func TestEveryCheckIsTested(t *testing.T) {
	elsewhere := []string{"evictions", "scripts-missing", "split-slots", "slot-imbalance", "shard-imbalance", "memory-unbounded", "node-clocks"}
	for _, c := range Checks() {
		n := 0
		for _, f := range faults {
			if f.id == c.ID {
				n++
			}
		}
		if n == 0 && !slices.Contains(elsewhere, c.ID) {
			t.Errorf("%s has no fault", c.ID)
		}
	}
}

// The rule of the page is enough, and what is missing without a part of it is
// named.
func TestGatherUnderACL(t *testing.T) {
	page, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rule, _ := strings.Cut(string(page), "ACL SETUSER doctor on '>PASSWORD' ")
	rule, _, ok := strings.Cut(rule, "\n")
	if !ok || rule == "" {
		t.Fatal("docs/doctor.md has no rule")
	}
	rule = strings.ReplaceAll(rule, "'", "")
	parts := []string{"+info", "+dbsize", "+time", "+script|exists"}
	users := []string{"all on >p " + rule}
	for i, part := range parts {
		users = append(users, fmt.Sprintf("without%d on >p%s", i, strings.Replace(" "+rule, " "+part, "", 1)))
	}
	server := redistest.ACL(t, users...)
	server.CLI("SET", "limiter:k-7", "5")
	gather := func(user string) []inspect.Blind {
		c, err := redisconn.Open(redisconn.Options{URL: server.As(user, "p")})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		servers, blind, err := Gather(context.Background(), c, time.Now)
		if err != nil || len(servers) != 1 {
			t.Fatal(err)
		}
		x := NewExaminer(inspect.Builtin(), false)
		x.Server(servers[0])
		if found := x.Findings(); len(found) != 0 {
			t.Errorf("%s: %v", user, found)
		}
		if _, err := survey.Scan(context.Background(), c, survey.Options{Layouts: inspect.Builtin()}); err != nil {
			t.Errorf("%s: %v", user, err)
		}
		return blind
	}
	if blind := gather("all"); len(blind) != 0 {
		t.Errorf("%v", blind)
	}
	for i, part := range parts {
		if blind := gather(fmt.Sprintf("without%d", i)); len(blind) != 1 || blind[0].Rule != part {
			t.Errorf("without %s: %v", part, blind)
		}
	}
}

// The page has a part on each check, with its severity and its fix.
func TestChecksAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, c := range Checks() {
		for _, s := range []string{fmt.Sprintf("### %s %s (%s). %s", c.ID, c.What, c.Severity, c.Why), "Fix: " + c.Fix} {
			if !strings.Contains(text, strings.Join(strings.Fields(s), " ")) {
				t.Errorf("docs/doctor.md does not say %q", s)
			}
		}
	}
}
