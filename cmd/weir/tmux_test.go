package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// await FILE waits until a file is there.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for range 800 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	ts.Fatalf("%s did not come", args[0])
}

// shows SOCKET REGEXP waits until the tmux at SOCKET shows text of that form.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shows SOCKET REGEXP")
	}
	re := regexp.MustCompile(args[1])
	wait(ts, args[0], "text like "+args[1], re.MatchString)
}

// screen SOCKET FILE waits until the tmux at SOCKET shows what FILE holds.
func screen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: screen SOCKET FILE")
	}
	want := ts.ReadFile(args[1])
	wait(ts, args[0], want, func(got string) bool { return strings.TrimRight(got, "\n") == strings.TrimRight(want, "\n") })
}

// wait looks at a tmux until what it shows is ok.
func wait(ts *testscript.TestScript, socket, want string, ok func(string) bool) {
	var got string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		out, err := exec.Command("tmux", "-S", ts.MkAbs(socket), "capture-pane", "-p").Output()
		if err != nil {
			ts.Fatalf("tmux capture-pane: %v", err)
		}
		if got = string(out); ok(got) {
			return
		}
	}
	ts.Fatalf("the terminal shows\n%s\nand not\n%s", got, want)
}
