package main

import "os"

// peakMB is not known here, and 0.
func peakMB(*os.ProcessState) float64 { return 0 }
