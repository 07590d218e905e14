package redislimit

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Script stands in until the fragments are here: every part is a counter
// that admits while it is at most its first number.
type Script struct{ name, source, sha string }

var counter = newScript("counter", `
local t = redis.call('TIME')
local out = {t[1] * 1000000 + t[2]}
local ok, n = 1, {}
for i = 1, #KEYS do
  n[i] = tonumber(redis.call('HGET', KEYS[i], 'n') or '0')
  if n[i] + ARGV[8*i-5] > tonumber(ARGV[8*i-3]) then ok = 0 end
end
for i = 1, #KEYS do
  if ok == 1 then
    n[i] = n[i] + ARGV[8*i-5]
    redis.call('HSET', KEYS[i], 'n', n[i])
    redis.call('PEXPIRE', KEYS[i], 60000)
  end
  for _, v in ipairs({ok, ok == 1 and 0 or 1000, ARGV[8*i-3] - n[i], 1000, 0, 0}) do out[#out+1] = v end
end
return out`)

func newScript(name, source string) *Script {
	sum := sha1.Sum([]byte(source))
	return &Script{name: name, source: source, sha: hex.EncodeToString(sum[:])}
}

func scriptFor([]Part) *Script { return counter }

func Compile(spec limit.Spec) (*Rule, error) {
	return &Rule{spec: spec, letter: "t", numbers: [ruleNumbers]string{strconv.FormatInt(spec.Burst, 10)}, most: spec.Burst}, nil
}

func encode(dst []any, now int64, parts []Part) (keys []string, args []any) {
	args = append(dst, "")
	for _, p := range parts {
		keys = append(keys, p.Key)
		args = append(args, p.Rule.letter, strconv.FormatInt(p.Cost, 10), p.ID)
		for _, n := range p.Rule.numbers {
			args = append(args, n)
		}
	}
	return keys, args
}

func decode(reply any, parts []Part) (Answer, error) {
	list, ok := reply.([]any)
	if !ok || len(list) != 1+6*len(parts) {
		return Answer{}, errors.New("bad reply")
	}
	var a Answer
	a.OK, a.At = true, list[0].(int64)*1000
	for i := range parts {
		d := limit.Decision{OK: list[1+6*i].(int64) == 1, RetryAfter: time.Duration(list[2+6*i].(int64)) * time.Microsecond, Remaining: list[3+6*i].(int64)}
		a.Parts = append(a.Parts, d)
		if !d.OK {
			a.OK, a.By = false, i
		}
	}
	return a, nil
}
