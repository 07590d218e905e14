package replay

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"strings"
)

// monitor reads what redis-cli MONITOR printed:
// 1700000000.123456 [0 127.0.0.1:4000] "EVALSHA" "sha" "1" "key" "arg" …
// A check is a call of a script; what the script itself called (the lines of
// client "lua") was part of it and is passed over, as is every other command.
type monitor struct {
	lines   *lines
	in      *instants
	sha     string
	cur     []byte
	words   [][]byte
	buf     []byte
	scripts map[string]int64
}

// maxScripts is how many different scripts are counted.
const maxScripts = 64

var (
	errNotMonitor = errors.New("not a line of MONITOR")
	errNumKeys    = errors.New("the number of keys does not fit")
)

func newMonitor(l *lines, in *instants, o Options) *monitor {
	return &monitor{lines: l, in: in, sha: strings.ToLower(o.SHA), scripts: map[string]int64{}}
}

func (f *monitor) line() []byte { return f.cur }

func (f *monitor) next(c *Call) error {
	line, err := f.lines.next()
	if f.cur = line; err != nil {
		return streamError(err)
	}
	line = bytes.TrimPrefix(line, []byte("+"))
	if len(line) == 0 || string(line) == "OK" {
		return errPassed
	}
	stamp, rest, ok := bytes.Cut(line, []byte(" ["))
	if !ok {
		return errNotMonitor
	}
	if c.At, err = f.in.read(stamp); err != nil {
		return err
	}
	client, rest, ok := bytes.Cut(rest, []byte("] "))
	if !ok {
		return errNotMonitor
	}
	if bytes.HasSuffix(client, []byte(" lua")) {
		return errPassed
	}
	if !f.split(rest) {
		return errNotMonitor
	}
	if len(f.words) < 3 || !isEval(f.words[0]) {
		return errPassed
	}
	sha := f.words[1]
	if !strings.HasPrefix(strings.ToUpper(string(f.words[0])), "EVALSHA") {
		sum := sha1.Sum(sha)
		sha = []byte(hex.EncodeToString(sum[:]))
	}
	if n, ok := f.scripts[string(sha)]; ok || len(f.scripts) < maxScripts {
		f.scripts[strings.ToLower(string(sha))] = n + 1
	}
	if f.sha != "" && !strings.EqualFold(f.sha, string(sha)) {
		return errPassed
	}
	n, ok := wholeNumber(f.words[2])
	if !ok || n < 1 || int(n) > len(f.words)-3 {
		return errNumKeys
	}
	c.Keys, c.Args = f.words[3:3+n], f.words[3+n:]
	c.Key = c.Keys[0]
	return nil
}

func isEval(word []byte) bool {
	for _, name := range []string{"EVALSHA", "EVAL", "EVALSHA_RO", "EVAL_RO"} {
		if len(word) == len(name) && strings.EqualFold(string(word), name) {
			return true
		}
	}
	return false
}

// split reads words in quotes, with Redis's escapes.
func (f *monitor) split(b []byte) bool {
	f.words = f.words[:0]
	if cap(f.buf) < len(b) {
		f.buf = make([]byte, 0, 2*len(b))
	}
	f.buf = f.buf[:0]
	for len(b) > 0 {
		if b[0] == ' ' {
			b = b[1:]
			continue
		}
		if b[0] != '"' {
			return false
		}
		end := closing(b[1:])
		if end < 0 {
			return false
		}
		start := len(f.buf)
		if !f.unescape(b[1 : 1+end]) {
			return false
		}
		f.words = append(f.words, f.buf[start:len(f.buf):len(f.buf)])
		b = b[end+2:]
	}
	return len(f.words) > 0
}

func (f *monitor) unescape(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			f.buf = append(f.buf, raw[i])
			continue
		}
		if i++; i >= len(raw) {
			return false
		}
		switch raw[i] {
		case 'n':
			f.buf = append(f.buf, '\n')
		case 'r':
			f.buf = append(f.buf, '\r')
		case 't':
			f.buf = append(f.buf, '\t')
		case 'a':
			f.buf = append(f.buf, '\a')
		case 'b':
			f.buf = append(f.buf, '\b')
		case 'x':
			if i+2 >= len(raw) {
				return false
			}
			var one [1]byte
			if _, err := hex.Decode(one[:], raw[i+1:i+3]); err != nil {
				return false
			}
			f.buf = append(f.buf, one[0])
			i += 2
		default:
			f.buf = append(f.buf, raw[i])
		}
	}
	return true
}
