package redislimit

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
)

// everyScript is one of each main part with every letter that it may have.
func everyScript() map[string]*Script {
	all := uint32(0)
	out := map[string]*Script{}
	for _, a := range algorithms {
		all |= letterBit(a.letter)
		out["check:"+a.file] = scriptOf(scriptKey{"main", letterBit(a.letter)})
		if a.gives {
			out["lease:"+a.file] = scriptOf(scriptKey{"lease", letterBit(a.letter)})
			out["give:"+a.file] = scriptOf(scriptKey{"give", letterBit(a.letter)})
		}
	}
	out["release"] = releaseScript()
	out["check of all"] = scriptOf(scriptKey{"main", all})
	return out
}

var (
	loop = regexp.MustCompile(`(?m)^(for|while|repeat)\b.*`)
	// Over a request's limits, a limit's numbers, a fragment's fields and what
	// it read with a LIMIT.
	boundedLoop = regexp.MustCompile(`^for \w+ = 1, (n|\d+) do|^for \w+, \w+ in ipairs\(`)
	// Over the digits of a number, and halving a log.
	fewSteps = []string{"while n > 0 do", "for i = places, 1, -1 do", "while high - low > 1 do"}
	luaCall  = regexp.MustCompile(`redis\.p?call\(.*`)
	// One that names its command, and its key at once.
	plainCall = regexp.MustCompile(`^redis\.call\('[A-Z]+'(, key\b|, KEYS\[\w+\]|\))`)
)

func TestScriptsAreShortAndBounded(t *testing.T) {
	for name, s := range everyScript() {
		if most := 4_000 + 2_000*(strings.Count(s.name, "")-len("main:")); len(s.source) > most {
			t.Errorf("%s has %d bytes, %d are the most", name, len(s.source), most)
		}
		for _, found := range loop.FindAllString(s.source, -1) {
			if !boundedLoop.MatchString(found) && !slices.Contains(fewSteps, found) {
				t.Errorf("%s has a loop that a caller could make long: %s", name, found)
			}
		}
		for _, found := range luaCall.FindAllString(s.source, -1) {
			if !plainCall.MatchString(found) {
				t.Errorf("%s calls the server in a way that hides the command or the key: %s", name, found)
			}
		}
		for _, word := range []string{"'KEYS'", "SCAN", "FLUSH", "tostring", "cjson", "struct.", "bit.", "#!", "loadstring", "math.random", "HGETALL", "SMEMBERS"} {
			if strings.Contains(s.source, word) {
				t.Errorf("%s has %s", name, word)
			}
		}
		if strings.Contains(s.source, "--") {
			t.Errorf("%s has a comment", name)
		}
		if len(s.sha) != 40 {
			t.Errorf("%s has the digest %q", name, s.sha)
		}
	}
}

func TestScriptsAreShared(t *testing.T) {
	a, b := compile(t, "10/s,burst=20"), compile(t, "gcra:rate=1/s,burst=2")
	both := scriptFor([]Part{{Rule: a}, {Rule: b}})
	if scriptFor([]Part{{Rule: b}, {Rule: a}, {Rule: b}}) != both || both.name != "main:gt" {
		t.Errorf("another order has another script than %s", both.name)
	}
	if one := scriptFor([]Part{{Rule: a}}); one == both || one.sha == both.sha || one.name != "main:t" {
		t.Errorf("one algorithm has the script of two: %s", one.name)
	}
	if n := testing.AllocsPerRun(100, func() { scriptFor([]Part{{Rule: a}, {Rule: b}}) }); n > 1 {
		t.Errorf("finding a script allocates %v times", n)
	}
}

// A peek, a negative cost, and a request of several of which one can never pass
// write nothing: the server would refuse it in a read-only call.
func TestLooksWriteNothing(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		texts := []string{"fixed-window:limit=20,window=1s", "sliding-log:limit=20,window=1s", "sliding-counter:limit=20,window=1s", "concurrency:limit=20"}
		for _, b := range buckets {
			texts = append(texts, b.text)
		}
		for _, text := range texts {
			r := compile(t, text)
			fine, broken := Part{Key: "rl:{look}:fine-" + text, Rule: r, ID: "a"}, Part{Key: "rl:{look}:broken-" + text, Rule: r, ID: "b"}
			at := func(p Part, cost int64) Part { p.Cost = cost; return p }
			mustCheck(t, c, epoch, at(fine, 3))
			if strings.HasPrefix(text, "sliding-log") || strings.HasPrefix(text, "concurrency") {
				if err := c.ZAdd(t.Context(), broken.Key, redis.Z{Score: 5, Member: "x"}).Err(); err != nil {
					t.Fatal(err)
				}
			} else {
				put(t, c, broken.Key, map[string]string{"x": "y"})
			}
			for _, parts := range [][]Part{
				{at(fine, 0)}, {at(fine, -1)}, {at(broken, 0)}, {at(broken, -1)},
				{at(fine, 0), at(broken, 0)},
				{at(fine, 1), at(broken, 21)},
				{at(fine, -5), at(broken, 1)},
			} {
				keys, args := encode(nil, epoch, parts)
				reply, err := c.EvalRO(t.Context(), scriptFor(parts).source, keys, args...).Result()
				if err != nil {
					t.Errorf("%s, %+v: %v", text, parts, err)
					continue
				}
				if _, err := decode(reply, parts); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			}
			// And what does write is refused there, or nothing is proved.
			parts := []Part{at(fine, 1)}
			keys, args := encode(nil, epoch, parts)
			if err := c.EvalRO(t.Context(), scriptFor(parts).source, keys, args...).Err(); err == nil {
				t.Errorf("%s: a read-only call charged", text)
			}
			if a := mustCheck(t, c, epoch, at(fine, 0)); a.Remaining != 17 {
				t.Errorf("%s: %d left after looks at 17", text, a.Remaining)
			}
		}
	})
}

func TestRequestsThatAreNone(t *testing.T) {
	r := compile(t, "10/s,burst=20")
	many := make([]Part, maxParts+1)
	for i := range many {
		many[i] = Part{Key: strings.Repeat("k", i+1), Rule: r}
	}
	for _, parts := range [][]Part{many, {{Key: "k"}}, {{Rule: r}}, {many[0], many[1], many[0]}} {
		if checkParts(parts) == nil {
			t.Errorf("%d parts are a request: %+v", len(parts), parts)
		}
	}
	if err := checkParts(slices.Clone(many[:maxParts])); err != nil {
		t.Error(err)
	}
	if err := checkParts(nil); err != nil {
		t.Error(err)
	}
}
