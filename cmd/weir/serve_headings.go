package main

// serveHeadings are how weir serve --help lists its flags.
var serveHeadings = []heading{
	{"The limit", []string{"limit", "gateways", "design", "key-by", "key-header", "key-constant", "cost-header", "cost-query", "max-cost"}},
	{"Gateways and what is behind them", []string{"listen", "allow-remote", "unix", "ports-file", "tls", "cert", "cert-key", "cert-out",
		"upstream", "shed", "latency", "refusal-latency"}},
	{"Redis", []string{"redis", "redis-user", "redis-password-file", "redis-ca", "redis-cert", "redis-key", "redis-insecure",
		"start-without-redis", "fleet", "store-timeout", "breaker", "on-failure"}},
	{"Rules, and who may change them", []string{"rules-from", "rules-key", "rules-rollout", "admin", "admin-token-file", "admin-allow-remote"}},
	{"Callers", []string{"keys-file", "unknown-limit", "trust-proxy", "address-header", "ipv6-prefix"}},
	{"What callers are told", []string{"dialect", "retry-after", "retry-after-ms", "security-retry-after"}},
	{"Seen from outside", []string{"metrics", "decision-log", "decision-sample", "meter", "key-names", "allow-reset"}},
	{"Wrong on purpose", []string{"wrong", "fault-before", "fault-after"}},
	{"The run and its result", []string{"for", "seed", "quiet", "format", "json", "out", "help"}},
}
