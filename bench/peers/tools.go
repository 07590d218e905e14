//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// command is one tool with its arguments; note reads what it says about
// itself from what it left behind, when that is worth a column.
type command struct {
	name string
	args []string
	note func(out []byte) string
}

// tools are the paths of what was found or built; "" is not there.
type tools struct{ weir, wrk, h2load, bombardier, vegeta string }

// install builds weir from this tree, fetches the Go peers and looks for the
// others.
func install(dir string) (tools, error) {
	t := tools{weir: filepath.Join(dir, "weir")}
	if out, err := exec.Command("go", "build", "-o", t.weir, "./cmd/weir").CombinedOutput(); err != nil {
		return t, fmt.Errorf("building weir: %w\n%s", err, out)
	}
	for path, pkg := range map[*string]string{
		&t.bombardier: "github.com/codesenberg/bombardier@v1.2.6",
		&t.vegeta:     "github.com/tsenart/vegeta/v12@v12.13.0",
	} {
		cmd := exec.Command("go", "install", pkg)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "without %s: %v\n%s", pkg, err, out)
			continue
		}
		name := "bombardier"
		if path == &t.vegeta {
			name = "vegeta"
		}
		*path = filepath.Join(dir, name)
	}
	for path, name := range map[*string]string{&t.wrk: "wrk", &t.h2load: "h2load"} {
		found, err := exec.LookPath(name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "without %s: not installed\n", name)
			continue
		}
		*path = found
	}
	return t, nil
}

// closed are the tools at full speed over c connections, weir first.
func (t tools) closed(url string, c, seconds int) []command {
	n, d := strconv.Itoa(c), strconv.Itoa(seconds)
	list := []command{{name: "weir", args: []string{t.weir, "load", url, "--profile", "retry-storm", "--clients", n, "--connections", n,
		"--duration", d + "s", "--requests", "100M", "--keys", "1", "--limit", "1000M/s,burst=1000M", "--quiet", "--json"}, note: weirNote}}
	list = appendTool(list, "wrk", t.wrk, "-t1", "-c"+n, "-d"+d+"s", "--latency", url)
	list = appendTool(list, "bombardier", t.bombardier, "-c", n, "-d", d+"s", "-l", "-o", "json", "-p", "r", url)
	return appendTool(list, "vegeta", "/bin/sh", "-c", fmt.Sprintf("echo GET %s | %s attack -rate 0 -workers %s -max-workers %s -connections %s -duration %ss | %s report -type json",
		url, t.vegeta, n, n, n, d, t.vegeta))
}

// open are the tools at a constant rate over 50 connections.
func (t tools) open(url string, rate, seconds int, result string) []command {
	r, d := strconv.Itoa(rate), strconv.Itoa(seconds)
	list := []command{{name: "weir", args: []string{t.weir, "load", url, "--profile", "steady", "--rate", r + "/s", "--connections", "50",
		"--duration", d + "s", "--requests", "100M", "--quiet", "--json"}, note: weirNote}}
	list = appendTool(list, "h2load", t.h2load, "--h1", "-t1", "-c50", "--rps="+strconv.Itoa(rate/50), "-D", d, "--log-file="+result, url)
	list = appendTool(list, "bombardier", t.bombardier, "-r", r, "-c", "50", "-d", d+"s", "-l", "-o", "json", "-p", "r", url)
	return appendTool(list, "vegeta", "/bin/sh", "-c", fmt.Sprintf("echo GET %s | %s attack -rate %s -max-workers 256 -duration %ss | %s report -type json", url, t.vegeta, r, d, t.vegeta))
}

// appendTool leaves out what is not installed.
func appendTool(list []command, name, path string, args ...string) []command {
	if path == "" {
		return list
	}
	return append(list, command{name: name, args: append([]string{path}, args...)})
}
