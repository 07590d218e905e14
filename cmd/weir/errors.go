package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes. They are part of the command line's contract.
const (
	exitOK          = 0
	exitCheck       = 1   // the run is sound and a check or the promise failed
	exitUsage       = 2   // command line, environment or configuration
	exitReach       = 3   // target or file out of reach
	exitUntrusted   = 4   // the sender could not keep its plan
	exitInternal    = 5   // our own fault
	exitInterrupted = 130 // stopped by the user; the partial result was written
)

// failure is an error that knows its exit code. Without err it is silent:
// what the user needs to know is in the report already.
type failure struct {
	code int
	err  error
	hint string // what to type next; "" for none
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

var (
	// errCheckFailed ends a run whose report has already said what failed.
	errCheckFailed error = &failure{code: exitCheck}
	// errInterrupted ends a run that was stopped and has written its result.
	errInterrupted error = &failure{code: exitInterrupted}
)

// usageError is a mistake in what the user wrote. hint is a command to type.
func usageError(err error, hint string) error {
	return &failure{code: exitUsage, err: err, hint: hint}
}

// usagef is usageError with its message spelled out.
func usagef(hint, format string, args ...any) error {
	return usageError(fmt.Errorf(format, args...), hint)
}

// reachError is a target, store or file that could not be reached or used.
func reachError(err error, hint string) error {
	return &failure{code: exitReach, err: err, hint: hint}
}

// handlesOr is reachError with a hint of its own when err says that the
// process may open no more files.
func handlesOr(err error, hint string) error {
	if errors.Is(err, syscall.EMFILE) {
		hint = "ulimit -n 4096"
	}
	return reachError(err, hint)
}

// unopened is reachError for a file that could not be opened. hint makes such a
// file, which is no help for one that is there.
func unopened(err error, hint string) error {
	if errors.Is(err, fs.ErrPermission) {
		hint = "ls -l, and run weir as who may read it"
	}
	return reachError(err, hint)
}

// untrustedError says why a result is not to be relied upon.
func untrustedError(why, hint string) error {
	return &failure{code: exitUntrusted, err: errors.New(why), hint: hint}
}

// internalError is a fault of weir itself.
func internalError(err error) error {
	return &failure{
		code: exitInternal,
		err:  fmt.Errorf("internal error: %w", err),
		hint: "this is a bug in weir; report it with the command line and the output of `weir version --json`",
	}
}

// typed gives an error that a verb returned its exit code. Cobra's own
// errors do not pass through here, so whatever is untyped is our fault.
func typed(err error) error {
	var f *failure
	switch {
	case err == nil, errors.As(err, &f), errors.Is(err, errStdoutClosed):
		return err
	case errors.Is(err, context.Canceled):
		return errInterrupted
	}
	return internalError(err)
}

// execute runs one command line under ctx and returns the exit code, having
// told the user on stderr what went wrong.
func (a *app) execute(ctx context.Context, root *cobra.Command, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			code = a.conclude(nil, internalError(fmt.Errorf("%v%s", p, panicSite())))
		}
	}()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return a.conclude(cmd, err)
}

// conclude prints err as one line and its hint as another, and returns the
// exit code. An error without a type is cobra's, so about the command line.
func (a *app) conclude(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	var f *failure
	if !errors.As(err, &f) {
		if errors.Is(err, errStdoutClosed) {
			return exitOK
		}
		f = &failure{code: exitUsage, err: err}
	}
	if f.err == nil {
		return f.code
	}
	hint := f.hint
	if hint == "" && f.code == exitUsage && cmd != nil {
		hint = cmd.CommandPath() + " --help"
	}
	fmt.Fprintf(a.stderr, "weir: %s\n", oneLine(err.Error()))
	if hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", oneLine(hint))
	}
	return f.code
}

// oneLine keeps a message on one line and free of control characters, which
// could come from a target's answer.
func oneLine(s string) string {
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.Join(fields, "; "))
}

// panicSite names the line that panicked: the first frame below the runtime's
// panic machinery. Call it from the deferred function itself.
func panicSite() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if f.File != "" && !strings.HasPrefix(f.Function, "runtime.") {
			parts := strings.Split(f.File, "/")
			return fmt.Sprintf(" at %s:%d", strings.Join(parts[max(0, len(parts)-2):], "/"), f.Line)
		}
		if !more {
			return ""
		}
	}
}
