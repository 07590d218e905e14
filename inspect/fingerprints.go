package inspect

// Script is a limiter's Lua script, by which a server, its slow log and its
// errors show who calls. Any change of a script gives it another hash, so one
// that is not here may be another version's.
type Script struct {
	SHA    string // SHA-1 of the text, in hex
	Layout string // of the state that it writes
	Name   string
	Seen   bool // on the wire; otherwise the hash is that of the published text
}

// Scripts are those that are known. Callers must not change them.
func Scripts() []Script { return scripts }

// ScriptOf is the script of that hash; ok is false when it is not known.
func ScriptOf(sha string) (s Script, ok bool) {
	for _, s := range scripts {
		if s.SHA == sha {
			return s, true
		}
	}
	return Script{}, false
}

var scripts = []Script{
	{"f52a5b566060d79fd321d695df55bc918339c4aa", "redis-rate", "redis_rate v10 allow", true},
	{"054143318f521948424aa25df61d7f7ba835a9d7", "redis-rate", "redis_rate v10 allow-at-most", true},
	{"ebd682e30de074a6919bde872b507734c7c3ebe5", "throttled", "throttled v2 compare-and-swap", false},
	{"f74233f556d3f99c50b61169cf8aa8d5deb63fb2", "ulule", "ulule v3 increment", true},
	{"566f5c6a17e5fddb9a10bf389f754edd0d899c61", "ulule", "ulule v3 peek", false},
	{"dc3b0cc6524eba86fae9d782e6b7a33ce0c1c6c2", "go-redisstore", "go-redisstore take", true},
	{"3d93177e9b9a18f241edddc8d7e7fa1c47ae4eb6", "traefik", "Traefik token bucket", false},
	{"a9e60ae5eb5b2afd1924613fe21400b92d3f8f07", "go-zero-period", "go-zero period limit", true},
	{"b7bb2fcc82b9c8fc49850e9223e78667a5387dbc", "go-zero-token", "go-zero token limit", true},
	{"ca685f7500773e4f5f26db6c231669744f141312", "tyk-rolling", "Tyk sliding log add", false},
	{"0ad5736ed1c04aae6ec194376c784b89b8c08a7a", "spring", "Spring Cloud Gateway request limiter (since 2021-11)", false},
	{"741eab638ba93ed71020bb821c45c022d0fa02c4", "python-limits-moving", "Python limits 5.8 acquire moving window", false},
	{"e8ac2a60cb040b0dbb56815a1e9c6fd032ce62e7", "python-limits-sliding", "Python limits 5.8 acquire sliding window", false},
	{"628bd136a573a06b346879695681af12ccef300f", "python-limits-fixed", "Python limits 5.8 incr + expire", false},
	{"ad795214f59fe26d6fdec07973836dd16586f5ec", "python-limits-moving", "Python limits 5.8 read moving window", false},
	{"e7a0a27d4101baabb124af209bb0245197a359a1", "python-limits-sliding", "Python limits 5.8 read sliding window, which writes", false},
	{"be8167afc95f25615961866ad639b736828f12b5", "pyrate-limiter", "pyrate-limiter 4.4 put", false},
	{"0062793a02789ad46415a13834aa36be5440bc24", "prorate", "prorate 0.7.3 rate limit", false},
	{"7f2a8e3a6bc2d29b1439463cba37cd5ff26a3df5", "prorate", "prorate 0.7.3 leaky bucket", false},
	{"1423a19b72cb77deae0f018a62c9d0d99ad191a0", "sidekiq-threshold", "sidekiq-throttled threshold", false},
	{"f745bdde8b37f524b8a45e0d3cc998f32a3dfca6", "sidekiq-concurrency", "sidekiq-throttled concurrency", false},
	{"895b92e1712734e1b464999be23953485475357b", "rate-limit-redis", "rate-limit-redis 6.0.1 increment", true},
	{"a1de965f42e177aa339706bd580f049065eca79a", "rate-limiter-flexible", "rate-limiter-flexible 11.4.0 incr + ttl", true},
	{"b13943e359636db027ad280f1def143f02158c13", "upstash-fixed", "@upstash/ratelimit 2.0.6 fixed window", true},
	{"e1391e429b699c780eb0480350cd5b7280fd9213", "upstash-sliding", "@upstash/ratelimit 2.0.6 sliding window", true},
	{"5bece90aeef8189a8cfd28995b479529e270b3c6", "upstash-token", "@upstash/ratelimit 2.0.6 token bucket", true},
	{"c26b12703dd137939b9a69a3a9b18e906a2d940f", "upstash-cached", "@upstash/ratelimit 2.0.6 cached fixed window", true},
	{"472e55443b62f60d0991028456c57815a387066d", "upstash-fixed", "Upstash fixed window, with dynamic limits (2026-03)", false},
	{"977fb636fb5ceb7e98a96d1b3a1272ba018efdae", "upstash-sliding", "Upstash sliding window, with dynamic limits (2026-03)", false},
	{"b35c5bc0b7fdae7dd0573d4529911cabaf9d1d89", "upstash-token", "Upstash token bucket, with dynamic limits (2026-03)", false},
	{"b2efc02798c8e9b471a10f9b1d5745db89923ff3", "upstash-fixed", "@upstash/ratelimit 2.2.0 fixed window, which plain Redis rejects", true},
	{"74740bb3d7792848093cdef586b6b6037c455fd6", "upstash-sliding", "@upstash/ratelimit 2.2.0 sliding window, which plain Redis rejects", true},
	{"d60be5bd3d83482ae229309f1f7425424f891204", "upstash-token", "@upstash/ratelimit 2.2.0 token bucket, which plain Redis rejects", true},
	{"1861a700bafe96c833a483af6b1c28a8897cfdb0", "upstash-cached", "@upstash/ratelimit 2.2.0 cached fixed window, which plain Redis rejects", true},
	{"ad00ff6f099013f2aea94ed48c220cbf616c6a07", "async-ratelimiter", "async-ratelimiter 1.6.10", true},
	{"b8a19d47785922bb04e7a9fdb49e90d89be1b8af", "fastify", "@fastify/rate-limit 11.2.0", true},
	{"f00a66a4159e8488fd6e3b8ccba92a8c602f2062", "bottleneck", "bottleneck 2.19.5 (one of its nine)", true},
	{"a9981050630e3925a2c740c80f07a1d0e24e78fb", "redis-gcra-ruby", "Ruby redis-gcra perform", false},
}
