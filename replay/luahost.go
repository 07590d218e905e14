package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	luajson "github.com/alicebob/miniredis/v2/gopher-json"
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// luaHost runs scripts as Redis does: one interpreter for all of them, each
// compiled once. That, and not a new interpreter per call, is what makes
// minutes of traffic pass in a second. Not safe for concurrent use.
type luaHost struct {
	l       *lua.LState
	globals *lua.LTable
	protos  map[string]*lua.FunctionProto // by digest
	call    func(words []string) answer   // runs one command
	seen    *observed                     // of the run under way
}

// notInScripts are commands that a server refuses to a script.
var notInScripts = []string{"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "SCRIPT", "MULTI", "EXEC", "WATCH", "SUBSCRIBE", "PSUBSCRIBE", "MONITOR", "AUTH", "HELLO", "QUIT"}

func newLuaHost(call func(words []string) answer) *luaHost {
	h := &luaHost{l: lua.NewState(lua.Options{SkipOpenLibs: true}), protos: map[string]*lua.FunctionProto{}, call: call}
	for _, lib := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.CoroutineLibName, lua.OpenCoroutine}, {lua.TabLibName, lua.OpenTable}, {lua.StringLibName, lua.OpenString}, {lua.MathLibName, lua.OpenMath}} {
		h.l.Push(h.l.NewFunction(lib.open))
		h.l.Push(lua.LString(lib.name))
		h.l.Call(1, 0)
	}
	h.globals = h.l.Get(lua.GlobalsIndex).(*lua.LTable)
	h.l.Push(h.l.NewFunction(luajson.Loader))
	h.l.Call(0, 1)
	h.globals.RawSetString("cjson", h.l.Get(-1))
	h.l.Pop(1)
	for _, name := range []string{"require", "module", "package", "dofile", "loadfile", "print", "_printregs", "newproxy", "collectgarbage"} {
		h.globals.RawSetString(name, lua.LNil)
	}
	r := h.l.NewTable()
	r.RawSetString("call", h.l.NewFunction(func(l *lua.LState) int { return h.redisCall(l, true) }))
	r.RawSetString("pcall", h.l.NewFunction(func(l *lua.LState) int { return h.redisCall(l, false) }))
	r.RawSetString("error_reply", h.l.NewFunction(func(l *lua.LState) int { return single(l, "err", l.CheckString(1)) }))
	r.RawSetString("status_reply", h.l.NewFunction(func(l *lua.LState) int { return single(l, "ok", l.CheckString(1)) }))
	r.RawSetString("sha1hex", h.l.NewFunction(func(l *lua.LState) int { l.Push(lua.LString(shaOf(l.CheckString(1)))); return 1 }))
	r.RawSetString("replicate_commands", h.l.NewFunction(func(l *lua.LState) int { l.Push(lua.LTrue); return 1 }))
	for _, nothing := range []string{"log", "set_repl", "setresp", "breakpoint", "debug"} {
		r.RawSetString(nothing, h.l.NewFunction(func(*lua.LState) int { return 0 }))
	}
	for i, level := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		r.RawSetString(level, lua.LNumber(i))
	}
	for i, to := range []string{"REPL_NONE", "REPL_AOF", "REPL_SLAVE", "REPL_ALL"} {
		r.RawSetString(to, lua.LNumber(i))
	}
	h.globals.RawSetString("redis", r)
	// As Redis does: a script has no global variables of its own.
	mt := h.l.NewTable()
	mt.RawSetString("__newindex", h.l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to create global variable '%s'", l.Get(2).String())
		return 0
	}))
	mt.RawSetString("__index", h.l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.Get(2).String())
		return 0
	}))
	h.l.SetMetatable(h.globals, mt)
	return h
}

func (h *luaHost) close() { h.l.Close() }

// load compiles a script and answers its digest.
func (h *luaHost) load(source string) answer {
	sha := shaOf(source)
	if h.protos[sha] != nil {
		return answer{reply: sha}
	}
	text := source
	if strings.HasPrefix(text, "#!") { // a header is not Lua
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			i = len(text)
		}
		text = text[i:]
	}
	chunk, err := parse.Parse(strings.NewReader(text), "user_script")
	if err == nil {
		var proto *lua.FunctionProto
		if proto, err = lua.Compile(chunk, "user_script"); err == nil {
			h.protos[sha] = proto
			return answer{reply: sha}
		}
	}
	return answer{err: replyError("ERR Error compiling script (new function): " + strings.Join(strings.Fields(err.Error()), " "))}
}

// flush forgets every script.
func (h *luaHost) flush() { clear(h.protos) }

// eval runs a script that was loaded.
func (h *luaHost) eval(ctx context.Context, sha string, words []string) answer {
	proto := h.protos[strings.ToLower(sha)]
	if proto == nil {
		return answer{err: replyError("NOSCRIPT No matching script. Please use EVAL.")}
	}
	if len(words) == 0 {
		return answer{err: replyError("ERR wrong number of arguments for 'evalsha' command")}
	}
	n, err := strconv.Atoi(words[0])
	if err != nil || n < 0 || n > len(words)-1 {
		return answer{err: replyError("ERR Number of keys can't be greater than number of args")}
	}
	h.globals.RawSetString("KEYS", h.list(words[1:1+n]))
	h.globals.RawSetString("ARGV", h.list(words[1+n:]))
	if ctx.Done() != nil {
		h.l.SetContext(ctx)
		defer h.l.RemoveContext()
	}
	h.seen = &observed{}
	h.l.Push(h.l.NewFunctionFromProto(proto))
	if err := h.l.PCall(0, 1, nil); err != nil {
		h.l.SetTop(0)
		if ctx.Err() != nil {
			return answer{err: ctx.Err()}
		}
		return answer{err: runError(err)}
	}
	v := h.l.Get(-1)
	h.l.SetTop(0)
	reply := toReply(v, 0)
	if e, ok := reply.(string); ok && isErrorTable(v) {
		return answer{err: replyError(e[1:])}
	}
	h.seen.reply = reply
	return answer{reply: reply, seen: h.seen}
}

// runError is what a script that failed is answered with.
func runError(err error) error {
	var api *lua.ApiError
	if errors.As(err, &api) {
		if t, ok := api.Object.(*lua.LTable); ok {
			return replyError(t.RawGetString("err").String())
		}
		return replyError("ERR " + api.Object.String())
	}
	return replyError("ERR " + err.Error())
}

func (h *luaHost) list(words []string) *lua.LTable {
	t := h.l.CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(lua.LString(w))
	}
	return t
}

func single(l *lua.LState, name, text string) int {
	t := l.CreateTable(0, 1)
	if name == "err" && !strings.Contains(text, " ") {
		text = "ERR " + strings.TrimPrefix(text, "-")
	}
	t.RawSetString(name, lua.LString(strings.TrimPrefix(text, "-")))
	l.Push(t)
	return 1
}

// redisCall is redis.call, or redis.pcall, which returns errors.
func (h *luaHost) redisCall(l *lua.LState, raise bool) int {
	n := l.GetTop()
	words := make([]string, n)
	problem := ""
	for i := range n {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			words[i] = string(v)
		case lua.LNumber:
			words[i] = argumentNumber(float64(v))
			if i > 1 && lossyNumber(float64(v)) && h.seen.bad == "" {
				h.seen.bad = words[0] + " " + words[i]
			}
		default:
			problem = "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	switch {
	case n == 0:
		problem = "ERR Please specify at least one argument for this redis.call() call"
	case problem == "" && slices.Contains(notInScripts, strings.ToUpper(words[0])):
		problem = "ERR This Redis command is not allowed from script"
	}
	var a answer
	if problem == "" {
		h.seen.saw(strings.ToUpper(words[0]), words[1:])
		a = h.call(words)
		h.seen.got(a.reply)
	} else {
		a.err = replyError(problem)
	}
	if a.err != nil {
		t := l.CreateTable(0, 1)
		text := a.err.Error()
		if strings.HasPrefix(text, "ERR unknown command") {
			text = "ERR Unknown Redis command called from script"
		}
		t.RawSetString("err", lua.LString(text))
		if raise {
			l.Error(t, 1)
		}
		l.Push(t)
		return 1
	}
	l.Push(toLua(l, a.reply))
	return 1
}

// argumentNumber is how Redis writes a number that a script passes on.
func argumentNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e17 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprintf("%.17g", f)
}

// toLua makes a reply a value: nothing is false, and a status is a table.
func toLua(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case int64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case status:
		t := l.CreateTable(0, 1)
		t.RawSetString("ok", lua.LString(v))
		return t
	case []any:
		t := l.CreateTable(len(v), 0)
		for _, x := range v {
			t.Append(toLua(l, x))
		}
		return t
	}
	return lua.LFalse
}

// status is a reply such as OK, which a script sees as a table.
type status string

// maxReplyDepth bounds how deep a script's reply is read.
const maxReplyDepth = 16

func isErrorTable(v lua.LValue) bool {
	t, ok := v.(*lua.LTable)
	return ok && t.RawGetString("err") != lua.LNil
}

// toReply makes a script's value a reply: numbers lose their fraction, lists
// end at the first nil, and an error is a text that begins with a minus.
func toReply(v lua.LValue, depth int) any {
	switch v := v.(type) {
	case lua.LNumber:
		return int64(v)
	case lua.LString:
		return string(v)
	case lua.LBool:
		if v {
			return int64(1)
		}
	case *lua.LTable:
		if e := v.RawGetString("err"); e != lua.LNil {
			return "-" + e.String()
		}
		if ok := v.RawGetString("ok"); ok != lua.LNil {
			return ok.String()
		}
		list := []any{}
		for i := 1; depth < maxReplyDepth; i++ {
			x := v.RawGetInt(i)
			if x == lua.LNil {
				break
			}
			list = append(list, toReply(x, depth+1))
		}
		return list
	}
	return nil
}
