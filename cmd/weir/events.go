package main

import (
	"errors"
	"fmt"
	"os"
)

// errBusy is a file that another run is writing.
var errBusy = errors.New("another run is writing it")

// createEvents opens --events for writing. The file is emptied only once no
// other run is writing it, and grows as the run goes, so that what a crash
// leaves is a saved run cut short and not nothing.
func createEvents(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fileError("--events", path, err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		if err = lockFile(f); err == nil {
			err = f.Truncate(0)
		}
	}
	if err != nil {
		f.Close()
		if errors.Is(err, errBusy) {
			return nil, reachError(fmt.Errorf("cannot write %s: %w", path, err), "--events with another name, or wait for that run")
		}
		return nil, fileError("--events", path, err)
	}
	return f, nil
}
