package replay

import (
	"fmt"
	"slices"
	"strings"
)

// Danger is what a script does that a replay refuses to run.
type Danger struct {
	Line int
	What string
}

// DangerError is a script that is not run unless it is told to be.
type DangerError struct {
	Name    string
	Dangers []Danger // the first comes first in the script
}

func (e *DangerError) Error() string {
	return fmt.Sprintf("%s, line %d: %s", e.Name, e.Dangers[0].Line, e.Dangers[0].What)
}

// dangerous are commands that reach beyond the keys of a limiter, such as to
// whoever has subscribed to a channel.
var dangerous = []string{
	"ACL", "AUTH", "BGREWRITEAOF", "BGSAVE", "CLIENT", "CLUSTER", "CONFIG", "DEBUG", "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO",
	"FAILOVER", "FCALL", "FCALL_RO", "FLUSHALL", "FLUSHDB", "FUNCTION", "KEYS", "LATENCY", "MIGRATE", "MODULE", "MONITOR", "MOVE",
	"PSYNC", "PUBLISH", "RANDOMKEY", "READONLY", "READWRITE", "REPLICAOF", "RESET", "RESTORE", "SAVE", "SCAN", "SCRIPT", "SELECT", "SHUTDOWN", "SLAVEOF",
	"SLOWLOG", "SPUBLISH", "SWAPDB", "SYNC", "WAIT",
}

// hiding are names by which a script can call what cannot be read in it.
var hiding = []string{"_G", "dofile", "getfenv", "load", "loadstring", "rawget", "require", "setfenv"}

// Dangers reads a script without running it. Comments and strings that are no
// command do not count; a command whose name is computed does, since it could
// be any.
func Dangers(src string) []Danger {
	s := dangers{t: luaTokens(src), calls: map[string]bool{}}
	for i := range s.t {
		s.at(i)
	}
	return s.found
}

type dangers struct {
	t     []luaToken
	calls map[string]bool // names that stand for redis.call
	found []Danger
}

// is reports whether token i is this name or mark.
func (s *dangers) is(i int, text string) bool {
	return i >= 0 && i < len(s.t) && s.t[i].kind != luaString && s.t[i].text == text
}

func (s *dangers) add(i int, format string, args ...any) {
	s.found = append(s.found, Danger{s.t[i].line, fmt.Sprintf(format, args...)})
}

func (s *dangers) at(i int) {
	t := s.t[i]
	if t.kind != luaName || s.is(i-1, ".") || s.is(i-1, ":") {
		return
	}
	switch {
	case t.text == "redis" || t.text == "server":
		s.redis(i)
	case s.calls[t.text] && (s.is(i+1, "(") || i+1 < len(s.t) && s.t[i+1].kind == luaString):
		s.call(i + 1)
	case s.calls[t.text] && !s.is(i-1, "local"):
		s.add(i, "%s is given on, so what it calls cannot be read", t.text)
	case slices.Contains(hiding, t.text) && !s.is(i+1, "="):
		s.add(i, "uses %s, so what it calls cannot be read", t.text)
	}
}

// redis looks at a use of the table redis at token i.
func (s *dangers) redis(i int) {
	if !s.is(i+1, ".") {
		s.add(i, "uses the table %s as a value, so what it calls cannot be read", s.t[i].text)
		return
	}
	if i+2 >= len(s.t) {
		return
	}
	member := s.t[i+2].text
	if member != "call" && member != "pcall" {
		return // replies, logs and constants
	}
	next := i + 3
	if s.is(next, "(") || next < len(s.t) && s.t[next].kind == luaString {
		s.call(next)
		return
	}
	// local NAME = redis.call
	if s.is(i-1, "=") && s.is(i-3, "local") && s.t[i-2].kind == luaName && !s.is(next, ",") && !s.is(next, "..") {
		s.calls[s.t[i-2].text] = true
		return
	}
	s.add(i, "gives redis.%s on, so what it calls cannot be read", member)
}

// call looks at the arguments that begin at token i.
func (s *dangers) call(i int) {
	bracketed := s.is(i, "(")
	if bracketed {
		i++
	}
	if i >= len(s.t) {
		return
	}
	t := s.t[i]
	// A string alone: 'GET' .. x and 'GET' and x are something else.
	if t.kind != luaString || bracketed && !s.is(i+1, ",") && !s.is(i+1, ")") {
		s.add(i, "calls a command whose name is computed")
		return
	}
	name := strings.ToUpper(strings.TrimSpace(t.text))
	if slices.Contains(dangerous, name) {
		s.add(i, "calls %s", name)
	}
}

// Takes lists the KEYS and ARGV that a script names by a number.
func Takes(src string) (keys, args int) {
	t := luaTokens(src)
	for i := 0; i+2 < len(t); i++ {
		if t[i].kind != luaName || t[i+1].text != "[" || t[i+2].kind != luaNumber {
			continue
		}
		n, ok := wholeNumber([]byte(t[i+2].text))
		if !ok || n > maxCells {
			continue
		}
		switch t[i].text {
		case "KEYS":
			keys = max(keys, int(n))
		case "ARGV":
			args = max(args, int(n))
		}
	}
	return keys, args
}
