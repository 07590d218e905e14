package replay

import (
	"fmt"
	"strings"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// Known is a script whose keys, arguments and reply are known.
type Known struct {
	Name     string
	About    string
	marks    []string // each stands in the script
	mapping  []string
	admitted string
	wait     string
}

// knownScripts are recognised by what stands in them, since versions differ in
// what does not matter. Limits are arguments of each call, so --limit fills
// them in.
var knownScripts = []Known{
	{
		Name: "redis_rate", About: "go-redis/redis_rate v9 and v10, allow",
		marks:    []string{"jan_1_2017", "emission_interval", "burst_offset", "if remaining < 0 then"},
		mapping:  []string{"KEYS[1]=rate:{key}", "ARGV[1]={limit.burst}", "ARGV[2]={limit.count}", "ARGV[3]={limit.window.s}", "ARGV[4]={cost}"},
		admitted: "reply[1]>0", wait: "reply[3] s",
	},
	{
		Name: "spring-cloud-gateway", About: "Spring Cloud Gateway's request_rate_limiter.lua",
		marks:    []string{"tokens_key", "timestamp_key", "fill_time", "filled_tokens", "redis.call('TIME')"},
		mapping:  []string{"KEYS[1]=request_rate_limiter.{{{key}}.tokens", "KEYS[2]=request_rate_limiter.{{{key}}.timestamp", "ARGV[1]={limit.rate}", "ARGV[2]={limit.burst}", "ARGV[3]=", "ARGV[4]={cost}"},
		admitted: "reply[1]==1",
	},
	{
		Name: "go-zero-token", About: "go-zero's tokenscript.lua, on its callers' clock",
		marks:    []string{"fill_time", "filled_tokens", "tonumber(ARGV[3])", "KEYS[2]"},
		mapping:  []string{"KEYS[1]={{{key}}.tokens", "KEYS[2]={{{key}}.ts", "ARGV[1]={limit.rate}", "ARGV[2]={limit.burst}", "ARGV[3]={now.s}", "ARGV[4]={cost}"},
		admitted: "reply==1",
	},
	{
		Name: "go-zero-period", About: "go-zero's periodscript.lua",
		marks:    []string{`"INCRBY", KEYS[1], 1`, "current == limit", "return 2"},
		mapping:  []string{"KEYS[1]={key}", "ARGV[1]={limit.count}", "ARGV[2]={limit.window.s}"},
		admitted: "reply>0",
	},
	{
		Name: "rate-limit-redis", About: "express-rate-limit's rate-limit-redis v4 and v5, increment",
		marks:    []string{"totalHits", "timeToExpire", "resetOnChange"},
		mapping:  []string{"KEYS[1]=rl:{key}", "ARGV[1]=0", "ARGV[2]={limit.window.ms}"},
		admitted: "reply[1]<={limit.count}", wait: "reply[2] ms",
	},
	{
		Name: "rate-limit-redis-6", About: "express-rate-limit's rate-limit-redis v6, increment",
		marks:    []string{"totalHits", "timeToExpire", "windowMs = tonumber(ARGV[1])"},
		mapping:  []string{"KEYS[1]=rl:{key}", "ARGV[1]={limit.window.ms}"},
		admitted: "reply[1]<={limit.count}", wait: "reply[2] ms",
	},
	{
		Name: "upstash-fixed-window", About: "@upstash/ratelimit 2.0, fixed window of one region",
		marks:    []string{`redis.call("INCRBY", key, incrementBy)`, `redis.call("PEXPIRE", key, window)`, "ARGV[2] -- increment rate"},
		mapping:  []string{"KEYS[1]=@upstash/ratelimit:{key}:{window}", "ARGV[1]={limit.window.ms}", "ARGV[2]={cost}"},
		admitted: "reply<={limit.count}",
	},
	{
		Name: "upstash-sliding-window", About: "@upstash/ratelimit 2.0, sliding window of one region",
		marks:    []string{"percentageInCurrent", "requestsInPreviousWindow", `redis.call("INCRBY", currentKey, incrementBy)`},
		mapping:  []string{"KEYS[1]=@upstash/ratelimit:{key}:{window}", "KEYS[2]=@upstash/ratelimit:{key}:{window.before}", "ARGV[1]={limit.count}", "ARGV[2]={now.ms}", "ARGV[3]={limit.window.ms}", "ARGV[4]={cost}"},
		admitted: "reply>=0",
	},
	{
		Name: "upstash-token-bucket", About: "@upstash/ratelimit 2.0, token bucket",
		marks:    []string{"refilledAt", "numRefills", "refillRate  = tonumber(ARGV[3])", "now         = tonumber(ARGV[4])"},
		mapping:  []string{"KEYS[1]=@upstash/ratelimit:{key}", "ARGV[1]={limit.burst}", "ARGV[2]={limit.window.ms}", "ARGV[3]={limit.count}", "ARGV[4]={now.ms}", "ARGV[5]={cost}"},
		admitted: "reply[1]>=0",
	},
}

// KnownScripts lists them.
func KnownScripts() []Known { return knownScripts }

// Recognise finds the script that src is, or nil.
func Recognise(src string) *Known {
	for i := range knownScripts {
		k := &knownScripts[i]
		all := true
		for _, m := range k.marks {
			all = all && strings.Contains(src, m)
		}
		if all {
			return k
		}
	}
	return nil
}

// Maps is the mapping, with the numbers of a limit in it, as texts.
func (k *Known) Maps() []string { return k.mapping }

// Meaning is what the reply says, in the forms of ParseMeaning.
func (k *Known) Meaning(spec *limit.Spec) (admitted, wait string) {
	n, _ := limitNumber(spec, "count")
	return strings.ReplaceAll(k.admitted, "{limit.count}", n), k.wait
}

// Own is weir's own script for a limit, with its mapping and its meaning.
func Own(spec limit.Spec) (*Script, []string, Meaning, error) {
	rule, err := redislimit.Compile(spec)
	if err != nil {
		return nil, nil, Meaning{}, err
	}
	source, args := rule.Source()
	maps := []string{"KEYS[1]=rl:{{{key}}:replay"}
	for i, a := range args {
		if i == 2 {
			a = "{cost}"
		}
		maps = append(maps, fmt.Sprintf("ARGV[%d]=%s", i+1, a))
	}
	m, err := ParseMeaning("reply[2]==1", "reply[3] us")
	return NewScript("weir's own "+spec.Algorithm.String(), source), maps, m, err
}
