package replay

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// scanner reads JSON in place. Texts with escapes are unpacked into buf.
type scanner struct {
	b   []byte
	i   int
	buf []byte
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t') {
		s.i++
	}
}

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// take passes over c and the space before it.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

func (s *scanner) atEnd() bool {
	s.space()
	return s.i == len(s.b)
}

// text reads a string.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.i
	end := bytes.IndexByte(s.b[start:], '"')
	if end < 0 {
		return nil, false
	}
	if raw := s.b[start : start+end]; bytes.IndexByte(raw, '\\') < 0 {
		s.i = start + end + 1
		return raw, true
	}
	end = closing(s.b[start:])
	if end < 0 {
		return nil, false
	}
	s.i = start + end + 1
	return s.unpack(s.b[start : start+end])
}

// unpack resolves escapes.
func (s *scanner) unpack(raw []byte) ([]byte, bool) {
	if cap(s.buf) < len(s.b)*2 {
		s.buf = make([]byte, 0, len(s.b)*2) // earlier texts keep the old one
	}
	start := len(s.buf)
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			s.buf = append(s.buf, raw[i])
			continue
		}
		if i++; i >= len(raw) {
			return nil, false
		}
		switch raw[i] {
		case '"', '\\', '/':
			s.buf = append(s.buf, raw[i])
		case 'b':
			s.buf = append(s.buf, '\b')
		case 'f':
			s.buf = append(s.buf, '\f')
		case 'n':
			s.buf = append(s.buf, '\n')
		case 'r':
			s.buf = append(s.buf, '\r')
		case 't':
			s.buf = append(s.buf, '\t')
		case 'u':
			if i+5 > len(raw) {
				return nil, false
			}
			n, err := strconv.ParseUint(string(raw[i+1:i+5]), 16, 32)
			if err != nil {
				return nil, false
			}
			s.buf = utf8.AppendRune(s.buf, rune(n))
			i += 4
		default:
			return nil, false
		}
	}
	return s.buf[start:len(s.buf):len(s.buf)], true
}

// value reads any value: a string without its quotes, the text of a number,
// true, false, nothing for null, and all of an object or a list.
func (s *scanner) value() ([]byte, bool) {
	s.space()
	switch c := s.peek(); {
	case c == '"':
		return s.text()
	case c == '{' || c == '[':
		return s.nested()
	case c == 'n' && bytes.HasPrefix(s.b[s.i:], []byte("null")):
		s.i += 4
		return nil, true
	case c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f':
		start := s.i
		for s.i < len(s.b) && s.b[s.i] != ',' && s.b[s.i] != '}' && s.b[s.i] != ']' && s.b[s.i] != ' ' {
			s.i++
		}
		v := s.b[start:s.i]
		return v, c == '-' || c <= '9' || string(v) == "true" || string(v) == "false"
	}
	return nil, false
}

// nested passes over an object or a list.
func (s *scanner) nested() ([]byte, bool) {
	start, depth := s.i, 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '"':
			end := closing(s.b[s.i+1:])
			if end < 0 {
				return nil, false
			}
			s.i += end + 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.i++
				return s.b[start:s.i], true
			}
		}
		s.i++
	}
	return nil, false
}
