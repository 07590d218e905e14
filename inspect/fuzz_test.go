package inspect

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/weir-cli/weir/limit"
)

// hostileEntries are all keys of a layout with texts in every place. None when
// the forms of its names take nothing that this makes up.
func hostileEntries(l *Layout, a, b string, score float64, ttl int64) []Entry {
	parts := map[string]string{"id": "k-7", "rule": "r", "route": "r", "service": "s", "prefix": "rl", "window": "29932967", "limit": "5", "multiple": "2", "period": "minute", "version": "1", "day": "2026-11-29", "slot": "1", "dependency": "0", "seconds": "60", "by": "ip", "key": "x", "counter": `{"limit":{"seconds":60},"set_variables":{"u":"\x1b"}}`}
	if l.Decode.Window == "start" {
		parts["window"] = "1795977960"
	}
	if !hostileParts(l, parts) {
		return nil
	}
	id := parts["id"]
	if !strings.ContainsAny(a, ":{}./") && a != "" && len(a) < 40 {
		parts["id"] = a
	}
	var out []Entry
	for i := range l.Keys {
		k := &l.Keys[i]
		name, missing := k.Name.Fill(parts)
		if missing != "" {
			parts["id"] = id
			name, _ = k.Name.Fill(parts)
		}
		e := Entry{Key: name, Type: k.Type, TTL: time.Duration(ttl), Idle: time.Duration(ttl), Bytes: ttl, Slot: -1, Len: 3, Text: []byte(a), Fields: map[string]string{}}
		for j, field := range append(append([]string{}, k.Fields...), k.Optional...) {
			e.Fields[field] = []string{a, b}[j%2]
		}
		e.Members = []Member{{a, score}, {b, score + 1}, {"limit=" + a + " window=" + b, score + 2}, {a + ":" + b, score}}
		e.Truncated = score > 1e10
		e.Head = 2
		if ttl%7 == 3 && i > 0 {
			e.TTL, e.Type = NoKey, "none"
		}
		out = append(out, e)
		a, b = b, a
	}
	return out
}

// hostileParts makes parts fit the names of all keys of a layout: those given
// stay, or others come where its forms cannot have them.
func hostileParts(l *Layout, parts map[string]string) bool {
	var vary []string
	for _, name := range l.Keys[0].Name.Names() {
		if _, ok := parts[name]; !ok || name == "prefix" || name == "window" || name == "id" || name == "rule" {
			vary = append(vary, name)
		}
	}
	others := []string{"LIMITER", "fail2ban", "rl:", "fastapi-limiter", "29932967", "1795978140000000000", "1795977960", strings.Repeat("a", 27) + "="}
	for _, digits := range []int{1, 32, 40, 64} {
		others = append(others, strings.Repeat("1", digits))
	}
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(vary) {
			_, missing := l.Keys[0].Name.Fill(parts)
			return missing == ""
		}
		before, had := parts[vary[i]]
		if had && try(i+1) {
			return true
		}
		for _, value := range others {
			if parts[vary[i]] = value; try(i + 1) {
				return true
			}
		}
		if delete(parts, vary[i]); had {
			parts[vary[i]] = before
		}
		return false
	}
	return try(0)
}

// Whatever a server sends, decoding ends, what it says can be printed, and
// what passes now is what needs no wait.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(0), "1795978030", "19", 1.0, int64(time.Minute), int64(1795978030880559000), uint8(0))
	for i := range Builtin() {
		f.Add(uint8(i), "1795978030", "0.5", 1795978030881.0, int64(time.Second), int64(1795978030880559000), uint8(i))
	}
	f.Add(uint8(9), "312749231.58055902", "-1", -4.0, int64(-1), int64(1795978030880559000), uint8(1))
	f.Add(uint8(20), "1e308", "9007199254740991", 1.7959780338831844e+18, int64(1), int64(0), uint8(2))
	f.Add(uint8(30), "9223372036854775807", "-9223372036854775808", math.Inf(1), int64(-1), int64(math.MaxInt64), uint8(3))
	f.Add(uint8(33), "", "\x1b[2J", math.NaN(), int64(-2), int64(math.MaxInt64/2), uint8(4))
	limits := []string{"10/s,burst=20", "fixed-window:limit=10,window=60s", "concurrency:limit=4", "leaky-queue:rate=1000000/s,queue=1000", "1/100h,burst=2", ""}
	f.Fuzz(func(t *testing.T, which uint8, a, b string, score float64, ttl, now int64, how uint8) {
		all := Builtin()
		l := all[int(which)%len(all)]
		var told *limit.Spec
		if text := limits[int(how)%len(limits)]; text != "" {
			s, err := limit.ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			told = &s
		}
		// The time is the server's TIME, which is after 1970 and before 2200.
		now = max(0, min(now, 7_258_118_400_000_000_000))
		entries := hostileEntries(l, a, b, score, max(-1, min(ttl, math.MaxInt64/2)))
		if len(entries) == 0 {
			t.Fatalf("%s: no name was made up for its keys", l.Name)
		}
		for i := range entries {
			Identify(&entries[i], all, now)
		}
		r, err := Decode(l, entries, now, told)
		if err != nil {
			t.Fatalf("%s: %v", l.Name, err)
		}
		for _, s := range r.Sentences(1) {
			if strings.ContainsFunc(s, unicode.IsControl) || len(s) > 2000 {
				t.Fatalf("%s says %q", l.Name, s)
			}
		}
		if r.Remaining == nil {
			return
		}
		left, most := *r.Remaining, *r.Capacity
		if left < 0 || left > most {
			t.Fatalf("%s: %d of %d left", l.Name, left, most)
		}
		last := time.Duration(0)
		costs := []int64{1, 2, left, left + 1, most, most + 1}
		slices.Sort(costs)
		for _, cost := range costs {
			wait, known := r.Wait(cost)
			if !known || (wait == 0) != (max(cost, 1) <= left) {
				t.Fatalf("%s: %d left, and a call of %d waits %v", l.Name, left, cost, wait)
			}
			if cost > most && wait != limit.Never {
				t.Fatalf("%s: a call of %d above %d waits %v", l.Name, cost, most, wait)
			}
			if cost > left && wait > 0 && cost <= most {
				if wait < last {
					t.Fatalf("%s: a dearer call waits %v, less than %v", l.Name, wait, last)
				}
				last = wait
			}
		}
	})
}

func FuzzReadLayouts(f *testing.F) {
	for _, l := range Builtin() {
		f.Add(l.Text)
	}
	f.Add("name: [")
	f.Add("- name: x\n  keys: [{role: a, name: \"<id\", type: string}]")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadLayouts("f.yaml", []byte(text))
		if err != nil {
			return
		}
		for _, l := range list {
			for _, e := range hostileEntries(l, "1", "2", 3, 4) {
				l.Match(&e, 5)
			}
		}
	})
}

// A name that is made up says what it was made of.
func FuzzPattern(f *testing.F) {
	f.Add("rate:<id>", "user:42")
	f.Add("{<id:tag>:<rule:word>}:hits<window-1>", "12")
	f.Add("<<<id:hex>", "ab")
	f.Fuzz(func(t *testing.T, text, value string) {
		p, err := ParsePattern(text)
		if err != nil {
			return
		}
		values := map[string]string{}
		for _, name := range p.Names() {
			values[name] = value
		}
		key, missing := p.Fill(values)
		if missing != "" {
			return
		}
		if _, ok := p.Match(key); !ok {
			t.Fatalf("%q does not fit %q", key, text)
		}
		_ = p.Glob()
	})
}
