package replay

import (
	"math"
	"strconv"
	"strings"
)

// observed is what is known of one run of a script.
type observed struct {
	reply    any
	commands int64
	work     int64  // commands, their arguments, and what came back
	clock    bool   // asked for TIME
	bad      string // a number that lost digits, with its command
	touched  []touch
}

// touch is a command and one of its keys.
type touch struct{ command, key string }

// maxTouched bounds what is kept of one run.
const maxTouched = 96

// Commands by where their keys stand, as in the shim; the key of all others is
// their first argument.
var (
	allKeys  = words("DEL UNLINK EXISTS MGET TOUCH SUNION SINTER SDIFF RENAME RENAMENX SUNIONSTORE SINTERSTORE SDIFFSTORE RPOPLPUSH PFCOUNT PFMERGE")
	noKeys   = words("TIME PING ECHO PUBLISH SPUBLISH DBSIZE INFO COMMAND LASTSAVE ROLE")
	pairwise = words("MSET MSETNX") // a key and a value
	butLast  = words("BLPOP BRPOP BZPOPMIN BZPOPMAX")
	twoKeys  = words("COPY SMOVE LMOVE BLMOVE BRPOPLPUSH LCS ZRANGESTORE GEOSEARCHSTORE") // the first two
	second   = words("OBJECT MEMORY")                                                     // after a word
	counted  = words("LMPOP ZMPOP SINTERCARD ZINTERCARD ZUNION ZINTER ZDIFF")
	stored   = words("ZUNIONSTORE ZINTERSTORE ZDIFFSTORE")
	store    = words("SORT GEORADIUS GEORADIUSBYMEMBER") // one more after STORE
)

func words(text string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		m[w] = true
	}
	return m
}

// keysOf are the keys of a command.
func keysOf(name string, args []string) []string {
	switch {
	case len(args) == 0 || noKeys[name]:
		return nil
	case allKeys[name]:
		return args
	case pairwise[name]:
		var keys []string
		for i := 0; i < len(args); i += 2 {
			keys = append(keys, args[i])
		}
		return keys
	case butLast[name]:
		return args[:len(args)-1]
	case twoKeys[name]:
		return args[:min(2, len(args))]
	case second[name]:
		return args[1:min(2, len(args))]
	case name == "BITOP":
		return args[1:]
	case counted[name]:
		return args[1 : 1+countOf(args, 0)]
	case stored[name]:
		n := countOf(args, 1)
		return append(args[:1:1], args[min(2, len(args)):min(2+n, len(args))]...)
	case store[name]:
		keys := args[:1:1]
		for i := 1; i+1 < len(args); i++ {
			if w := strings.ToUpper(args[i]); w == "STORE" || w == "STOREDIST" {
				keys = append(keys, args[i+1])
			}
		}
		return keys
	}
	return args[:1]
}

// countOf is how many keys argument i announces, of those that follow it.
func countOf(args []string, i int) int {
	if i >= len(args) {
		return 0
	}
	n, err := strconv.Atoi(args[i])
	if err != nil {
		return 0
	}
	return max(0, min(n, len(args)-i-1))
}

// saw notes a command that is about to run.
func (o *observed) saw(name string, args []string) {
	o.commands++
	o.work += 1 + int64(len(args))
	if name == "TIME" {
		o.clock = true
	}
	for _, k := range keysOf(name, args) {
		if len(o.touched) < maxTouched {
			o.touched = append(o.touched, touch{name, k})
		}
	}
	for i := 1; i < len(args) && o.bad == ""; i++ {
		if lossy(args[i]) {
			o.bad = name + " " + args[i]
		}
	}
}

// got notes what came back.
func (o *observed) got(reply any) {
	switch v := reply.(type) {
	case []any:
		o.work += int64(len(v))
	case string:
		o.work += int64(len(v) / 64)
	}
}

// lossy reports whether a text is a large number in scientific notation. A small
// one has all its digits: what is left of a bucket is often near nothing.
func lossy(s string) bool {
	if len(s) < 3 || len(s) > 40 {
		return false
	}
	e := strings.IndexAny(s, "eE")
	if e < 1 || e == len(s)-1 {
		return false
	}
	if s[e+1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+' {
			return false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsNaN(f)
}

// lossyNumber reports whether a script's number is too large to be exact.
func lossyNumber(f float64) bool { return math.Abs(f) > 1<<53 }
