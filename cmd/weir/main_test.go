package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/gateway"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"weir":      main,
		"weir-wait": mainThatWaits,
		"weir-seen": mainThatSees,
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
			screens, err2 := filepath.Abs("../../tui/testdata")
			env.Setenv("SCREENS", screens)
			return errors.Join(err, err2)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":     exits,
			"aim":       aim,
			"miniredis": miniRedis,
			"screen":    screen,
			"shows":     shows,
			"await":     await,
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
	if code := exitOf(ts, args[1:]); code != args[0] {
		ts.Fatalf("%s: exit %s, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

func exitOf(ts *testscript.TestScript, args []string) string {
	if err := ts.Exec(args[0], args[1:]...); err != nil {
		return strings.TrimPrefix(err.Error(), "exit status ")
	}
	return "0"
}

// aim CODE PORTS ARGS... waits for the addresses in the file PORTS, which
// weir serve writes, and runs weir ARGS with them at the end, as exits does.
// When the machine was too busy for the load to mean anything it runs again.
func aim(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: aim CODE PORTS ARGS...")
	}
	path := ts.MkAbs(args[1])
	for range 1200 {
		if _, err := os.Stat(path); err == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	line := append(append([]string{"weir"}, args[2:]...), strings.Fields(ts.ReadFile(path))...)
	code := exitOf(ts, line)
	for tries := 1; tries < 5 && code == strconv.Itoa(exitUntrusted); tries++ {
		code = exitOf(ts, line)
	}
	if code != args[0] {
		ts.Fatalf("%s: exit %s, want %s", strings.Join(line, " "), code, args[0])
	}
}

// mainThatSees waits until the weir serve at a URL has been offered a request.
func mainThatSees() {
	for range 1200 {
		res, err := http.Get(os.Args[1] + "/-/counts")
		if err == nil {
			var s gateway.Snapshot
			err = json.NewDecoder(res.Body).Decode(&s)
			res.Body.Close()
			if err == nil && s.Totals.Offered > 0 {
				return
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "no request came")
	os.Exit(1)
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
