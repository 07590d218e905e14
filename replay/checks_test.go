package replay

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/peertest"
	"github.com/weir-cli/weir/report"
)

// Each finding has a script that must show it and one that must not.
func TestFindings(t *testing.T) {
	const (
		key  = "KEYS[1]={key}"
		cost = "ARGV[1]={cost}"
	)
	good := `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], 2000) end
return n <= 20 and 1 or 0`
	tests := []struct {
		id, name   string
		src        string
		maps       []string
		wait       string
		limit      string
		result     string // finding, held or not made
		severity   report.Severity
		detailHas  string
		realServer bool
	}{
		{id: FindUndeclared, name: "a key made in the script", maps: []string{key}, result: "finding", severity: report.High, detailHas: `INCR on "k-1:count"`,
			src: `return redis.call('INCR', KEYS[1] .. ':count') <= 20 and 1 or 0`},
		{id: FindUndeclared, name: "on a server", maps: []string{key}, result: "finding", realServer: true, detailHas: `"k-1:count"`,
			src: `return redis.call('INCR', KEYS[1] .. ':count') <= 20 and 1 or 0`},
		{id: FindUndeclared, name: "all in KEYS", maps: []string{key}, result: "held", src: good},

		{id: FindSlots, name: "two keys without a tag", maps: []string{"KEYS[1]={key}:a", "KEYS[2]={key}:b"}, result: "finding", severity: report.Medium,
			src: `redis.call('INCR', KEYS[1]); redis.call('INCR', KEYS[2]); return 1`},
		{id: FindSlots, name: "two keys with a tag", maps: []string{"KEYS[1]={{{key}}:a", "KEYS[2]={{{key}}:b"}, result: "held",
			src: `redis.call('INCR', KEYS[1]); redis.call('INCR', KEYS[2]); return 1`},

		{id: FindNoTTL, name: "limited for ever", maps: []string{key}, result: "finding", severity: report.High, detailHas: "a year later",
			src: `return redis.call('INCR', KEYS[1]) <= 20 and 1 or 0`},
		{id: FindNoTTL, name: "a leak", maps: []string{key}, result: "finding", severity: report.Medium, detailHas: "stays in memory",
			src: `local t = redis.call('TIME')
local old = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(t[1]) <= old then return 0 end
redis.call('SET', KEYS[1], t[1])
return 1`},
		{id: FindNoTTL, name: "with one", maps: []string{key}, result: "held", src: good},

		{id: FindShortTTL, name: "a bucket that is forgotten", maps: []string{key}, limit: "10/s,burst=20", result: "finding", severity: report.High, detailHas: "20 calls pass at once",
			src: `local n = redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], 500)
return n <= 20 and 1 or 0`},
		{id: FindShortTTL, name: "as long as it must", maps: []string{key}, limit: "10/s,burst=20", result: "held", src: good},
		{id: FindShortTTL, name: "without a limit", maps: []string{key}, result: "not made", src: good},

		{id: FindClock, name: "windows by the caller's clock", maps: []string{"KEYS[1]={key}:{now.s}"}, result: "finding", src: good},
		{id: FindClock, name: "refused until a caller's time", maps: []string{key, "ARGV[1]={now.ms}"}, result: "finding", severity: report.High, detailHas: "1h0m0s ahead",
			src: `local old = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) < old + 100 then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000)
return 1`},
		{id: FindClock, name: "a time that only names the call", maps: []string{key, "ARGV[1]={now.ms}"}, result: "held", src: good},

		{id: FindWork, name: "reads all it ever wrote", maps: []string{key, "ARGV[1]={n}"}, result: "finding", severity: report.Medium, detailHas: "after 1000",
			src: `redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], 2000)
return #redis.call('LRANGE', KEYS[1], 0, -1) <= 20 and 1 or 0`},
		{id: FindWork, name: "loops over the cost", maps: []string{key, cost}, result: "finding", severity: report.Medium, detailHas: "loops over",
			src: `for i = 1, tonumber(ARGV[1]) do redis.call('INCR', KEYS[1]) end
redis.call('PEXPIRE', KEYS[1], 2000)
return 1`},
		{id: FindWork, name: "adds the cost", maps: []string{key, cost}, result: "held",
			src: `redis.call('INCRBY', KEYS[1], ARGV[1]); redis.call('PEXPIRE', KEYS[1], 2000); return 1`},

		{id: FindDigits, name: "a number above 2^53", maps: []string{key}, result: "finding", severity: report.High, detailHas: "2^53",
			src: `local t = redis.call('TIME')
redis.call('SET', KEYS[1], tonumber(t[1]) * 1e9 + tonumber(t[2]) * 1e3, 'PX', 1000)
return 1`},
		{id: FindDigits, name: "joined to a text, on a server", maps: []string{key}, result: "finding", realServer: true, detailHas: "e+15",
			src: `local t = redis.call('TIME')
redis.call('SET', KEYS[1], '' .. (tonumber(t[1]) * 1e6 + tonumber(t[2])), 'PX', 1000)
return 1`},
		{id: FindDigits, name: "next to nothing is left", maps: []string{key}, result: "held", realServer: true,
			src: "local left = 1 - 0.9999995; redis.call('HSET', KEYS[1], 'tokens', left, 'text', left .. '') redis.call('EXPIRE', KEYS[1], 60) return 1"},
		{id: FindDigits, name: "next to nothing is left, embedded", maps: []string{key}, result: "held",
			src: "local left = 1 - 0.9999995; redis.call('HSET', KEYS[1], 'tokens', left) redis.call('EXPIRE', KEYS[1], 60) return 1"},
		{id: FindDigits, name: "written with format", maps: []string{key}, result: "held", realServer: true,
			src: `local t = redis.call('TIME')
redis.call('SET', KEYS[1], string.format('%.0f', tonumber(t[1]) * 1e6 + tonumber(t[2])), 'PX', 1000)
return 1`},

		{id: FindWait, name: "rounded down", maps: []string{key}, wait: "reply[2] s", result: "finding", severity: report.High, detailHas: "too short",
			src: `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], 1500) end
if n <= 20 then return {1, 0} end
return {0, math.floor(redis.call('PTTL', KEYS[1]) / 1000)}`},
		{id: FindWait, name: "always a minute", maps: []string{key}, wait: "reply[2] s", result: "finding", severity: report.Low, detailHas: "too long",
			src: `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], 1500) end
return {n <= 20 and 1 or 0, 60}`},
		{id: FindWait, name: "rounded up", maps: []string{key}, wait: "reply[2] s", result: "held",
			src: `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], 1500) end
if n <= 20 then return {1, 0} end
return {0, math.ceil(redis.call('PTTL', KEYS[1]) / 1000)}`},
		{id: FindWait, name: "none told", maps: []string{key}, result: "not made", src: good},

		{id: FindHalves, name: "one script", maps: []string{key}, result: "held", src: good},
	}
	covered := map[string][]string{FindHalves: {"finding"}} // see TestRacyAndSkewedScriptsAreFound
	for _, tt := range tests {
		covered[tt.id] = append(covered[tt.id], tt.result)
		t.Run(tt.id+"/"+tt.name, func(t *testing.T) {
			r := run(t, tt.src, tt.maps...)
			if tt.realServer {
				r.Store, _ = remote(t)
			}
			m, err := ParseMeaning("", tt.wait)
			if err != nil {
				t.Fatal(err)
			}
			r.Meaning = m
			if tt.limit != "" {
				s := spec(t, tt.limit)
				r.Limit = &s
			}
			out, err := r.Do(t.Context(), open(t, "0,k-1\n0.1,k-1\n0.2,k-2\n", Options{}))
			if err != nil {
				t.Fatal(err)
			}
			if tt.realServer && tt.id == FindUndeclared && out.Totals.Failed > 0 {
				t.Fatalf("the script failed: %s", out.Replay.Script.FirstError)
			}
			i := slices.IndexFunc(out.Replay.Script.Checked, func(c report.ReplayCheck) bool { return c.ID == tt.id })
			if i < 0 {
				t.Fatalf("not checked: %+v, notes %q", out.Replay.Script.Checked, out.Notes)
			}
			c := out.Replay.Script.Checked[i]
			if c.Result != tt.result || !strings.Contains(c.Detail, tt.detailHas) {
				t.Errorf("%+v", c)
			}
			for _, f := range out.Findings {
				if f.ID == tt.id && (c.Result != "finding" || tt.severity != "" && f.Severity != tt.severity || len(f.Evidence) == 0) {
					t.Errorf("%+v", f)
				}
			}
			if foundIn(out, tt.id) != (c.Result == "finding") {
				t.Errorf("findings %v", ids(out))
			}
		})
	}
	for _, id := range FindingIDs() {
		if !slices.Contains(covered[id], "finding") || !slices.Contains(covered[id], "held") {
			t.Errorf("%s is not both found and held by a test: %v", id, covered[id])
		}
	}
}

func TestKnownScripts(t *testing.T) {
	if k := Recognise("return 1"); k != nil {
		t.Errorf("recognised as %s", k.Name)
	}
	s := spec(t, "10/s,burst=20")
	for _, k := range KnownScripts() {
		if got := Recognise(strings.Join(k.marks, "\n")); got == nil {
			t.Errorf("%s does not recognise its own marks", k.Name)
		}
		if _, err := ParseMapping(k.Maps(), &s); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		if _, err := ParseMeaning(k.Meaning(&s)); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

// The scripts of the libraries themselves are known, and decide as their limits.
func TestLibraryScripts(t *testing.T) {
	const modules = "../internal/writers/node/node_modules/"
	for _, tt := range []struct {
		file, begin, known, limit string
		same                      bool // as a limit of ours
	}{
		{"rate-limit-redis/dist/index.cjs", "increment: `", "rate-limit-redis-6", "fixed-window:limit=10,window=1s", true},
		{"@upstash/ratelimit/dist/index.js", "var fixedWindowLimitScript = `", "upstash-fixed-window", "fixed-window:limit=10,window=1s", true},
		{"@upstash/ratelimit/dist/index.js", "var slidingWindowLimitScript = `", "upstash-sliding-window", "sliding-counter:limit=10,window=1s", false}, // rounds what still counts down,
		{"@upstash/ratelimit/dist/index.js", "var tokenBucketLimitScript = `", "upstash-token-bucket", "10/s,burst=20", false},                          // refills in steps,
	} {
		text, err := os.ReadFile(modules + tt.file)
		if err != nil {
			peertest.Missing(t, "the libraries are not here: npm ci in internal/writers/node")
		}
		_, rest, _ := strings.Cut(string(text), tt.begin)
		source, _, _ := strings.Cut(rest, "`")
		k := Recognise(source)
		if k == nil || k.Name != tt.known {
			t.Errorf("%s is recognised as %v", tt.begin, k)
			continue
		}
		s := spec(t, tt.limit)
		m, err := ParseMapping(k.Maps(), &s)
		if err != nil {
			t.Fatal(err)
		}
		meaning, err := ParseMeaning(k.Meaning(&s))
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEmbedded()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		r := &Run{Halves: []Half{{NewScript(k.Name, source), m}}, Store: e, Meaning: meaning, Timeout: 10 * time.Second, Limit: &s, Against: &s}
		src, err := Open(strings.NewReader(stormTrace(4000)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		result, err := r.Do(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		if a := result.Replay.Against; a.Calls != 4000 || tt.same && a.Differing() != 0 || a.BothAdmitted+a.OnlyHere < 90 || a.BothAdmitted+a.OnlyHere > 120 {
			t.Errorf("%s: %+v, first %+v", k.Name, a, a.First)
		}
	}
}

func TestMappings(t *testing.T) {
	s := spec(t, "600/m,burst=20")
	m, err := ParseMapping([]string{"KEYS[1]=a:{{{key}}:{plan}", "ARGV[2]={now.ms}/{n}", "ARGV[1]={limit.rate} {limit.burst} {limit.count} {limit.window.s} {limit.window.ms}"}, &s)
	if err != nil {
		t.Fatal(err)
	}
	c := Call{Key: []byte("k"), Cost: 2, Values: [][]byte{[]byte("gold")}}
	f := m.fill(&c, "p:", moment{now: 1_500_000_000, number: 7})
	if f.keys[0] != "p:a:{k}:gold" || f.args[0] != "10 20 10 1 1000" && f.args[0] != "10 20 600 60 60000" || f.args[1] != "1500/7" || !m.clocked() || m.costed() {
		t.Errorf("%q %q", f.keys, f.args)
	}
	w, err := ParseMapping([]string{"KEYS[1]={key}:{window}", "KEYS[2]={key}:{window.before}"}, &s)
	if err != nil || !w.clocked() {
		t.Fatal(err)
	}
	if f := w.fill(&c, "p:", moment{now: 123_999_999_999}); f.keys[0] != "p:k:2" || f.keys[1] != "p:k:1" {
		t.Errorf("%q", f.keys)
	}
	if _, err := ParseMapping([]string{"KEYS[1]={window}"}, nil); err == nil {
		t.Error("a window without a limit")
	}
	for _, bad := range [][]string{{"KEYS[1]"}, {"KEYS[0]=x"}, {"FOO[1]=x"}, {"KEYS[2]=x"}, {"KEYS[1]={key"}, {"KEYS[1]={}"}, {"ARGV[1]={limit.queue}"}, {"KEYS[1]=a", "KEYS[1]=b"}, {"ARGV[99999]=x"}} {
		if _, err := ParseMapping(bad, &s); err == nil {
			t.Errorf("%q is a mapping", bad)
		}
	}
}

func TestMeanings(t *testing.T) {
	list := func(v ...any) any { return v }
	for _, tt := range []struct {
		admitted string
		reply    any
		cost     int64
		ok, bad  bool
	}{
		{"", int64(1), 1, true, false}, {"", int64(0), 1, false, false}, {"", nil, 1, false, false}, {"", "allowed", 1, true, false},
		{"", list(int64(0), int64(5)), 1, false, false}, {"", int64(7), 1, false, true},
		{"reply[1]>0", list(int64(3)), 1, true, false}, {"reply>=0", int64(-1), 1, false, false}, {"reply[2] == '1.0'", list("x", "1"), 1, true, false},
		{"reply!=nope", "yes", 1, true, false}, {"reply[1]==1", int64(1), 1, false, false}, {"reply[1]>=0", list("-1"), 1, false, false},
		{"reply=={cost}", int64(4), 4, true, false}, {"reply<2", "x", 1, false, false},
	} {
		m, err := ParseMeaning(tt.admitted, "reply[2] ms")
		if err != nil {
			t.Fatal(err)
		}
		ok, _, err := m.read(tt.reply, tt.cost)
		if ok != tt.ok || (err != nil) != tt.bad {
			t.Errorf("%q of %v is %v, %v", tt.admitted, tt.reply, ok, err)
		}
	}
	for _, bad := range [][2]string{{"reply", ""}, {"x==1", ""}, {"reply=1", ""}, {"", "reply[2]"}, {"", "x ms"}} {
		if _, err := ParseMeaning(bad[0], bad[1]); err == nil {
			t.Errorf("%q is a meaning", bad)
		}
	}
}
