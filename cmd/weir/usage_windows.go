package main

import "golang.org/x/sys/windows"

// processUsage is the processor time of this process; the peak memory is not
// known here and 0.
func processUsage() (cpuSeconds, rssMB float64) {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0, 0
	}
	ticks := func(f windows.Filetime) float64 {
		return float64(uint64(f.HighDateTime)<<32 | uint64(f.LowDateTime))
	}
	return (ticks(kernel) + ticks(user)) / 1e7, 0
}

// fileHandles: sockets are not bounded by a setting here.
func fileHandles() (n uint64, known bool) { return 0, false }
