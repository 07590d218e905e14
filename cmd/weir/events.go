package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// errBusy is a file that another run is writing.
var errBusy = errors.New("another run is writing it")

// createEvents opens --events for writing. The file is emptied only once no
// other run is writing it, and grows as the run goes, so that what a crash
// leaves is a saved run cut short and not nothing.
func createEvents(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, eventsError(path, err)
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
		return nil, eventsError(path, err)
	}
	return f, nil
}

// eventsError is outError for the other flag.
func eventsError(path string, err error) error {
	if errors.Is(err, syscall.EISDIR) {
		return usagef("--events "+filepath.Join(path, "storm.ndjson"), "--events %s is a directory", path)
	}
	return fileError("--events", path, err)
}

// checkApart refuses events and a result that would be written over each
// other. A device, such as /dev/null, may take both.
func checkApart(events string, out *output) error {
	if events == "" {
		return nil
	}
	to, err := os.Stdout.Stat()
	if !out.toStdout() {
		to, err = os.Stat(out.file)
	}
	same := !out.toStdout() && filepath.Clean(events) == filepath.Clean(out.file)
	if info, eerr := os.Stat(events); err == nil && eerr == nil {
		same = os.SameFile(info, to) && info.Mode()&os.ModeDevice == 0
	}
	if same {
		return usagef("--events storm.ndjson --out result.json", "--events and the result would be written over each other in %s", events)
	}
	return nil
}
