package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Embedded is a Redis inside this process, in virtual time: TIME and every TTL
// follow the trace. It listens nowhere. Not safe for concurrent use.
type Embedded struct {
	m    *miniredis.Miniredis
	conn io.Closer
	peer *server.Peer
	out  *bufio.Writer
	buf  bytes.Buffer
	in   *bufio.Reader
	lua  *luaHost
}

// NewEmbedded starts an empty one.
func NewEmbedded() (*Embedded, error) {
	e := &Embedded{m: miniredis.NewMiniRedis()}
	conn, err := e.m.Dial() // starts it without a port
	if err != nil {
		return nil, err
	}
	e.conn = conn
	e.m.ClockTTL(true)
	e.out = bufio.NewWriter(&e.buf)
	e.peer = server.NewPeer(e.out)
	e.in = bufio.NewReader(&e.buf)
	e.lua = newLuaHost(e.command)
	return e, nil
}

// Close ends it.
func (e *Embedded) Close() {
	e.lua.close()
	_ = e.conn.Close()
	e.m.Close()
}

// Name is how results call it.
func (e *Embedded) Name() string { return "embedded" }

func (e *Embedded) virtual() bool { return true }

func (e *Embedded) setTime(at int64) { e.m.SetTime(time.Unix(0, at).UTC()) }

func (e *Embedded) do(ctx context.Context, commands []command) []answer {
	all := make([]answer, len(commands))
	for i, c := range commands {
		all[i] = e.run(ctx, c)
		if s, ok := all[i].reply.(status); ok {
			all[i].reply = string(s)
		}
	}
	return all
}

func (e *Embedded) run(ctx context.Context, c command) answer {
	switch c[0] {
	case "EVALSHA":
		return e.lua.eval(ctx, c[1], c[2:])
	case "SCRIPT":
		switch c[1] {
		case "LOAD":
			return e.lua.load(c[2])
		case "FLUSH":
			e.lua.flush()
			return answer{reply: "OK"}
		}
	}
	return e.command(c)
}

// command runs one that is not about scripts.
func (e *Embedded) command(words []string) answer {
	e.buf.Reset()
	e.in.Reset(&e.buf)
	e.m.Server().Dispatch(e.peer, words)
	e.peer.Flush()
	// The outermost error is told by its first byte: ParseReply gives those of
	// the protocol in the same way.
	if text := e.buf.Bytes(); len(text) > 0 && text[0] == '-' {
		line, _, _ := strings.Cut(string(text[1:]), "\r\n")
		return answer{err: replyError(line)}
	}
	v, err := server.ParseReply(e.in)
	if err != nil {
		return answer{err: errors.New("the embedded store: " + err.Error())}
	}
	return answer{reply: plainReply(v)}
}

// plainReply makes any reply one of int64, string, status, []any and nil.
func plainReply(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []byte:
		return string(v)
	case server.Simple:
		return status(v)
	case error:
		return "-" + v.Error()
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plainReply(x)
		}
		return out
	}
	return v
}

func (e *Embedded) clear(context.Context, string) (int64, error) {
	n := int64(len(e.m.Keys()))
	e.m.FlushAll()
	return n, nil
}

// kill has nothing left to do: the time limit has ended the script.
func (e *Embedded) kill(context.Context) error { return nil }
