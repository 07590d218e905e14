//go:build unix

package tui

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/weir-cli/weir/internal/peertest"
)

// roleEnv makes this test binary play a part in TestTerminal: the leader of a
// session, as a shell is, or the dashboard in it.
const roleEnv = "WEIR_TUI_TEST_ROLE"

// ignoreEnv, when it is set, has the dashboard started as nohup does it.
const ignoreEnv = "WEIR_TUI_TEST_NOHUP"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "leader":
		lead()
	case "dashboard":
		os.Exit(showRun())
	default:
		os.Exit(m.Run())
	}
}

// panicky breaks at a key.
type panicky struct{ model }

func (p panicky) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyMsg); ok && k.String() == "P" {
		panic("on purpose")
	}
	next, cmd := p.model.Update(msg)
	return panicky{next.(model)}, cmd
}

// showRun is what a verb does with a dashboard, around the saved run.
func showRun() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	tape, _ := openRun(&testing.T{}, false)
	err := start(ctx, panicky{newModel(tape, Options{Colors: Colors16})}, os.Stdin, os.Stdout).Wait()
	fmt.Println("the summary:", err)
	if err != nil {
		return 5
	}
	return 0
}

// lead starts the dashboard as a shell starts a job and tells on descriptor 3
// what becomes of it. It ends when descriptor 4 does.
func lead() {
	// What the tests themselves were started under, such as nohup, is not the
	// dashboard's.
	if signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP); os.Getenv(ignoreEnv) != "" {
		signal.Ignore(syscall.SIGHUP)
	}
	tell, orders := os.NewFile(3, "tell"), os.NewFile(4, "orders")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=dashboard")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(tell, "failed", err)
		os.Exit(1)
	}
	go func() {
		for {
			var st syscall.WaitStatus
			if _, err := syscall.Wait4(cmd.Process.Pid, &st, syscall.WUNTRACED, nil); err != nil {
				continue
			}
			switch {
			case st.Stopped():
				fmt.Fprintln(tell, "stopped")
			case st.Signaled():
				fmt.Fprintln(tell, "killed by", st.Signal())
				return
			case st.Exited():
				fmt.Fprintln(tell, "exit", st.ExitStatus())
				return
			}
		}
	}()
	lines := bufio.NewScanner(orders)
	for lines.Scan() {
		var n int
		fmt.Sscan(lines.Text(), &n)
		_ = syscall.Kill(cmd.Process.Pid, syscall.Signal(n))
	}
	_ = cmd.Process.Kill()
	os.Exit(0)
}

// terminal is a pseudo terminal with a dashboard on it.
type terminal struct {
	t      *testing.T
	screen *os.File // our end
	tty    *os.File
	before *term.State
	orders io.Writer
	told   chan string

	mu   sync.Mutex
	seen bytes.Buffer
}

func openTerminal(t *testing.T, env ...string) *terminal {
	if testing.Short() {
		t.Skip("bubbletea's reader races with its own shutdown, which the race detector would call a failure")
	}
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		peertest.Missing(t, "there is no pseudo terminal: "+err.Error())
	}
	tm := &terminal{t: t, screen: screen, tty: tty, told: make(chan string, 16)}
	tm.size(80, 24)
	if tm.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	toldR, toldW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ordersR, ordersW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tm.orders = ordersW
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=leader", "TERM=xterm-256color")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.ExtraFiles = []*os.File{toldW, ordersR}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toldW.Close()
	ordersR.Close()
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := screen.Read(buf)
			tm.mu.Lock()
			tm.seen.Write(buf[:n])
			tm.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		for lines := bufio.NewScanner(toldR); lines.Scan(); {
			tm.told <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		ordersW.Close()
		_ = cmd.Wait()
		tty.Close()
		screen.Close()
	})
	tm.waitFor("the dashboard", func(s string) bool { return strings.Contains(s, "admitted") && strings.Contains(s, "\x1b[?1049h") })
	return tm
}

func (tm *terminal) size(w, h int) {
	if err := pty.Setsize(tm.screen, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		tm.t.Fatal(err)
	}
}

func (tm *terminal) output() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.seen.String()
}

func (tm *terminal) forget() {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.seen.Reset()
}

// patience is how long a busy machine may take.
const patience = 5 * time.Second

func (tm *terminal) waitFor(what string, ok func(seen string) bool) {
	tm.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok(tm.output()) {
			return
		}
	}
	tm.t.Fatalf("%s did not come; the terminal saw %q", what, tm.output())
}

func (tm *terminal) becomes(want string) {
	tm.t.Helper()
	select {
	case got := <-tm.told:
		if got != want {
			tm.t.Fatalf("the dashboard: %q, want %q; the terminal saw %q", got, want, tm.output())
		}
	case <-time.After(patience):
		tm.t.Fatalf("the dashboard did not become %q; the terminal saw %q", want, tm.output())
	}
}

func (tm *terminal) typeKeys(keys string) { fmt.Fprint(tm.screen, keys) }

func (tm *terminal) signal(s syscall.Signal) { fmt.Fprintln(tm.orders, int(s)) }

// raw reports whether the terminal's modes differ from those at the start.
func (tm *terminal) raw() bool {
	tm.t.Helper()
	now, err := term.GetState(int(tm.tty.Fd()))
	if err != nil {
		tm.t.Fatal(err)
	}
	return !reflect.DeepEqual(now, tm.before)
}

// restored fails unless the terminal is as it was: its modes, the normal
// screen, a cursor to be seen, no bracketed paste, its own mouse.
func (tm *terminal) restored() {
	tm.t.Helper()
	tm.waitFor("the normal screen", func(s string) bool { return strings.LastIndex(s, "\x1b[?1049l") > strings.LastIndex(s, "\x1b[?1049h") })
	if tm.raw() {
		tm.t.Error("the terminal's modes are not what they were")
	}
	s := tm.output()
	for _, m := range [][2]string{{"\x1b[?25h", "\x1b[?25l"}, {"\x1b[?2004l", "\x1b[?2004h"}, {"\x1b[?1002l", mouseTaken}} {
		if strings.LastIndex(s, m[0]) < strings.LastIndex(s, m[1]) {
			tm.t.Errorf("%q was not undone by %q", m[1], m[0])
		}
	}
	if strings.Contains(s, "\x1b]") || strings.Contains(s, "\x1b[6n") {
		tm.t.Error("the terminal was asked something, which not every one answers")
	}
}

// mouseTaken is what takes the mouse from a terminal.
const mouseTaken = "\x1b[?1002h"

// Whatever ends or stops the dashboard, the terminal is as it was.
func TestTerminal(t *testing.T) {
	for _, tt := range []struct {
		name    string
		end     func(*terminal)
		becomes string
		says    string // on the normal screen
	}{
		{"quit", func(tm *terminal) { tm.typeKeys("q") }, "exit 0", "the summary: <nil>"},
		{"interrupt key", func(tm *terminal) { tm.typeKeys("\x03") }, "exit 0", "the summary: <nil>"},
		{"terminate", func(tm *terminal) { tm.signal(syscall.SIGTERM) }, "exit 0", "the summary: <nil>"},
		{"interrupt", func(tm *terminal) { tm.signal(syscall.SIGINT) }, "exit 0", "the summary: <nil>"},
		{"hang up", func(tm *terminal) { tm.signal(syscall.SIGHUP) }, "killed by hangup", ""},
		{"panic", func(tm *terminal) { tm.typeKeys("P") }, "exit 5", "the summary: the dashboard broke: on purpose"},
		{"resize storm", func(tm *terminal) {
			for i := range 200 {
				tm.size(1+i*7%200, 1+i*3%60)
			}
			tm.forget()
			tm.size(120, 40)
			tm.waitFor("the wide screen", func(s string) bool { return strings.Contains(s, "worst excess") })
			tm.size(20, 5)
			tm.waitFor("a word about its size", func(s string) bool { return strings.Contains(s, "too small") })
			tm.typeKeys("q")
		}, "exit 0", "the summary: <nil>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tm := openTerminal(t)
			if !tm.raw() {
				t.Error("keys are not taken one by one")
			}
			if strings.Contains(tm.output(), mouseTaken) {
				t.Error("the mouse is taken before anybody asked")
			}
			tm.typeKeys("M")
			tm.waitFor("the mouse", func(s string) bool { return strings.Contains(s, mouseTaken) })
			tt.end(tm)
			tm.becomes(tt.becomes)
			tm.restored()
			tm.waitFor(tt.says, func(s string) bool { return strings.Contains(s[strings.LastIndex(s, "\x1b[?1049l"):], tt.says) })
		})
	}
}

// Under nohup a hang-up changes nothing.
func TestHangUpUnderNohup(t *testing.T) {
	tm := openTerminal(t, ignoreEnv+"=1")
	tm.signal(syscall.SIGHUP)
	tm.typeKeys("2")
	tm.waitFor("the view of keys", func(s string) bool { return strings.Contains(s, "6 of 6 keys") })
	tm.typeKeys("q")
	tm.becomes("exit 0")
	tm.restored()
}

// A stopped dashboard leaves the terminal to the shell and comes back with the
// job, by key and by signal.
func TestSuspend(t *testing.T) {
	for name, stop := range map[string]func(*terminal){
		"key":    func(tm *terminal) { tm.typeKeys("\x1a") },
		"signal": func(tm *terminal) { tm.signal(syscall.SIGTSTP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tm := openTerminal(t)
			tm.typeKeys("M")
			tm.waitFor("the mouse", func(s string) bool { return strings.Contains(s, mouseTaken) })
			for range 2 {
				stop(tm)
				tm.becomes("stopped")
				tm.restored()
				tm.forget()
				tm.signal(syscall.SIGCONT)
				tm.waitFor("the dashboard again", func(s string) bool {
					return strings.Contains(s, "\x1b[?1049h") && strings.Contains(s, "admitted") && strings.Contains(s, mouseTaken)
				})
				if !tm.raw() {
					t.Error("keys are not taken one by one")
				}
			}
			tm.typeKeys("q")
			tm.becomes("exit 0")
			tm.restored()
		})
	}
}
