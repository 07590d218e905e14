package replay

import "testing"

func TestDangers(t *testing.T) {
	for _, tt := range []struct {
		src  string
		line int // 0 is harmless
	}{
		{`return redis.call('GET', KEYS[1])`, 0},
		{"-- redis.call('FLUSHALL')\n--[[ redis.call('KEYS','*')\n]] return 'FLUSHALL'", 0},
		{`local rcall = redis.call; return rcall("INCR", KEYS[1])`, 0},
		{`redis.log(redis.LOG_NOTICE, 'KEYS'); return redis.error_reply('no KEYS')`, 0},
		{`local t = {load = 1}; return t.load`, 0},
		{"return 1\n  + redis.call( 'flushall' )", 2},
		{`redis.call "KEYS"`, 1},
		{`return redis.call[[SCRIPT]]`, 1},
		{`return redis.call('\070LUSHDB')`, 1},
		{`redis.pcall("Config", "SET", "save", "")`, 1},
		{"local c = redis.call\nc('SHUTDOWN')", 2},
		{`return redis.call('FLUSH' .. 'ALL')`, 1},
		{`return redis.call(ARGV[1], KEYS[1])`, 1},
		{`return redis['call']('FLUSHALL')`, 1},
		{`local r = redis; return r.call('FLUSHALL')`, 1},
		{`local f = loadstring("return redis.call('FLUSHALL')"); return f()`, 1},
		{`return pcall(redis.call, 'FLUSHALL')`, 1},
		{`local c = redis.call; local d = c; return d('FLUSHALL')`, 1},
		{`return _G.redis.call('FLUSHALL')`, 1},
		{"#!lua flags=no-writes\nreturn redis.call('DEBUG', 'SLEEP', 9)", 2},
		{`return server.call('EVAL', 'return 1', 0)`, 1},
		{`return redis.call('GET' and 'FLUSHALL')`, 1},
		{"local c = redis.call\nreturn c('GET' and 'FLUSHALL')", 2},
		{"-- a return ends the comment\rredis.call('FLUSHALL')", 2},
		{`local n = 0xE+redis.call('FLUSHALL')`, 1},
		{`local n = 0xA..redis.call('FLUSHALL')`, 1},
		{`local n = 1.5e-3+0xe-1; return redis.call('INCRBYFLOAT', KEYS[1], n)`, 0},
		{`local get = redis.call; get = 1; return {get = 2, a = KEYS.get}`, 1},
		{`local f = redis.call local g = {f}; return g[1]('FLUSHALL')`, 1},
		{`return setmetatable({}, {__index = getfenv()}).redis.call('FLUSHALL')`, 1},
		{`return redis . pcall ( ( 'FLUSHALL' ) )`, 1},
		{"redis.call('SET', KEYS[1], 1)\nredis.call('publish', 'resets', KEYS[1])", 2},
		{"redis.call('SPUBLISH', 'resets', KEYS[1])", 1},
		{`return (redis).call('FLUSHALL')`, 1},
		{`local f = redis.call; f = f or f; return f[1]`, 1},
	} {
		got := Dangers(tt.src)
		switch {
		case tt.line == 0 && len(got) > 0:
			t.Errorf("%s\n  is refused: %v", tt.src, got)
		case tt.line > 0 && (len(got) == 0 || got[0].Line != tt.line):
			t.Errorf("%s\n  found %v, want line %d", tt.src, got, tt.line)
		}
	}
}

func FuzzDangers(f *testing.F) {
	f.Add("local a = redis.call('GET', KEYS[1]) -- x\n[==[ y ]==]")
	f.Add(`"\12\`)
	f.Fuzz(func(t *testing.T, src string) {
		Dangers(src)
		if keys, args := Takes(src); keys < 0 || args < 0 {
			t.Fatal(keys, args)
		}
		// Whatever stands around it, a plain call is found unless the text
		// before leaves it in a comment or a string.
		if len(Dangers("redis.call('FLUSHALL')\n"+src)) == 0 {
			t.Fatalf("not found before %q", src)
		}
	})
}

func TestTakes(t *testing.T) {
	if k, a := Takes("local x = KEYS[2] -- ARGV[9]\nreturn ARGV[ 3 ]"); k != 2 || a != 3 {
		t.Errorf("takes %d and %d", k, a)
	}
}
