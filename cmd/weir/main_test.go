package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weir":      main,
		"weir-wait": mainThatWaits,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/xdg")
			examples, err := filepath.Abs("../../examples")
			env.Setenv("EXAMPLES", examples)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"aim":   aim,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exits CODE ARGS... runs weir and compares its exit code. Like exec it sets
// stdout and stderr for the lines after it.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	code := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("%s: exit %s, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// aim CODE PORTS ARGS... waits for the addresses in the file PORTS, which
// weir serve writes, and runs weir ARGS with them at the end, as exits does.
func aim(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: aim CODE PORTS ARGS...")
	}
	path := ts.MkAbs(args[1])
	for range 200 {
		if _, err := os.Stat(path); err == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	exits(ts, false, append([]string{args[0], "weir"}, append(args[2:], strings.Fields(ts.ReadFile(path))...)...))
}

// mainThatWaits is weir with one more verb, for signals: it says that it is
// ready, waits for an interrupt and, by its argument, ends or hangs.
func mainThatWaits() {
	a := systemApp()
	wait := &cobra.Command{Use: "wait", Args: argNames("HOW")}
	wait.RunE = func(cmd *cobra.Command, args []string) error {
		os.WriteFile("ready", nil, 0o666)
		select {
		case <-cmd.Context().Done():
		case <-time.After(30 * time.Second):
			return fmt.Errorf("no interrupt came")
		}
		os.WriteFile("draining", nil, 0o666)
		fmt.Fprintln(a.stdout, "partial result")
		switch args[0] {
		case "hang":
			select {}
		case "cut":
			<-a.cut.Done()
			fmt.Fprintln(a.stdout, "cut")
		}
		return errInterrupted
	}
	os.Exit(run(a, newRoot(a, wait), os.Args[1:]))
}

// testApp is an app over buffers, with no environment and a fixed clock.
func testApp(env ...string) (a *app, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	vars := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	return &app{
		stdin:  strings.NewReader(""),
		stdout: stdout,
		stderr: stderr,
		width:  func() int { return 80 },
		height: func() int { return 0 },
		lookupEnv: func(name string) (string, bool) {
			v, ok := vars[name]
			return v, ok
		},
		now: func() time.Time { return time.Unix(1_700_000_000, 123_456_789) },
		cut: context.Background(),
	}, stdout, stderr
}

// runWith runs a command line over a root that holds only cmd.
func runWith(a *app, cmd *cobra.Command, args ...string) int {
	return a.execute(context.Background(), newRoot(a, cmd), args)
}
