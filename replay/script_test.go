package replay

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/report"
)

// remote is a real server to replay on.
func remote(t testing.TB) (*Remote, *redistest.Redis) {
	t.Helper()
	r := redistest.Server(t)
	c, err := NewRemote(t.Context(), r.Client(t))
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

// run makes a run of a script on an embedded store.
func run(t testing.TB, src string, maps ...string) *Run {
	t.Helper()
	m, err := ParseMapping(maps, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return &Run{Halves: []Half{{NewScript("test.lua", src), m}}, Store: e, Timeout: 10 * time.Second}
}

// Weir's own scripts decide as the pure limiters do on a storm and on mixed
// traffic, whichever store they run on.
func TestOwnScriptsEqualThePureLimiters(t *testing.T) {
	real, server := remote(t)
	for _, text := range []string{"10/s,burst=20", "gcra:rate=10/s,burst=20", "fixed-window:limit=30,window=3s", "sliding-log:limit=30,window=3s",
		"sliding-counter:limit=30,window=3s", "leaky-meter:rate=10/s,burst=20", "leaky-queue:rate=10/s,queue=19"} {
		for name, trace := range map[string]string{"storm": stormTrace(2000), "mixed": mixedTrace(2000)} {
			s := spec(t, text)
			for _, form := range []struct {
				store       Store
				conns, pipe int
			}{{nil, 1, 1}, {real, 1, 1}, {real, 4, 16}} {
				r := ownRun(t, s)
				if form.store != nil {
					r.Store, r.Connections, r.Pipeline = form.store, form.conns, form.pipe
				}
				out, err := r.Do(t.Context(), open(t, trace, Options{}))
				if err != nil {
					t.Fatal(text, err)
				}
				d := out.Replay.Against
				if d.Differing() != 0 || d.Calls != 2000 || d.BothRefused == 0 || d.BothAdmitted == 0 {
					t.Errorf("%s on %s, %s, %d connections: %+v; first %+v", text, out.Replay.Script.Server, name, form.conns, d, d.First)
				}
				for _, f := range out.Findings {
					if strings.HasPrefix(f.ID, "script-") {
						t.Errorf("%s: %s: %s", text, f.ID, f.Text)
					}
				}
			}
		}
	}
	if left := server.CLI("DBSIZE"); left != "0" {
		t.Errorf("%s keys were left behind", left)
	}
}

const fixedWindow = `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
if n > tonumber(ARGV[2]) then return {0, redis.call('PTTL', KEYS[1])} end
return {1, 0}`

// Virtual time is real time: a script that counts by TTL decides the same on
// the embedded store as on a server at the recorded speed.
func TestVirtualTimeIsRealTime(t *testing.T) {
	// Nothing is near the end of a window, which opens at the first call.
	trace := "t,key,verdict\n0,k,1\n0.01,k,1\n0.02,k,0\n0.03,k,0\n0.25,k,0\n0.26,k,0\n0.27,k,0\n0.28,k,0\n1.1,k,1\n"
	maps := []string{"KEYS[1]={key}", "ARGV[1]=600", "ARGV[2]=2"}
	real, _ := remote(t)
	for _, serverClock := range []bool{false, true} {
		r := run(t, fixedWindow, maps...)
		if serverClock {
			r.Store, r.ServerClock, r.Speed = real, true, 1
		}
		out, err := r.Do(t.Context(), open(t, trace, Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if out.Totals.Admitted != 3 || out.Totals.Refused != 6 || out.Replay.Recorded.Differing() != 0 {
			t.Errorf("%s: admitted %d, refused %d; %+v", out.Replay.Script.Clock, out.Totals.Admitted, out.Totals.Refused, out.Replay.Recorded.First)
		}
	}
}

// A check made of two calls lets through what comes between, and a caller's
// clock gives time away.
func TestRacyAndSkewedScriptsAreFound(t *testing.T) {
	s := spec(t, "10/s,burst=20")
	const read = `local v = redis.call('HMGET', KEYS[1], 'n', 't')
local t = redis.call('TIME')
local now = tonumber(t[1]) * 1000000 + tonumber(t[2])
local n = 20
if v[1] then n = math.min(20, tonumber(v[1]) + (now - tonumber(v[2])) * 10 / 1000000) end
return {n >= 1 and 1 or 0, string.format('%.6f', n), string.format('%.0f', now)}`
	const write = `if ARGV[1] == '0' then return 0 end
redis.call('HSET', KEYS[1], 'n', string.format('%.6f', tonumber(ARGV[2]) - 1), 't', ARGV[3])
redis.call('PEXPIRE', KEYS[1], 4000)
return 1`
	racy := run(t, read, "KEYS[1]={key}")
	m, err := ParseMapping([]string{"KEYS[1]={key}", "ARGV[1]={reply[1]}", "ARGV[2]={reply[2]}", "ARGV[3]={reply[3]}"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	racy.Halves = append(racy.Halves, Half{NewScript("write.lua", write), m})
	racy.Apart = 20 * time.Millisecond
	racy.Against, racy.Limit, racy.Promise = &s, &s, &report.Promise{Text: s.String(), Units: 10, Per: 1e9, Burst: 20}
	out, err := racy.Do(t.Context(), open(t, stormTrace(4000), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if out.Verdict != report.Broken || !foundIn(out, FindHalves) || out.Replay.Against.OnlyHere < 100 {
		t.Errorf("racy: %s, %v, %+v", out.Verdict, ids(out), out.Replay.Against)
	}
	if f := out.Replay.Against.First; f == nil || !strings.Contains(f.Before, "n=") || !strings.Contains(f.ThereBefore, "left") {
		t.Errorf("the first difference is %+v", f)
	}

	const skewed = `local v = redis.call('HMGET', KEYS[1], 'n', 't')
local now, n = tonumber(ARGV[1]), 20
if v[1] then n = math.min(20, tonumber(v[1]) + math.max(0, now - tonumber(v[2])) * 10 / 1000000) end
local ok = n >= 1
if ok then n = n - 1 end
redis.call('HSET', KEYS[1], 'n', string.format('%.6f', n), 't', ARGV[1])
redis.call('PEXPIRE', KEYS[1], 4000)
return ok and 1 or 0`
	for _, skew := range []time.Duration{0, time.Second} {
		r := run(t, skewed, "KEYS[1]={key}", "ARGV[1]={now.us}")
		r.Skew, r.Limit, r.Promise = skew, &s, racy.Promise
		out, err := r.Do(t.Context(), open(t, stormTrace(4000), Options{}))
		if err != nil {
			t.Fatal(err)
		}
		if broken := out.Verdict == report.Broken; broken != (skew > 0) || !foundIn(out, FindClock) {
			t.Errorf("skewed by %v: %s, %v", skew, out.Verdict, ids(out))
		}
	}
}

func ids(r *report.Result) (ids []string) {
	for _, f := range r.Findings {
		ids = append(ids, f.ID)
	}
	return ids
}

func foundIn(r *report.Result, id string) bool {
	for _, f := range r.Findings {
		if f.ID == id {
			return true
		}
	}
	return false
}

// Scripts that are gone are loaded again and no call is lost or run twice; a
// server that is killed forgets its keys.
func TestDrills(t *testing.T) {
	s := spec(t, "10/s,burst=20")
	each := func(name string, store func(t *testing.T, r *Run)) {
		t.Run(name, func(t *testing.T) {
			r := ownRun(t, s)
			r.Drill = &Drill{FlushScripts: time.Second, Kill: -1}
			store(t, r)
			out, err := r.Do(t.Context(), open(t, stormTrace(1200), Options{}))
			if err != nil {
				t.Fatal(err)
			}
			if sc := out.Replay.Script; sc.NoScript != 1 || sc.Failed != 0 || out.Replay.Against.Differing() != 0 {
				t.Errorf("flushed: %+v, %+v", sc, out.Replay.Against)
			}
			r = ownRun(t, s)
			r.Drill = &Drill{FlushScripts: -1, Kill: time.Second}
			store(t, r)
			out, err = r.Do(t.Context(), open(t, stormTrace(1200), Options{}))
			if err != nil {
				t.Fatal(err)
			}
			// The bucket is full again: up to 20 calls more pass.
			if sc := out.Replay.Script; sc.NoScript < 1 || sc.Failed > 2 || out.Replay.Against.OnlyHere < 15 || out.Replay.Against.OnlyHere > 20 || len(out.Notes) == 0 {
				t.Errorf("killed: %+v, %+v, %q", sc, out.Replay.Against, out.Notes)
			}
		})
	}
	each("embedded", func(*testing.T, *Run) {})
	each("real", func(t *testing.T, r *Run) {
		store, server := remote(t)
		r.Store = store
		r.Drill.Restart = func() error { server.Restart(); return nil }
	})
}

func TestScriptErrors(t *testing.T) {
	real, server := remote(t)
	embedded := run(t, "return 1").Store
	for _, store := range []Store{embedded, real} {
		r := run(t, "local a = 1\nlocal b = = 2\nreturn a", "KEYS[1]={key}")
		r.Store = store
		_, err := r.Do(t.Context(), open(t, "0,k\n", Options{}))
		var bad *ScriptError
		if !errors.As(err, &bad) || bad.Line != 2 || bad.Text != "local b = = 2" {
			t.Errorf("%s: a syntax error is %v", store.Name(), err)
		}
		// One that fails half of the time goes on.
		r = run(t, "if ARGV[1] == '2' then error('two') end\nreturn 1", "KEYS[1]={key}", "ARGV[1]={cost}")
		r.Store = store
		out, err := r.Do(t.Context(), open(t, "0,k,1\n0,k,2\n0,k,3\n", Options{}))
		if err != nil || out.Totals.Failed != 1 || out.Totals.Admitted != 2 || !strings.Contains(out.Replay.Script.FirstError, "two") {
			t.Errorf("%s: %+v, %v", store.Name(), out, err)
		}
		// A reply without a meaning is said once.
		r = run(t, "return 7", "KEYS[1]={key}")
		r.Store = store
		_, err = r.Do(t.Context(), open(t, "0,k\n", Options{}))
		var meaning *MeaningError
		if !errors.As(err, &meaning) || meaning.Reply != "7" {
			t.Errorf("%s: a reply of 7 is %v", store.Name(), err)
		}
	}
	// A reply that holds itself has an end, and is not shown whole.
	r := run(t, "local t = {} for i = 1, 40 do t[i] = t end return t", "KEYS[1]={key}")
	out, err := r.Do(t.Context(), open(t, "0,k\n", Options{}))
	if err != nil || out.Totals.Failed != 1 || !strings.Contains(out.Replay.Script.FirstError, "more than 1048576 values") {
		t.Errorf("%+v, %v", out, err)
	}
	for _, store := range []Store{embedded, real} {
		r = run(t, "local t = {} t[1] = t return t", "KEYS[1]={key}")
		r.Store = store
		if _, err = r.Do(t.Context(), open(t, "0,k\n", Options{})); err == nil || len(err.Error()) > 100 {
			t.Errorf("%s: %v", store.Name(), err)
		}
	}
	// The shim keeps a script on a server to the scratch prefix.
	for _, clock := range []bool{false, true} {
		r = run(t, "return redis.call('INCR', 'elsewhere')", "KEYS[1]={key}")
		r.Store, r.ServerClock, r.Speed = real, clock, 1
		out, err = r.Do(t.Context(), open(t, "0,k\n", Options{}))
		if err != nil || out.Totals.Failed != 1 || !strings.HasSuffix(out.Replay.Script.FirstError, "outside of the scratch prefix: elsewhere") || server.CLI("EXISTS", "elsewhere") != "0" {
			t.Errorf("%+v, %v", out.Replay.Script, err)
		}
	}
}

// A script that never ends is ended, and the server serves on.
func TestEndlessScript(t *testing.T) {
	real, server := remote(t)
	server.CLI("CONFIG", "SET", "busy-reply-threshold", "100")
	for _, store := range []Store{run(t, "return 1").Store, real} {
		r := run(t, "while true do end", "KEYS[1]={key}")
		r.Store, r.Timeout = store, 300*time.Millisecond
		_, err := r.Do(t.Context(), open(t, "0,k\n", Options{}))
		var stuck *StuckError
		if !errors.As(err, &stuck) || stuck.Killed != nil {
			t.Errorf("%s: %v", store.Name(), err)
		}
		if a := one(t.Context(), store, "PING"); a.err != nil {
			t.Errorf("%s does not serve: %v", store.Name(), a.err)
		}
	}
}

// A server is not given a script that writes and then never ends, which nobody
// could end there.
func TestEndlessScriptThatWrites(t *testing.T) {
	real, server := remote(t)
	r := run(t, "redis.call('SET', KEYS[1], 1) while true do end", "KEYS[1]={key}")
	second := run(t, "redis.call('SET', KEYS[1], 1) while ARGV[1] == '7' do end", "KEYS[1]={key}", "ARGV[1]={reply[1]}")
	second.Halves = append(run(t, "return {7}", "KEYS[1]={key}").Halves, second.Halves...)
	for _, r := range []*Run{r, second} {
		r.Store, r.Timeout = real, 300*time.Millisecond
		_, err := r.Do(t.Context(), open(t, "0,k\n", Options{}))
		var stuck *StuckError
		if !errors.As(err, &stuck) || stuck.Killed != nil || !stuck.Own {
			t.Error(err)
		}
		if got := server.CLI("PING"); got != "PONG" {
			t.Fatal(got)
		}
	}
	b := &Bench{Client: server.Client(t).(*redis.Client), Scripts: r.Halves, Connections: []int{1}, Pipelines: []int{1}, Each: 10 * time.Millisecond, Keys: 1}
	if _, err := b.Run(t.Context()); !errors.Is(err, ErrStuck) || server.CLI("PING") != "PONG" {
		t.Error(err)
	}
}

// A script that ends by itself when it is about to be killed leaves no keys.
func TestLateScriptLeavesNoKeys(t *testing.T) {
	real, server := remote(t)
	server.CLI("CONFIG", "SET", "busy-reply-threshold", "60000")
	if err := real.kill(t.Context()); !errors.Is(err, errEnded) {
		t.Fatal(err)
	}
	r := run(t, "for i = 1, ARGV[1] == '2' and 9e5 or 0 do redis.call('GET', KEYS[1]) end redis.call('SET', KEYS[1], 1) return 1", "KEYS[1]={key}", "ARGV[1]={n}")
	r.Store, r.Timeout = real, 300*time.Millisecond
	_, err := r.Do(t.Context(), open(t, "0,k\n1,k\n", Options{}))
	var stuck *StuckError
	if !errors.As(err, &stuck) || !stuck.Late || !strings.HasSuffix(err.Error(), "but soon after") {
		t.Error(err)
	}
	if n := server.CLI("DBSIZE"); n != "0" {
		t.Errorf("%s keys are left: %s", n, server.CLI("KEYS", "*"))
	}
}

// An interrupt does not leave a script that never ends on the server.
func TestInterruptEndsAnEndlessScript(t *testing.T) {
	real, server := remote(t)
	server.CLI("CONFIG", "SET", "busy-reply-threshold", "100")
	for _, conns := range []int{1, 2} {
		ctx, cancel := context.WithCancel(t.Context())
		r := run(t, "while ARGV[1] == '2' do end return 1", "KEYS[1]={key}", "ARGV[1]={n}")
		r.Store, r.Timeout, r.Connections = real, time.Minute, conns
		done := make(chan error, 1)
		src := open(t, strings.Repeat("0,k\n", 100), Options{})
		go func() {
			_, err := r.Do(ctx, src)
			done <- err
		}()
		for server.Client(t).Ping(t.Context()).Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("on %d connections: %v", conns, err)
		}
		if got := server.CLI("PING"); got != "PONG" {
			t.Fatalf("on %d connections the server is left with it: %s", conns, got)
		}
	}
}

// What a script wrote before it got stuck goes away, and what cannot go is told.
func TestScratchKeysGo(t *testing.T) {
	real, server := remote(t)
	server.CLI("CONFIG", "SET", "busy-reply-threshold", "100")
	r := run(t, "if ARGV[1] == '2' then while true do end end redis.call('SET', KEYS[1], 1) return 1", "KEYS[1]={key}", "ARGV[1]={n}")
	r.Store, r.Timeout = real, 300*time.Millisecond
	_, err := r.Do(t.Context(), open(t, "0,k\n1,k\n", Options{}))
	if !errors.Is(err, ErrStuck) {
		t.Error(err)
	}
	if n := server.CLI("DBSIZE"); n != "0" {
		t.Errorf("%s keys are left: %s, %v", n, server.CLI("KEYS", "*"), err)
	}
	server.CLI("SET", "weir-replay:x:k", "1")
	server.CLI("CONFIG", "SET", "busy-reply-threshold", "5000")
	server.CLI("ACL", "SETUSER", "default", "-scan")
	var left *LeftoverError
	if _, err = clearScratch(t.Context(), real, "weir-replay:x:", context.Canceled); !errors.As(err, &left) || !strings.Contains(err.Error(), "weir-replay:x:*") {
		t.Error(err)
	}
	worse := errors.New("worse")
	if _, err = clearScratch(t.Context(), real, "weir-replay:x:", worse); !errors.Is(err, worse) || !strings.Contains(err.Error(), "weir-replay:x:*") {
		t.Error(err)
	}
}

func TestScriptDiffersFromTheRecorded(t *testing.T) {
	r := run(t, fixedWindow, "KEYS[1]={key}", "ARGV[1]=1000", "ARGV[2]=1")
	out, err := r.Do(t.Context(), open(t, "t,key,verdict\n0,k,admitted\n0.1,k,admitted\n0.2,k,refused\n", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if d := out.Replay.Recorded; d.OnlyThere != 1 || d.BothAdmitted != 1 || d.BothRefused != 1 || d.First.Line != 3 {
		t.Errorf("%+v", d)
	}
}

func TestInterruptedRunIsShown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := ownRun(t, spec(t, "10/s,burst=20"))
	r.Progress = func(n int64) {
		if n >= 512 {
			cancel()
		}
	}
	out, err := r.Do(ctx, open(t, stormTrace(100_000), Options{}))
	if !errors.Is(err, context.Canceled) || out == nil || !out.Interrupted || out.Totals.Offered > 1024 {
		t.Errorf("%+v, %v", out, err)
	}
}

// A key that is hidden shows nowhere: not in rows, states, findings or errors.
func TestHiddenKeys(t *testing.T) {
	s := spec(t, "10/s,burst=1")
	real, _ := remote(t)
	for _, store := range []Store{nil, real} {
		r := run(t, "if ARGV[1] == '2' then return redis.call('GET', 'x' .. KEYS[1] .. ARGV[1]) end\nredis.call('INCR', KEYS[1] .. ':n'); redis.call('GET', KEYS[2]); return 1", "KEYS[1]={key}", "KEYS[2]={key}2", "ARGV[1]={cost}")
		if store != nil {
			r.Store = store
		}
		r.Hidden, r.Against, r.Limit = true, &s, &s
		out, err := r.Do(t.Context(), open(t, "0,topsecret,1\n0,topsecret,1\n0,topsecret,2\n0,topsecret,x\n", Options{Hidden: true}))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := report.WriteJSON(&b, out); err != nil {
			t.Fatal(err)
		}
		if out.Replay.Against.First == nil || !foundIn(out, FindUndeclared) || out.Replay.Trace.Broken != 1 {
			t.Errorf("the run shows too little to prove anything: %v", ids(out))
		}
		if i := strings.Index(b.String(), "topsecret"); i >= 0 {
			t.Errorf("%s shows the key: %s", out.Replay.Script.Server, b.String()[max(0, i-200):i+40])
		}
	}
}
