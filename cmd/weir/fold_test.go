package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	text := "one two \x1b[1mthree\x1b[0m four averyverylongword five"
	got := fold(text, "  ", 14)
	if strings.Join(strings.Fields(got), " ") != text {
		t.Errorf("words were lost: %q", got)
	}
	for line := range strings.SplitSeq(got, "\n") {
		if n := columns(line); n > 14 && !strings.Contains(line, "averyverylongword") || !strings.HasPrefix(line, "  ") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if n := utf8.RuneCountInString(fold("a b", "", 80)); n != 3 {
		t.Errorf("%d columns", n)
	}
}
