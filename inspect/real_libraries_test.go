package inspect_test

import "time"

// library is a real limiter and how it is called.
type library struct {
	name     string
	driver   string            // the language
	library  string            // what the driver calls it; "" is the name
	layout   string            // what inspect calls its state
	prefix   string            // of the key's <id>
	hashed   string            // what stands before the id in the key's <hash>, a SHA-1; "" for no hash
	parts    map[string]string // what else stands in the key's name
	prefixes []string          // what <prefix> may be, by the library's version
	settings settings          // that the driver gives it
	limit    string            // the same, as an operator tells it
	ids      int               // customers
	fresh    int               // steps after which others come; 0 for never
	costs    int64             // the highest; some are above the capacity
	pause    time.Duration     // the longest between two calls, but for a few
	refusal  refusal
	wait     waits
	unsaid   bool          // what it says remains is something else
	rounding time.Duration // by how much its wait may be rounded
	// doubles is true where it computes in seconds since long ago, and so of a
	// full bucket may say that one less remains than passes.
	doubles   bool
	saysLimit bool // the state has the limit, so that nothing is known without it
}

// refusal is what a library says remains when it refuses a cost above 1.
type refusal uint8

const (
	saysRest refusal = iota // what remains
	saysZero                // 0, whatever remains
	takesAll                // 0, since what was refused counts
)

// waits is what a library's wait means.
type waits uint8

const (
	waitSame  waits = iota // until the refused call would have passed
	waitNext               // until the next one passes, now that this one counts, too
	waitOther              // something else, such as the end of a window
)

var libraries = []library{
	{name: "redis_rate", driver: "go", layout: "redis-rate", settings: settings{Rate: 20, Burst: 8}, limit: "gcra:rate=20/s,burst=8",
		ids: 4, costs: 9, pause: 25 * time.Millisecond, refusal: saysZero, rounding: time.Millisecond, doubles: true},
	{name: "redis_rate-slow", driver: "go", library: "redis_rate", layout: "redis-rate", settings: settings{Rate: 3, Burst: 10}, limit: "gcra:rate=3/s,burst=10",
		ids: 4, costs: 4, pause: 25 * time.Millisecond, refusal: saysZero, rounding: time.Millisecond, doubles: true},
	{name: "throttled", driver: "go", layout: "throttled", prefix: "throttle:", settings: settings{Rate: 20, Burst: 8}, limit: "gcra:rate=20/s,burst=8",
		ids: 4, costs: 9, pause: 25 * time.Millisecond},
	// Its keys end up to a second before it says so.
	{name: "throttled-slow", driver: "go", library: "throttled", layout: "throttled", prefix: "throttle:", settings: settings{Rate: 7, Burst: 20}, limit: "gcra:rate=7/s,burst=20",
		ids: 4, costs: 8, pause: 30 * time.Millisecond, wait: waitOther},
	{name: "ulule", driver: "go", layout: "ulule", settings: settings{Limit: 10, WindowMS: 500}, limit: "fixed-window:limit=10,window=500ms",
		ids: 4, costs: 3, pause: 25 * time.Millisecond, refusal: takesAll},
	{name: "go-zero-period", driver: "go", layout: "go-zero-period", prefix: "period#", settings: settings{Limit: 10, WindowMS: 1000}, limit: "fixed-window:limit=10,window=1s",
		ids: 4, costs: 1, pause: 20 * time.Millisecond},
	{name: "go-zero-token", driver: "go", layout: "go-zero-token", settings: settings{Rate: 5, Burst: 10}, limit: "5/s,burst=10",
		ids: 4, costs: 4, pause: 20 * time.Millisecond},

	{name: "rate-limit-redis", driver: "node", layout: "rate-limit-redis", settings: settings{Limit: 5, WindowMS: 400}, limit: "fixed-window:limit=5,window=400ms",
		ids: 4, costs: 1, pause: 20 * time.Millisecond, rounding: 2 * time.Millisecond},
	{name: "rate-limiter-flexible", driver: "node", layout: "rate-limiter-flexible", settings: settings{Limit: 15, WindowMS: 1000}, limit: "fixed-window:limit=15,window=1s",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, refusal: takesAll, rounding: time.Millisecond},
	// A refusal blocks for longer than a window.
	{name: "rate-limiter-flexible-block", driver: "node", library: "rate-limiter-flexible", layout: "rate-limiter-flexible",
		settings: settings{Limit: 10, WindowMS: 1000, BlockMS: 2000}, limit: "fixed-window:limit=10,window=1s",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, refusal: takesAll, wait: waitNext, rounding: time.Millisecond},
	// A duration below a second is none: what was used stays used.
	{name: "rate-limiter-flexible-short", driver: "node", library: "rate-limiter-flexible", layout: "rate-limiter-flexible",
		settings: settings{Limit: 15, WindowMS: 500}, limit: "fixed-window:limit=15,window=500ms",
		ids: 4, fresh: 60, costs: 3, pause: 20 * time.Millisecond, refusal: takesAll, wait: waitOther},
	{name: "upstash-fixed", driver: "node", layout: "upstash-fixed", settings: settings{Limit: 10, WindowMS: 500}, limit: "fixed-window:limit=10,window=500ms",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, refusal: takesAll, rounding: 2 * time.Millisecond},
	{name: "upstash-sliding", driver: "node", layout: "upstash-sliding", settings: settings{Limit: 10, WindowMS: 500}, limit: "sliding-counter:limit=10,window=500ms",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, refusal: saysZero, wait: waitOther},
	{name: "upstash-token", driver: "node", layout: "upstash-token", settings: settings{Rate: 10, Burst: 20, WindowMS: 1000}, limit: "10/s,burst=20",
		ids: 4, costs: 4, pause: 20 * time.Millisecond, refusal: saysZero, wait: waitOther},
	{name: "upstash-multi-fixed", driver: "node", layout: "upstash-multi-fixed", settings: settings{Limit: 10, WindowMS: 500}, limit: "fixed-window:limit=10,window=500ms",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, wait: waitOther, unsaid: true},
	{name: "upstash-multi-sliding", driver: "node", layout: "upstash-multi-sliding", settings: settings{Limit: 10, WindowMS: 500}, limit: "sliding-counter:limit=10,window=500ms",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, wait: waitOther, unsaid: true},
	{name: "nestjs", driver: "node", layout: "nestjs", parts: map[string]string{"rule": "default"},
		settings: settings{Limit: 5, WindowMS: 500, BlockMS: 300}, limit: "fixed-window:limit=5,window=500ms",
		ids: 4, costs: 1, pause: 20 * time.Millisecond, wait: waitOther},
	{name: "fastify", driver: "node", layout: "fastify", settings: settings{Limit: 5, WindowMS: 400}, limit: "fixed-window:limit=5,window=400ms",
		ids: 4, costs: 1, pause: 20 * time.Millisecond, rounding: time.Millisecond},
	{name: "fastify-continue", driver: "node", layout: "fastify", settings: settings{Limit: 4, WindowMS: 150}, limit: "fixed-window:limit=4,window=150ms",
		ids: 3, costs: 1, pause: 20 * time.Millisecond, wait: waitNext, rounding: time.Millisecond},
	{name: "fastify-backoff", driver: "node", layout: "fastify", settings: settings{Limit: 4, WindowMS: 250}, limit: "fixed-window:limit=4,window=250ms",
		ids: 3, fresh: 50, costs: 1, pause: 20 * time.Millisecond, wait: waitNext, rounding: time.Millisecond},
	{name: "ratelimiter", driver: "node", layout: "tj-ratelimiter", settings: settings{Limit: 6, WindowMS: 400}, limit: "sliding-log:limit=6,window=400ms",
		ids: 4, costs: 1, pause: 30 * time.Millisecond, wait: waitNext, rounding: 2 * time.Millisecond},
	{name: "async-ratelimiter", driver: "node", layout: "async-ratelimiter", settings: settings{Limit: 6, WindowMS: 500}, limit: "sliding-log:limit=6,window=500ms",
		ids: 4, costs: 1, pause: 20 * time.Millisecond},
	{name: "rolling-rate-limiter", driver: "node", layout: "rolling-rate-limiter", prefix: "rolling:", settings: settings{Limit: 9, WindowMS: 1000}, limit: "sliding-log:limit=9,window=1s",
		ids: 4, fresh: 100, costs: 1, pause: 25 * time.Millisecond, wait: waitNext, rounding: time.Millisecond},
	{name: "redis-gcra", driver: "node", layout: "redis-gcra-npm", parts: map[string]string{"prefix": "gcra:"}, settings: settings{Rate: 30, Burst: 8}, limit: "gcra:rate=30/s,burst=8",
		ids: 4, costs: 9, pause: 25 * time.Millisecond, rounding: time.Millisecond},
	{name: "bottleneck", driver: "node", layout: "bottleneck", settings: settings{Limit: 12, WindowMS: 500}, limit: "fixed-window:limit=12,window=500ms",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, saysLimit: true},
	{name: "bottleneck-increase", driver: "node", layout: "bottleneck", settings: settings{Rate: 3, Burst: 12, WindowMS: 250}, limit: "3/250ms,burst=12",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, saysLimit: true},
	{name: "bottleneck-time", driver: "node", layout: "bottleneck", settings: settings{WindowMS: 70}, limit: "concurrency:limit=1",
		ids: 3, costs: 1, pause: 20 * time.Millisecond, saysLimit: true},
	// A call that does not fit is dropped, and with it all others for a while.
	{name: "bottleneck-block", driver: "node", layout: "bottleneck", settings: settings{WindowMS: 60, BlockMS: 150}, limit: "concurrency:limit=1",
		ids: 3, costs: 1, pause: 20 * time.Millisecond, saysLimit: true},
	{name: "bullmq", driver: "node", layout: "bullmq", settings: settings{Limit: 5, WindowMS: 400}, limit: "fixed-window:limit=5,window=400ms",
		ids: 4, costs: 1, pause: 20 * time.Millisecond, rounding: time.Millisecond},

	{name: "limits-fixed", driver: "python", layout: "python-limits-fixed", parts: limitsKey, prefixes: limitsPrefixes, settings: settings{Limit: 12, WindowMS: 1000}, limit: "fixed-window:limit=12,window=1s",
		ids: 4, costs: 3, refusal: takesAll, pause: 20 * time.Millisecond},
	{name: "limits-moving", driver: "python", layout: "python-limits-moving", parts: limitsKey, prefixes: limitsPrefixes, settings: settings{Limit: 12, WindowMS: 1000}, limit: "sliding-log:limit=12,window=1s",
		ids: 4, costs: 3, pause: 20 * time.Millisecond},
	{name: "rack-attack", driver: "ruby", layout: "rack-attack", parts: map[string]string{"rule": "req/ip", "prefix": ""}, settings: settings{Limit: 10, WindowMS: 1000}, limit: "fixed-window:limit=10,window=1s",
		ids: 4, costs: 1, pause: 20 * time.Millisecond},
	{name: "rack-attack-ban", driver: "ruby", layout: "rack-attack-ban", parts: map[string]string{"rule": "allow2ban", "prefix": ""},
		settings: settings{Limit: 4, WindowMS: 2000, BlockMS: 1000}, limit: "fixed-window:limit=4,window=2s",
		ids: 4, costs: 1, pause: 20 * time.Millisecond},
	{name: "symfony-token", driver: "php", layout: "symfony", hashed: "login-", parts: symfonyKey, settings: settings{Rate: 8, Burst: 16, WindowMS: 1000}, limit: "8/s,burst=16",
		ids: 4, costs: 4, pause: 20 * time.Millisecond, wait: waitOther, saysLimit: true},
	{name: "symfony-fixed", driver: "php", layout: "symfony", hashed: "login-", parts: symfonyKey, settings: settings{Limit: 12, WindowMS: 1000}, limit: "fixed-window:limit=12,window=1s",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, wait: waitOther, saysLimit: true},
	{name: "symfony-sliding", driver: "php", layout: "symfony", hashed: "login-", parts: symfonyKey, settings: settings{Limit: 12, WindowMS: 1000}, limit: "sliding-counter:limit=12,window=1s",
		ids: 4, costs: 3, pause: 20 * time.Millisecond, wait: waitOther, saysLimit: true},
}

var symfonyKey = map[string]string{"prefix": "ns:"}

var limitsKey = map[string]string{"limit": "12", "multiple": "1", "period": "second"}

// limitsPrefixes are those of Python limits before and since 3.7.
var limitsPrefixes = []string{"LIMITER", "LIMITS:LIMITER"}
