package survey

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Bounds of one reply, whatever the server says.
const (
	maxLine     = 64 << 10 // of a status, an error or a number
	maxElements = 1 << 20  // of one list
	maxDepth    = 4
)

// errProtocol is a reply that is no reply.
var errProtocol = errors.New("the server's answer makes no sense")

// replyError is an error that the server replied. It is a redis.Error.
type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

// wire is one connection that speaks the second version of the protocol. A
// value is read up to a bound and the rest of it thrown away, so that no value
// can grow the reader's memory. Not safe for concurrent use.
type wire struct {
	c        net.Conn
	r        *bufio.Reader
	out      []byte
	patience time.Duration // for what one flush asked
	ending   atomic.Bool   // what is under way must end soon

	commands       int64
	sent, received int64 // bytes
}

// dial connects as the options say and logs in.
func dial(ctx context.Context, o *redis.Options, patience time.Duration) (*wire, error) {
	c, err := o.Dialer(ctx, o.Network, o.Addr)
	if err != nil {
		return nil, err
	}
	w := &wire{c: c, patience: patience}
	w.r = bufio.NewReaderSize(countingReader{w}, maxLine)
	if err := w.hello(o); err != nil {
		_ = c.Close()
		return nil, err
	}
	return w, nil
}

// countingReader counts what comes in.
type countingReader struct{ w *wire }

func (r countingReader) Read(p []byte) (int, error) {
	n, err := r.w.c.Read(p)
	r.w.received += int64(n)
	return n, err
}

func (w *wire) hello(o *redis.Options) error {
	var asked int
	user, password := o.Username, o.Password
	if o.CredentialsProvider != nil {
		user, password = o.CredentialsProvider()
	}
	switch {
	case user != "":
		w.ask("AUTH", user, password)
		asked++
	case password != "":
		w.ask("AUTH", password)
		asked++
	}
	if o.DB != 0 {
		w.ask("SELECT", strconv.Itoa(o.DB))
		asked++
	}
	if err := w.flush(); err != nil {
		return err
	}
	for range asked {
		if err := w.skip(0); err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) close() { _ = w.c.Close() }

// hurry lets what is under way end soon. Safe to call at any time.
func (w *wire) hurry() {
	w.ending.Store(true)
	_ = w.renew() // if that fails the connection has ended already
}

// renew puts the end of all waiting off.
func (w *wire) renew() error {
	patience := w.patience
	if w.ending.Load() {
		patience = min(patience, time.Second)
	}
	return w.c.SetDeadline(time.Now().Add(patience))
}

// ask adds a command to what the next flush sends.
func (w *wire) ask(words ...string) {
	w.commands++
	w.out = append(w.out, '*')
	w.out = strconv.AppendInt(w.out, int64(len(words)), 10)
	w.out = append(w.out, "\r\n"...)
	for _, s := range words {
		w.out = append(w.out, '$')
		w.out = strconv.AppendInt(w.out, int64(len(s)), 10)
		w.out = append(w.out, "\r\n"...)
		w.out = append(w.out, s...)
		w.out = append(w.out, "\r\n"...)
	}
}

func (w *wire) flush() error {
	if err := w.renew(); err != nil {
		return err
	}
	n, err := w.c.Write(w.out)
	w.sent += int64(n)
	w.out = w.out[:0]
	return err
}

// head reads how a reply begins: its kind and its number. An error reply is
// returned as a replyError.
func (w *wire) head() (kind byte, n int64, err error) {
	line, err := w.r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return 0, 0, fmt.Errorf("%w: a line of more than %d bytes", errProtocol, maxLine)
	case err != nil:
		return 0, 0, err
	case len(line) < 3 || line[len(line)-2] != '\r':
		return 0, 0, errProtocol
	}
	kind, line = line[0], line[1:len(line)-2]
	switch kind {
	case '-':
		return kind, 0, replyError(line)
	case '+':
		return kind, 0, nil
	case ':', '$', '*':
		n, ok := parseInt(line)
		if !ok || kind == '*' && n > maxElements {
			return 0, 0, errProtocol
		}
		return kind, n, nil
	}
	return 0, 0, errProtocol
}

// parseInt reads a number without allocating.
func parseInt(b []byte) (n int64, ok bool) {
	negative := len(b) > 1 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// whole reads a reply that is a number, or nothing: ok is false then.
func (w *wire) whole() (n int64, ok bool, err error) {
	kind, n, err := w.head()
	switch {
	case err != nil:
		return 0, false, err
	case kind == ':':
		return n, true, nil
	case kind == '$' && n < 0:
		return 0, false, nil
	}
	return 0, false, errProtocol
}

// status reads a reply that is a word.
func (w *wire) status() (string, error) {
	line, err := w.r.ReadSlice('\n')
	if err != nil || len(line) < 3 || line[len(line)-2] != '\r' {
		if err == nil {
			err = errProtocol
		}
		return "", err
	}
	switch line[0] {
	case '+':
		return string(line[1 : len(line)-2]), nil
	case '-':
		return "", replyError(line[1 : len(line)-2])
	}
	return "", errProtocol
}

// text reads a reply that is a text, up to most bytes of it; full is how long
// it is, -1 for none.
func (w *wire) text(most int64) (text []byte, full int64, err error) {
	kind, n, err := w.head()
	if err != nil {
		return nil, 0, err
	}
	if kind != '$' {
		return nil, 0, errProtocol
	}
	if n < 0 {
		return nil, -1, nil
	}
	text = make([]byte, min(n, most))
	for at := 0; at < len(text); {
		m, err := w.r.Read(text[at:])
		if err != nil {
			return nil, 0, err
		}
		at += m
	}
	return text, n, w.discard(n - int64(len(text)) + 2)
}

// discard throws n bytes away. What comes is awaited as long as some of it
// comes.
func (w *wire) discard(n int64) error {
	for n > 0 {
		m, err := w.r.Discard(int(min(n, maxLine)))
		n -= int64(m)
		if err != nil {
			return err
		}
		if n > 0 {
			if err := w.renew(); err != nil {
				return err
			}
		}
	}
	return nil
}

// list reads how many replies a list has; -1 for none.
func (w *wire) list() (int64, error) {
	kind, n, err := w.head()
	if err == nil && kind != '*' {
		err = errProtocol
	}
	return n, err
}

// skip reads any reply and drops it. An error reply is an error.
func (w *wire) skip(depth int) error {
	kind, n, err := w.head()
	switch {
	case err != nil:
		return err
	case kind == '$' && n >= 0:
		return w.discard(n + 2)
	case kind == '*':
		if depth == maxDepth {
			return errProtocol
		}
		for range n {
			if err := w.skip(depth + 1); err != nil && !isReply(err) {
				return err
			}
		}
	}
	return nil
}

// isReply reports whether the server said err, so that the connection is in
// order.
func isReply(err error) bool {
	var reply replyError
	return errors.As(err, &reply)
}
