package replay

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// shimLua wraps redis.call before a script's own text: it answers TIME when it
// is told a time, keeps the script to the scratch prefix, and counts and
// records what the script calls.
//
//go:embed shim.lua
var shimLua string

// Script is what is replayed.
type Script struct {
	Name   string
	Source string
	SHA    string
}

// NewScript names a script's text.
func NewScript(name, source string) *Script {
	return &Script{Name: name, Source: source, SHA: shaOf(source)}
}

func shaOf(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// shimmed is a script behind the shim. Its lines keep their numbers: all that
// comes before stands on the first line.
func (s *Script) shimmed() *Script {
	src := s.Source
	if strings.HasPrefix(src, "#!") { // a header may only come first
		i := strings.IndexByte(src, '\n')
		if i < 0 {
			i = len(src)
		}
		src = src[i:]
	}
	before := "local S={} local function shim(...) " + strings.ReplaceAll(strings.TrimSpace(shimLua), "\n", " ") +
		" return redis,server end local redis,server=shim(S) local r=(function(S) "
	after := "\nend)() if r==nil then r=false end return {r,S.n,math.floor(S.w),S.time or 0,S.bad,S.log}"
	return NewScript(s.Name, before+src+after)
}

// control is the argument that the shim takes off the end of ARGV.
type control struct {
	now    int64 // unix ns to answer TIME with; 0 leaves TIME to the server
	record bool
	prefix string // keys must begin with it; "" lets all pass
}

// maxCommands is how many commands one run of a script may call.
const maxCommands = 1_000_000

func (c control) text() string {
	sec, usec := "-", "-"
	if c.now != 0 {
		sec, usec = strconv.FormatInt(c.now/1e9, 10), strconv.FormatInt(c.now%1e9/1e3, 10)
	}
	mode := "0"
	if c.record {
		mode = "1"
	}
	return fmt.Sprintf("%s %s %s %d %s", sec, usec, mode, maxCommands, c.prefix)
}

// observe reads a reply of the shim.
func observe(reply any) (observed, error) {
	list, ok := reply.([]any)
	if !ok || len(list) != 6 {
		return observed{}, fmt.Errorf("the shim's reply is not its own: %.80s", replyText(reply))
	}
	var o observed
	o.reply = list[0]
	o.commands, _ = list[1].(int64)
	o.work, _ = list[2].(int64)
	clock, _ := list[3].(int64)
	o.clock = clock == 1
	o.bad, _ = list[4].(string)
	log, _ := list[5].([]any)
	for i := 0; i+1 < len(log); i += 2 {
		c, _ := log[i].(string)
		k, _ := log[i+1].(string)
		o.touched = append(o.touched, touch{c, k})
	}
	return o, nil
}
