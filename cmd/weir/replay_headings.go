package main

// replayHeadings are how weir replay --help lists its flags.
var replayHeadings = []heading{
	{"What decides, and what it is held against", []string{"limit", "rules", "against", "check"}},
	{"The trace", []string{"trace-format", "time-field", "key-field", "cost-field", "plan-field", "verdict-field", "refused", "strict", "key-names"}},
	{"A profile instead of a trace", []string{"profile", "duration", "answer-time", "seed"}},
	{"A script", []string{"trace", "map", "admitted-if", "wait", "then", "map-then", "apart", "skew", "sha", "any-script", "allow-dangerous"}},
	{"A script on a server", []string{"redis", "redis-user", "redis-password-file", "redis-ca", "redis-cert", "redis-key", "redis-insecure",
		"clock", "speed", "connections", "pipeline", "script-timeout", "flush-scripts-at", "kill-at"}},
	{"The result", []string{"tui", "format", "json", "out", "quiet", "no-color", "help"}},
}
