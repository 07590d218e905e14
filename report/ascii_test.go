package report

import "testing"

// Every locale is taken for what it is; one that says nothing is UTF-8.
func TestSaysUTF8(t *testing.T) {
	for _, tc := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", true}, {"", "", "C", false}, {"C", "", "en_US.UTF-8", false}, {"", "C.UTF-8", "C", true},
		{"", "", "POSIX", false}, {"", "", "de_DE.utf8", true}, {"", "", "de_DE.ISO-8859-15@euro", false},
		{"", "", "de_DE.UTF-8@euro", true}, {"", "", "en_US", true},
	} {
		if got := SaysUTF8(tc.all, tc.ctype, tc.lang); got != tc.want {
			t.Errorf("LC_ALL=%q LC_CTYPE=%q LANG=%q: %v", tc.all, tc.ctype, tc.lang, got)
		}
	}
}

// What is admitted and what is refused differ in ASCII as well.
func TestASCII(t *testing.T) {
	in, want := "█▆▄▁ ⣿⣤⡇⠀ ─┄┊│└▲ × 3 ≤ … é界 a~", "##=_ :::  -~:|+^ x 3 < . ?? a~"
	var got []byte
	for _, r := range in {
		got = append(got, ASCII(r))
	}
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
