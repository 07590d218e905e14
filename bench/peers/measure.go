//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"

	"github.com/weir-cli/weir/report"
)

// figure is one run of one tool, counted by the server and the kernel, not
// by the tool itself.
type figure struct {
	rate float64 // requests a second
	cpu  float64 // CPU-seconds per million requests
	rss  float64 // peak memory in MB
	note string
}

func measure(c command, server *nginx) (figure, error) {
	before, err := server.requests()
	if err != nil {
		return figure{}, err
	}
	cmd := exec.Command(c.args[0], c.args[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := now()
	err = cmd.Run()
	passed := now() - start
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return figure{}, err
	}
	after, err := server.requests()
	if err != nil {
		return figure{}, err
	}
	n := float64(after - before - 1) // less the look itself
	if n < 1 {
		return figure{}, fmt.Errorf("no request arrived: %s", errs.Bytes())
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	f := figure{rate: n / passed, cpu: used.Seconds() / n * 1e6, rss: peakMB(cmd.ProcessState)}
	if c.note != nil {
		f.note = c.note(out.Bytes())
	}
	return f, nil
}

// weirNote is what weir's own result says about its sender.
func weirNote(out []byte) string {
	var r report.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("trust %s, late p99 %.2f ms, dropped %d, failed %d, admitted %d", r.Sender.Trust, r.Sender.LateMS.P99, r.Totals.Dropped, r.Totals.Failed, r.Totals.Admitted)
}

func median(fs []figure, of func(figure) float64) float64 {
	var xs []float64
	for _, f := range fs {
		xs = append(xs, of(f))
	}
	slices.Sort(xs)
	return xs[len(xs)/2]
}
