//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMB is the most memory a process that has ended ever held.
func peakMB(p *os.ProcessState) float64 {
	unit := 1024.0
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		unit = 1
	}
	return float64(p.SysUsage().(*syscall.Rusage).Maxrss) * unit / (1 << 20)
}
