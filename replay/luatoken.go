package replay

import (
	"strconv"
	"strings"
)

// luaKind is what a token of a Lua script is.
type luaKind uint8

const (
	luaName   luaKind = iota // a name or a keyword
	luaString                // text is what it stands for
	luaNumber
	luaMark // one or more marks, such as ( or ==
)

// luaToken is a piece of a script.
type luaToken struct {
	kind luaKind
	text string
	line int
}

// luaTokens cuts a script up. Comments are left out. What is no Lua ends the
// list early; the server says what is wrong with it.
func luaTokens(src string) []luaToken {
	var out []luaToken
	line := 1
	add := func(k luaKind, text string, at int) { out = append(out, luaToken{k, text, at}) }
	if strings.HasPrefix(src, "#") { // a header
		i := strings.IndexByte(src, '\n')
		if i < 0 {
			return nil
		}
		src = src[i:]
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			i++
		case strings.HasPrefix(src[i:], "--"):
			i += 2
			if n, ok := longBracket(src[i:]); ok {
				line += strings.Count(src[i:i+n], "\n")
				i += n
				continue
			}
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case nameByte(c) && (c < '0' || c > '9'):
			start := i
			for i < len(src) && nameByte(src[i]) {
				i++
			}
			add(luaName, src[start:i], line)
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(src) && src[i+1] >= '0' && src[i+1] <= '9':
			start := i
			for i < len(src) && (nameByte(src[i]) || src[i] == '.' || (src[i] == '+' || src[i] == '-') && strings.ContainsRune("eE", rune(src[i-1]))) {
				i++
			}
			add(luaNumber, src[start:i], line)
		case c == '"' || c == '\'':
			text, n, lines := quotedLua(src[i:])
			add(luaString, text, line)
			line += lines
			i += n
		case c == '[':
			if n, ok := longBracket(src[i:]); ok {
				open := strings.IndexByte(src[i+1:], '[') + 2
				add(luaString, strings.TrimPrefix(src[i+open:i+n-open], "\n"), line)
				line += strings.Count(src[i:i+n], "\n")
				i += n
				continue
			}
			fallthrough
		default:
			n := 1
			for _, m := range []string{"...", "..", "==", "~=", "<=", ">="} {
				if strings.HasPrefix(src[i:], m) {
					n = len(m)
					break
				}
			}
			add(luaMark, src[i:i+n], line)
			i += n
		}
	}
	return out
}

func nameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// longBracket is the length of [[ ]] or [=[ ]=] at the start of src.
func longBracket(src string) (int, bool) {
	if !strings.HasPrefix(src, "[") {
		return 0, false
	}
	level := 0
	for 1+level < len(src) && src[1+level] == '=' {
		level++
	}
	if 1+level >= len(src) || src[1+level] != '[' {
		return 0, false
	}
	end := strings.Index(src, "]"+strings.Repeat("=", level)+"]")
	if end < 0 {
		return len(src), false
	}
	return end + level + 2, true
}

// quotedLua reads a string in quotes: what it stands for, how long it is in
// the source, and how many lines it goes on for.
func quotedLua(src string) (text string, n, lines int) {
	var b strings.Builder
	for i := 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == src[0]:
			return b.String(), i + 1, lines
		case c == '\n':
			return b.String(), i, lines // not closed
		case c != '\\' || i+1 >= len(src):
			b.WriteByte(c)
		default:
			i++
			switch e := src[i]; {
			case e >= '0' && e <= '9':
				j := i
				for j < len(src) && j < i+3 && src[j] >= '0' && src[j] <= '9' {
					j++
				}
				v, _ := strconv.Atoi(src[i:j])
				b.WriteByte(byte(v))
				i = j - 1
			case e == '\n':
				lines++
				b.WriteByte('\n')
			default:
				if k := strings.IndexByte("abfnrtv", e); k >= 0 {
					e = "\a\b\f\n\r\t\v"[k]
				}
				b.WriteByte(e)
			}
		}
	}
	return b.String(), len(src), lines
}
