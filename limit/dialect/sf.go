package dialect

import "unicode/utf8"

// sf reads structured fields (RFC 9651) in place: nothing is copied, so it
// does not allocate. After a false, the whole field is to be ignored.
type sf struct {
	b []byte
	i int
	// loose is set by a byte sequence without its padding, which RFC 9651 asks
	// parsers to accept and many do not.
	loose bool
}

type sfKind uint8

const (
	sfNone sfKind = iota
	sfInt
	sfDec
	sfString // s is the text between the quotes, still escaped
	sfToken
	sfBytes // s is the base64 text
	sfBool
	sfDate
	sfDisplay
	sfInner // an inner list, read and dropped
)

type sfValue struct {
	kind sfKind
	n    int64 // integers, dates, booleans
	s    []byte
}

func (p *sf) eof() bool { return p.i >= len(p.b) }

func (p *sf) spaces() {
	for !p.eof() && p.b[p.i] == ' ' {
		p.i++
	}
}

// member reads an item's value or an inner list; its parameters are next.
func (p *sf) member(v *sfValue) bool {
	if p.eof() || p.b[p.i] != '(' {
		return p.bare(v)
	}
	*v = sfValue{kind: sfInner}
	p.i++
	var inner sfValue
	for {
		p.spaces()
		if p.eof() {
			return false
		}
		if p.b[p.i] == ')' {
			p.i++
			return true
		}
		if !p.bare(&inner) || !p.skipParams() || p.eof() || p.b[p.i] != ')' && p.b[p.i] != ' ' {
			return false
		}
	}
}

// param reads the next parameter; more is false when there is none.
func (p *sf) param(k *[]byte, v *sfValue) (more, ok bool) {
	if p.eof() || p.b[p.i] != ';' {
		return false, true
	}
	p.i++
	p.spaces()
	if !p.key(k) {
		return false, false
	}
	if p.eof() || p.b[p.i] != '=' {
		*v = sfValue{kind: sfBool, n: 1}
		return true, true
	}
	p.i++
	return true, p.bare(v)
}

func (p *sf) skipParams() bool {
	var k []byte
	var v sfValue
	for {
		if more, ok := p.param(&k, &v); !more || !ok {
			return ok
		}
	}
}

// comma steps over the comma after a member; more is false at the end.
func (p *sf) comma() (more, ok bool) {
	p.ows()
	if p.eof() {
		return false, true
	}
	if p.b[p.i] != ',' {
		return false, false
	}
	p.i++
	p.ows()
	return true, !p.eof()
}

func (p *sf) ows() {
	for !p.eof() && (p.b[p.i] == ' ' || p.b[p.i] == '\t') {
		p.i++
	}
}

func (p *sf) key(k *[]byte) bool {
	if p.eof() {
		return false
	}
	if c := p.b[p.i]; (c < 'a' || c > 'z') && c != '*' {
		return false
	}
	start := p.i
	for ; !p.eof(); p.i++ {
		c := p.b[p.i]
		if (c < 'a' || c > 'z') && !isDigit(c) && c != '_' && c != '-' && c != '.' && c != '*' {
			break
		}
	}
	*k = p.b[start:p.i]
	return true
}

func (p *sf) bare(v *sfValue) bool {
	*v = sfValue{}
	if p.eof() {
		return false
	}
	switch c := p.b[p.i]; {
	case c == '"':
		return p.str(v)
	case c == '-' || isDigit(c):
		return p.number(v)
	case c == '*' || isAlpha(c):
		start := p.i
		for p.i++; !p.eof() && isTokenChar(p.b[p.i]); p.i++ {
		}
		v.kind, v.s = sfToken, p.b[start:p.i]
		return true
	case c == ':':
		return p.bytes(v)
	case c == '?':
		if p.i+1 >= len(p.b) || p.b[p.i+1]|1 != '1' {
			return false
		}
		v.kind, v.n = sfBool, int64(p.b[p.i+1]-'0')
		p.i += 2
		return true
	case c == '@':
		p.i++
		if !p.number(v) || v.kind != sfInt {
			return false
		}
		v.kind = sfDate
		return true
	case c == '%':
		return p.display(v)
	}
	return false
}

// number reads an Integer (15 digits) or a Decimal (12 and 3).
func (p *sf) number(v *sfValue) bool {
	start := p.i
	if !p.eof() && p.b[p.i] == '-' {
		p.i++
	}
	first := p.i
	for ; !p.eof() && isDigit(p.b[p.i]); p.i++ {
		if p.i-first == 15 {
			return false
		}
		v.n = v.n*10 + int64(p.b[p.i]-'0')
	}
	digits := p.i - first
	if digits == 0 {
		return false
	}
	if p.b[start] == '-' {
		v.n = -v.n
	}
	v.kind = sfInt
	if !p.eof() && p.b[p.i] == '.' {
		p.i++
		point := p.i
		for ; !p.eof() && isDigit(p.b[p.i]); p.i++ {
		}
		if digits > 12 || p.i == point || p.i-point > 3 {
			return false
		}
		v.kind = sfDec
	}
	v.s = p.b[start:p.i]
	return true
}

func (p *sf) str(v *sfValue) bool {
	p.i++
	start := p.i
	for ; !p.eof(); p.i++ {
		switch c := p.b[p.i]; {
		case c == '"':
			v.kind, v.s = sfString, p.b[start:p.i]
			p.i++
			return true
		case c == '\\':
			p.i++
			if p.eof() || p.b[p.i] != '"' && p.b[p.i] != '\\' {
				return false
			}
		case c < 0x20 || c >= 0x7f:
			return false
		}
	}
	return false
}

func (p *sf) bytes(v *sfValue) bool {
	p.i++
	start := p.i
	pads := 0
	for ; !p.eof(); p.i++ {
		c := p.b[p.i]
		switch {
		case c == ':':
			n := p.i - start
			v.kind, v.s = sfBytes, p.b[start:p.i]
			p.i++
			if pads > 0 {
				return pads <= 2 && n%4 == 0
			}
			p.loose = p.loose || n%4 != 0
			return n%4 != 1
		case c == '=':
			pads++
		case pads > 0 || !isAlpha(c) && !isDigit(c) && c != '+' && c != '/':
			return false
		}
	}
	return false
}

// display reads a Display String; its escapes must spell valid UTF-8.
func (p *sf) display(v *sfValue) bool {
	p.i++
	if p.eof() || p.b[p.i] != '"' {
		return false
	}
	p.i++
	start := p.i
	var char [utf8.UTFMax]byte
	n := 0
	for !p.eof() {
		c := p.b[p.i]
		p.i++
		switch {
		case c == '"':
			v.kind, v.s = sfDisplay, p.b[start:p.i-1]
			return n == 0
		case c < 0x20 || c >= 0x7f:
			return false
		case c == '%':
			if p.i+2 > len(p.b) {
				return false
			}
			hi, lo := unhex(p.b[p.i]), unhex(p.b[p.i+1])
			if hi > 15 || lo > 15 {
				return false
			}
			c = hi<<4 | lo
			p.i += 2
		}
		char[n] = c
		n++
		if utf8.FullRune(char[:n]) {
			if r, size := utf8.DecodeRune(char[:n]); r == utf8.RuneError && size == 1 {
				return false
			}
			n = 0
		}
	}
	return false
}

func unhex(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

func isTokenChar(c byte) bool {
	if isAlpha(c) || isDigit(c) {
		return true
	}
	switch c {
	case '!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~', ':', '/':
		return true
	}
	return false
}

// validList reports whether b is a List. Fields are checked as a whole before
// anything of them is used, because there is no partial result.
func validList(b []byte) (loose, ok bool) {
	p := sf{b: b}
	p.spaces()
	var v sfValue
	for more := !p.eof(); more; {
		if !p.member(&v) || !p.skipParams() {
			return false, false
		}
		if more, ok = p.comma(); !ok {
			return false, false
		}
	}
	return p.loose, true
}

// validDictionary reports whether b is a Dictionary.
func validDictionary(b []byte) (loose, ok bool) {
	p := sf{b: b}
	p.spaces()
	var k []byte
	var v sfValue
	for more := !p.eof(); more; {
		if !p.entry(&k, &v) || !p.skipParams() {
			return false, false
		}
		if more, ok = p.comma(); !ok {
			return false, false
		}
	}
	return p.loose, true
}

// entry reads key[=value] of a Dictionary.
func (p *sf) entry(k *[]byte, v *sfValue) bool {
	if !p.key(k) {
		return false
	}
	if p.eof() || p.b[p.i] != '=' {
		*v = sfValue{kind: sfBool, n: 1}
		return true
	}
	p.i++
	return p.member(v)
}
