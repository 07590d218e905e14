//go:build unix

// Command tui runs one load with and without the dashboard, in turns, on a
// pseudo terminal of 160×45, and prints how late the sender was and what CPU it
// used. Machines are noisy: medians are quoted, and only the differences within
// one run mean something.
//
//	go run ./bench/tui [-rounds 5] [-rate 20000/s] [-duration 5s]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/weir-cli/weir/report"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each has its turn")
	rate := flag.String("rate", "20000/s", "first attempts per time")
	length := flag.Duration("duration", 5*time.Second, "of one run")
	flag.Parse()
	if err := bench(*rounds, *rate, *length); err != nil {
		fmt.Fprintln(os.Stderr, "bench/tui:", err)
		os.Exit(1)
	}
}

func bench(rounds int, rate string, length time.Duration) error {
	dir, err := os.MkdirTemp("", "weir-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	weir := filepath.Join(dir, "weir")
	if out, err := exec.Command("go", "build", "-o", weir, "./cmd/weir").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	ports := filepath.Join(dir, "ports")
	serve := exec.Command(weir, "serve", "--listen", "127.0.0.1:0", "--limit", "1000/s,burst=1000", "--ports-file", ports, "--quiet")
	if err := serve.Start(); err != nil {
		return err
	}
	defer func() { _ = serve.Process.Kill(); _ = serve.Wait() }()
	var url []byte
	for end := time.Now().Add(10 * time.Second); len(url) == 0; time.Sleep(20 * time.Millisecond) {
		if url, err = os.ReadFile(ports); err != nil && time.Now().After(end) {
			return fmt.Errorf("weir serve did not come up: %w", err)
		}
	}
	names := []string{"without", "with"}
	late, cpu := map[string][]float64{}, map[string][]float64{}
	for range rounds {
		for _, name := range names {
			out := filepath.Join(dir, name+".json")
			args := []string{"load", strings.TrimSpace(string(url)), "--rate", rate, "--duration", length.String(), "--behaviour", "give-up",
				"--keys", "1", "--json", "--out", out}
			if name == "with" {
				args = append(args, "--tui")
			} else {
				args = append(args, "--quiet")
			}
			r, err := runLoad(exec.Command(weir, args...), out)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			late[name], cpu[name] = append(late[name], r.Sender.LateMS.P99), append(cpu[name], r.Sender.CPUS/r.DurationS)
			fmt.Printf("%-8s offered %s, late p99 %.2f ms, CPU %.1f%% of a core\n", name, report.Count(r.Totals.Offered), r.Sender.LateMS.P99, 100*r.Sender.CPUS/r.DurationS)
		}
	}
	fmt.Printf("median: late p99 %.2f ms without, %.2f ms with; CPU %.1f%% without, %.1f%% with\n",
		median(late["without"]), median(late["with"]), 100*median(cpu["without"]), 100*median(cpu["with"]))
	return nil
}

// runLoad runs a load on a terminal and leaves the dashboard when it is over.
func runLoad(cmd *exec.Cmd, out string) (*report.Result, error) {
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	_ = os.Remove(out)
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 160, Rows: 45})
	if err != nil {
		return nil, err
	}
	defer screen.Close()
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := screen.Read(buf)
			if err != nil {
				return
			}
			if bytes.Contains(buf[:n], []byte("■ over")) {
				_, _ = io.WriteString(screen, "q")
			}
		}
	}()
	_ = cmd.Wait() // its exit code is about trust
	f, err := os.Open(out)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.ReadResult(f)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
