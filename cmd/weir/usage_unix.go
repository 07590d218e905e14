//go:build unix

package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// processUsage is the processor time and the peak memory of this process.
func processUsage() (cpuSeconds, rssMB float64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	unit := 1024.0 // KiB, but bytes on macOS
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, float64(u.Maxrss) * unit / (1 << 20)
}

// fileHandles is how many files this process may have open.
func fileHandles() (n uint64, known bool) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0, false
	}
	return uint64(r.Cur), true
}
