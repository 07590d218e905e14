package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameMax is how many characters of a name are shown.
const nameMax = 120

// Clean makes a name from outside safe to print on a terminal: control
// characters, the ones that turn the direction of text and other invisible
// ones are written as escapes, invalid bytes as \xNN, and a long name is cut.
func Clean(s string) string { return clean(s, nameMax) }

// CleanLong is Clean for what must not be cut short, such as a command.
func CleanLong(s string) string { return clean(s, 16<<10) }

func clean(s string, most int) string {
	if plain(s, most) {
		return s
	}
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n++; n > most {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError && invalidAt(s, i):
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

func plain(s string, most int) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return len(s) <= most
}

func invalidAt(s string, i int) bool {
	_, size := utf8.DecodeRuneInString(s[i:])
	return size == 1
}
