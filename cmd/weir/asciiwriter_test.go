package main

import (
	"bytes"
	"testing"
)

// A character may come in pieces, and what has no ASCII is a ?.
func TestASCIIWriter(t *testing.T) {
	var out bytes.Buffer
	w := &asciiWriter{w: &out}
	text := "\x1b[1mpeak\x1b[0m ··█▂ × 3 é\xff\n"
	for i := range len(text) {
		if n, err := w.Write([]byte(text[i : i+1])); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if got, want := out.String(), "\x1b[1mpeak\x1b[0m ..#_ x 3 ??\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
