package report

import (
	"math/bits"
	"strings"
)

// ascii are the nearest to what reports and charts are drawn with.
var ascii = func() map[rune]byte {
	m := map[rune]byte{}
	for _, pair := range []struct {
		from string
		to   byte
	}{{"▁▂▃", '_'}, {"▄▅", '='}, {"▆▇█▋▊▉■", '#'}, {"▏▎▍▌│❚┃", '|'}, {"▒", '%'}, {"─–—−", '-'}, {"┄", '~'}, {"┊", ':'},
		{"┤├┼┴┬└┘┌┐╭╮╰╯", '+'}, {"▲↑", '^'}, {"▼↓", 'v'}, {"●", '*'}, {"○", 'o'}, {"▶→≥›", '>'}, {"←≤‹", '<'}, {"×✗", 'x'}, {"÷", '/'},
		{"·…", '.'}, {"’‘", '\''}, {"“”", '"'}, {"µμ", 'u'}, {"≈", '~'}, {"\u00a0\u2009\u202f", ' '}} {
		for _, r := range pair.from {
			m[r] = pair.to
		}
	}
	return m
}()

// ASCII is the character nearest to r for a terminal that shows no others, as
// wide as one column: bars stay bars and dots dots. Letters have none and are ?.
func ASCII(r rune) byte {
	switch {
	case r < 0x80:
		return byte(r)
	case r >= 0x2800 && r < 0x2900: // braille
		return " ..::::::"[bits.OnesCount8(uint8(r-0x2800))]
	}
	if b, ok := ascii[r]; ok {
		return b
	}
	return '?'
}

// SaysUTF8 reports whether a terminal shows more than ASCII, by the first of
// the values of LC_ALL, LC_CTYPE and LANG that is not empty. One that says
// nothing of it is taken to: that is what terminals are today, and what a
// container leaves unset.
func SaysUTF8(locale ...string) bool {
	for _, l := range locale {
		if l == "" {
			continue
		}
		_, charset, named := strings.Cut(strings.ToLower(l), ".")
		if !named {
			return l != "C" && l != "POSIX"
		}
		charset, _, _ = strings.Cut(charset, "@")
		return charset == "utf-8" || charset == "utf8"
	}
	return true
}
