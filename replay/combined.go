package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// combined reads access logs as nginx and Apache write them:
// ADDR - USER [TIME] "METHOD PATH PROTOCOL" STATUS BYTES "REFERER" "AGENT" …
type combined struct {
	lines  *lines
	in     *instants
	o      Options
	cur    []byte
	key    logField
	cost   logField
	fields []logField
	values [][]byte
	rest   [][]byte // from the bytes on
}

// logField is a field of an access log: one of logNames, a parameter of the
// query, or one of the cells after the agent.
type logField struct {
	name  int    // of logNames
	query string // query.NAME
	extra int    // args[N] from 1
}

var logNames = []string{"remote_addr", "remote_user", "method", "path", "uri", "status", "bytes", "referer", "user_agent"}

const (
	logAddr = iota
	logUser
	logMethod
	logPath
	logURI
	logStatus
	logBytes
	logReferer
	logAgent
)

var (
	errNotLog = errors.New("not a line of an access log")
)

// FieldError is a field that a trace of this form does not have.
type FieldError struct{ Field, Format, Known string }

func (e *FieldError) Error() string {
	return fmt.Sprintf("a trace of form %s has no field %q", e.Format, e.Field)
}

func newCombined(l *lines, in *instants, o Options) (*combined, error) {
	f := &combined{lines: l, in: in, o: o, values: make([][]byte, len(o.Fields)), cost: logField{name: -1}}
	var err error
	if o.KeyField != "" {
		if f.key, err = parseLogField(o.KeyField); err != nil {
			return nil, err
		}
	}
	if o.CostField != "" {
		if f.cost, err = parseLogField(o.CostField); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Fields {
		lf, err := parseLogField(name)
		if err != nil {
			return nil, err
		}
		f.fields = append(f.fields, lf)
	}
	return f, nil
}

func parseLogField(name string) (logField, error) {
	if i := slices.Index(logNames, name); i >= 0 {
		return logField{name: i}, nil
	}
	if q, ok := strings.CutPrefix(name, "query."); ok && q != "" {
		return logField{query: q}, nil
	}
	if n, ok := indexed(name, "args"); ok {
		return logField{extra: n}, nil
	}
	return logField{}, &FieldError{name, "combined", strings.Join(logNames, ", ") + ", query.NAME, args[N]"}
}

// indexed reads NAME[N] with N from 1.
func indexed(text, name string) (int, bool) {
	in, ok := strings.CutPrefix(text, name+"[")
	if !ok || !strings.HasSuffix(in, "]") {
		return 0, false
	}
	n, ok := wholeNumber([]byte(in[:len(in)-1]))
	return int(n), ok && n >= 1 && n <= maxCells
}

func (f *combined) line() []byte { return f.cur }

func (f *combined) next(c *Call) error {
	line, err := f.lines.next()
	if f.cur = line; err != nil {
		return streamError(err)
	}
	if len(line) == 0 {
		return errPassed
	}
	open := bytes.IndexByte(line, '[')
	if open < 2 {
		return errNotLog
	}
	end := bytes.IndexByte(line[open:], ']')
	if end < 0 {
		return errNotLog
	}
	head, rest := line[:open-1], line[open+end+1:]
	if c.At, err = f.in.readLog(line[open+1 : open+end]); err != nil {
		return err
	}
	if len(rest) < 3 || rest[0] != ' ' || rest[1] != '"' {
		return errNotLog
	}
	rest = rest[2:]
	quote := closing(rest)
	if quote < 0 {
		return errNotLog
	}
	request, rest := rest[:quote], rest[quote+1:]
	if len(rest) < 4 || rest[0] != ' ' {
		return errNotLog
	}
	var status []byte
	if rest = rest[1:]; len(rest) > 3 && rest[3] == ' ' {
		status, rest = rest[:3], rest[4:]
	} else {
		status, rest = rest[:3], nil
	}
	c.record(status, f.o.Refused)
	line2 := logLine{head: head, request: request, status: status, rest: rest}
	c.Key = line2.value(&f.key, f)
	if len(c.Key) == 0 || len(c.Key) == 1 && c.Key[0] == '-' {
		return errNoKey
	}
	if f.o.CostField != "" {
		var ok bool
		if c.Cost, ok = costOf(line2.value(&f.cost, f)); !ok {
			return errCost
		}
	}
	for i := range f.fields {
		f.values[i] = line2.value(&f.fields[i], f)
	}
	c.Values = f.values
	return nil
}

// closing is where the quote ends that text begins in; a backslash escapes.
func closing(text []byte) int {
	from := 0
	for {
		i := bytes.IndexByte(text[from:], '"')
		if i < 0 {
			return -1
		}
		i += from
		back := 0
		for back < i && text[i-1-back] == '\\' {
			back++
		}
		if back%2 == 0 {
			return i
		}
		from = i + 1
	}
}

// logLine is a line cut into its parts.
type logLine struct{ head, request, status, rest []byte }

func (l *logLine) value(f *logField, c *combined) []byte {
	switch {
	case f.extra > 0:
		c.rest = cells(c.rest[:0], l.rest)
		return nth(c.rest, f.extra+2) // after bytes, referer and agent
	case f.query != "":
		_, query, _ := bytes.Cut(l.path(), []byte("?"))
		return parameter(query, f.query)
	}
	switch f.name {
	case logAddr:
		if i := bytes.IndexByte(l.head, ' '); i >= 0 {
			return l.head[:i]
		}
		return l.head
	case logUser:
		if i := bytes.LastIndexByte(l.head, ' '); i >= 0 {
			return l.head[i+1:]
		}
	case logMethod:
		if i := bytes.IndexByte(l.request, ' '); i >= 0 {
			return l.request[:i]
		}
	case logPath:
		path, _, _ := bytes.Cut(l.path(), []byte("?"))
		return path
	case logURI:
		return l.path()
	case logStatus:
		return l.status
	case logBytes, logReferer, logAgent:
		c.rest = cells(c.rest[:0], l.rest)
		return nth(c.rest, f.name-logBytes)
	}
	return nil
}

func (l *logLine) path() []byte {
	_, rest, _ := bytes.Cut(l.request, []byte(" "))
	if i := bytes.LastIndexByte(rest, ' '); i >= 0 {
		return rest[:i]
	}
	return rest
}

// parameter is the value of a query's parameter, as it stands there.
func parameter(query []byte, name string) []byte {
	for len(query) > 0 {
		var pair []byte
		pair, query, _ = bytes.Cut(query, []byte("&"))
		if k, v, _ := bytes.Cut(pair, []byte("=")); string(k) == name {
			return v
		}
	}
	return nil
}

// cells cuts the end of a line at its spaces; quotes hold a cell together.
func cells(dst [][]byte, b []byte) [][]byte {
	for len(b) > 0 && len(dst) < maxCells {
		if b[0] == ' ' {
			b = b[1:]
			continue
		}
		if b[0] == '"' {
			end := closing(b[1:])
			if end < 0 {
				return dst
			}
			dst, b = append(dst, b[1:1+end]), b[end+2:]
			continue
		}
		i := bytes.IndexByte(b, ' ')
		if i < 0 {
			return append(dst, b)
		}
		dst, b = append(dst, b[:i]), b[i:]
	}
	return dst
}

func nth(list [][]byte, i int) []byte {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}
