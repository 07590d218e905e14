package main

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// A pipe that nobody writes to and nobody closes, as tail -f has one: the first
// interrupt ends the reading, and what came is reported.
func TestAnInterruptEndsATraceThatDoesNot(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"replay - --limit 1/s", "a          2         2"},
		{"replay stats -", "a: 2 calls"},
		{"replay convert -", "2,a,1,"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			a, stdout, stderr := testApp()
			r, w := io.Pipe()
			defer w.Close()
			a.stdin = r
			ctx, interrupt := context.WithCancel(t.Context())
			go func() {
				defer interrupt()
				_, _ = io.WriteString(w, "t,key\n1,a\n2,a\n")
				_, _ = io.WriteString(w, "3,b\n") // taken only after the first part has been handed on
			}()
			code := a.execute(ctx, newRoot(a, newReplayCmd(a)), strings.Fields(tt.args))
			if code != exitInterrupted || stderr.Len() > 0 {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if !strings.Contains(stdout.String(), tt.want) {
				t.Errorf("not %q: %s", tt.want, stdout)
			}
		})
	}
}

func TestStreamGivesWhatItReads(t *testing.T) {
	text := strings.Repeat("0123456789", 3*chunkSize/10)
	if err := iotest.TestReader(newStream(t.Context(), strings.NewReader(text)), []byte(text)); err != nil {
		t.Error(err)
	}
	broken := newStream(t.Context(), io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if got, err := io.ReadAll(broken); string(got) != "ab" || err != io.ErrUnexpectedEOF {
		t.Errorf("%q %v", got, err)
	}
}

// Of a trace that comes line by line, as tail -f gives it, each line is written
// before the next one is there.
func TestConvertWritesWhatHasCome(t *testing.T) {
	a, _, stderr := testApp()
	in, lines := io.Pipe()
	converted, out := io.Pipe()
	a.stdin, a.stdout = in, out
	done := make(chan int)
	go func() {
		code := a.execute(t.Context(), newRoot(a, newReplayCmd(a)), []string{"replay", "convert", "-"})
		out.Close()
		done <- code
	}()
	got := bufio.NewScanner(converted)
	for i, want := range []string{"t,key,cost,verdict", "1,a,1,", "2,b,1,"} {
		if i > 0 {
			if _, err := io.WriteString(lines, want[:3]+"\n"); err != nil {
				t.Fatal(err)
			}
		} else {
			go func() { _, _ = io.WriteString(lines, "t,key\n0,z\n") }()
		}
		if !got.Scan() || got.Text() != want {
			t.Fatalf("line %d is %q, want %q: %s", i, got.Text(), want, stderr)
		}
		if i == 0 && (!got.Scan() || got.Text() != "0,z,1,") {
			t.Fatalf("the first call is %q", got.Text())
		}
	}
	lines.Close()
	if code := <-done; code != 0 || got.Scan() {
		t.Errorf("exit %d and more: %q, %s", code, got.Text(), stderr)
	}
}
