package main

import (
	"errors"
	"io"
	"runtime"
	"syscall"
)

// errStdoutClosed says that whoever read stdout has gone (`weir … | head`).
// It is not a failure: conclude ends the run with code 0 and no message.
var errStdoutClosed = errors.New("stdout was closed by its reader")

// pipeWriter turns a broken pipe into errStdoutClosed, so that it cannot be
// mistaken for a broken connection to a target. After the first, nothing is
// written any more. Not safe for concurrent use.
type pipeWriter struct {
	w      io.Writer
	closed bool
}

func (p *pipeWriter) Write(b []byte) (int, error) {
	if p.closed {
		return 0, errStdoutClosed
	}
	n, err := p.w.Write(b)
	if err != nil && isBrokenPipe(err) {
		p.closed = true
		return n, errStdoutClosed
	}
	return n, err
}

// Windows reports a closed reader as ERROR_BROKEN_PIPE or ERROR_NO_DATA.
const (
	winBrokenPipe = syscall.Errno(109)
	winNoData     = syscall.Errno(232)
)

func isBrokenPipe(err error) bool {
	if errors.Is(err, syscall.EPIPE) {
		return true
	}
	return runtime.GOOS == "windows" && (errors.Is(err, winBrokenPipe) || errors.Is(err, winNoData))
}
