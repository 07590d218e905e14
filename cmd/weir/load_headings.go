package main

// loadHeadings are how weir load --help lists its flags.
var loadHeadings = []heading{
	{"The traffic", []string{"profile", "rate", "duration", "requests", "clients", "behaviour", "keys", "key-prefix", "keys-file", "think", "max-attempts", "max-wait"}},
	{"The promise, and how it is judged", []string{"limit", "check", "refused", "refused-header", "refused-body", "admitted", "predict", "answer-time"}},
	{"Each request", []string{"key-header", "method", "header", "query", "body"}},
	{"The way to the target", []string{"owned", "spread", "connections", "connection-mode", "http2", "ca", "insecure", "proxy", "unix", "timeout", "drop-after", "max-body", "threads", "portable"}},
	{"The limiter's Redis", []string{"redis", "redis-user", "redis-password-file", "redis-ca", "redis-cert", "redis-key", "redis-insecure"}},
	{"The run and its result", []string{"dry-run", "tui", "seed", "events", "format", "json", "out", "quiet", "no-color", "help"}},
}
