package load

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on files that a profile names; beyond them the plan is refused.
const (
	maxFileBytes = 64 << 20
	maxFileLines = 5_000_000
	maxKeyName   = 256 // bytes of one key
	maxCost      = 1_000_000_000
)

// FileError is a line of a key or trace file that cannot be used.
type FileError struct {
	File string
	Line int // from 1; 0 is the file as a whole
	Msg  string
	Hint string // what to do; "" when Msg says it all
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// traceRow is one call of a trace.
type traceRow struct {
	due  int64
	key  string // "": the population's own rule
	cost uint32 // 0: the population's own mix
}

// parseTrace reads lines of seconds[,key[,cost]]. Empty lines, lines that
// start with # and a first line that starts with "seconds" are passed over.
func parseTrace(name string, data []byte) ([]traceRow, error) {
	var rows []traceRow
	err := eachLine(name, data, func(line int, text string) error {
		if text[0] == '#' || line == 1 && strings.HasPrefix(text, "seconds") {
			return nil
		}
		fail := func(hint, format string, args ...any) error {
			return &FileError{File: name, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
		}
		fields := strings.Split(text, ",")
		if len(fields) > 3 {
			return fail("a line is seconds[,key[,cost]]", "%d fields", len(fields))
		}
		var row traceRow
		s, err := strconv.ParseFloat(strings.TrimSpace(fields[0]), 64)
		if err != nil || !(s >= 0 && s <= 1e8) {
			return fail("write seconds since the start of the run, such as 12.5", "%s is not a time", excerpt(fields[0]))
		}
		row.due = int64(math.Round(s * 1e9))
		if len(rows) > 0 && row.due < rows[len(rows)-1].due {
			return fail("sort the lines by time: sort -n -s -t, -k1,1", "%s is before the time on the line above", excerpt(fields[0]))
		}
		if len(fields) > 1 {
			row.key = strings.TrimSpace(fields[1])
			if msg := badKey(row.key); row.key != "" && msg != "" {
				return fail("", "the key %s", msg)
			}
		}
		if len(fields) > 2 && strings.TrimSpace(fields[2]) != "" {
			c, err := strconv.ParseUint(strings.TrimSpace(fields[2]), 10, 32)
			if err != nil || c == 0 || c > maxCost {
				return fail("a cost is a whole number from 1", "%s is not a cost", excerpt(fields[2]))
			}
			row.cost = uint32(c)
		}
		rows = append(rows, row)
		return nil
	})
	if err == nil && len(rows) == 0 {
		err = &FileError{File: name, Msg: "no call in the trace", Hint: "a line is seconds[,key[,cost]]"}
	}
	return rows, err
}

// parseKeys reads one key a line. Empty lines and lines that start with # are
// passed over.
func parseKeys(name string, data []byte) ([]string, error) {
	var keys []string
	err := eachLine(name, data, func(line int, text string) error {
		if text[0] == '#' {
			return nil
		}
		if msg := badKey(text); msg != "" {
			return &FileError{File: name, Line: line, Msg: "the key " + msg}
		}
		keys = append(keys, text)
		return nil
	})
	if err == nil && len(keys) == 0 {
		err = &FileError{File: name, Msg: "no key in the file", Hint: "write one key a line"}
	}
	return keys, err
}

// badKey says what makes a key unfit to be sent in a header; "" is fit. It
// does not repeat the key, which may be a credential.
func badKey(k string) string {
	if len(k) > maxKeyName {
		return fmt.Sprintf("has %d bytes; the most is %d", len(k), maxKeyName)
	}
	if !utf8.ValidString(k) {
		return "is not UTF-8"
	}
	for _, c := range k {
		if c < ' ' || c == 0x7f {
			return fmt.Sprintf("has a control character (%U)", c)
		}
	}
	return ""
}

// eachLine calls f with every line that is not blank, trimmed, and its number.
func eachLine(name string, data []byte, f func(line int, text string) error) error {
	if len(data) > maxFileBytes {
		return &FileError{File: name, Msg: fmt.Sprintf("%d bytes; the most is %d", len(data), maxFileBytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := 1; len(data) > 0; line++ {
		if line > maxFileLines {
			return &FileError{File: name, Line: line, Msg: fmt.Sprintf("more than %d lines", maxFileLines)}
		}
		text := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			text, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if err := f(line, string(text)); err != nil {
			return err
		}
	}
	return nil
}

// excerpt shows the start of an offending text.
func excerpt(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}
