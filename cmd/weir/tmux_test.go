package main

import (
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// screen SOCKET FILE waits until the tmux at SOCKET shows what FILE holds.
func screen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: screen SOCKET FILE")
	}
	want := ts.ReadFile(args[1])
	var got string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		out, err := exec.Command("tmux", "-S", ts.MkAbs(args[0]), "capture-pane", "-p").Output()
		if err != nil {
			ts.Fatalf("tmux capture-pane: %v", err)
		}
		if got = string(out); strings.TrimRight(got, "\n") == strings.TrimRight(want, "\n") {
			return
		}
	}
	ts.Fatalf("the terminal shows\n%s\nand not\n%s", got, want)
}
