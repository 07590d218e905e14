package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/pflag"
)

// output says in what form a verb's result goes where.
type output struct {
	format string // one of the verb's formats
	file   string // --out; "" and "-" are stdout
}

// newOutput registers --out, --format where there is a choice, and --json where
// JSON is one of the formats. The first format is the default.
func newOutput(fs *pflag.FlagSet, formats ...string) *output {
	o := &output{}
	format := newChoice(&o.format, formats...)
	if len(formats) > 1 {
		fs.Var(format, "format", "form of the result")
	}
	fs.StringVarP(&o.file, "out", "o", "", "write the result to this `FILE` instead of stdout, whole or not at all")
	if slices.Contains(formats, "json") {
		fs.Var(&shorthand{into: &o.format, value: "json", reset: formats[0]}, "json", "short for --format json")
		f := fs.Lookup("json")
		f.NoOptDefVal = "true"
		f.Annotations = map[string][]string{sameSetting: {"format"}}
	}
	return o
}

// toStdout reports whether the result goes to stdout.
func (o *output) toStdout() bool { return o.file == "" || o.file == "-" }

// check finds out before a long run whether the file can be written.
func (o *output) check() error {
	if o.toStdout() {
		return nil
	}
	return checkOutFile(o.file)
}

// write lets fn produce the result. A file appears under its name only when
// fn and every write succeeded. When the file cannot be written, the result
// goes to stdout so that the run was not for nothing, and the error says so;
// fn is then called a second time. An error of fn itself passes through.
func (o *output) write(a *app, fn func(w io.Writer) error) error {
	if o.toStdout() {
		return toStdout(a, fn)
	}
	err := writeOutFile(o.file, fn)
	var f *failure
	if !errors.As(err, &f) || f.code != exitReach {
		return err
	}
	if err := toStdout(a, fn); err != nil {
		return f
	}
	return reachError(fmt.Errorf("%w; the result is on stdout instead", f.err), f.hint)
}

// writeOnce is write for what cannot be told twice, such as a trace read from a
// pipe: a file that cannot be written is the end of it.
func (o *output) writeOnce(a *app, fn func(w io.Writer) error) error {
	if o.toStdout() {
		return toStdout(a, fn)
	}
	return writeOutFile(o.file, fn)
}

func toStdout(a *app, fn func(w io.Writer) error) error {
	w := &errWriter{w: a.stdout}
	buf := bufio.NewWriter(w)
	err := fn(buf)
	if err == nil {
		err = buf.Flush()
	}
	if w.err != nil {
		return stdoutError(w.err)
	}
	return err
}

// stdoutError types an error of writing to stdout. A reader that has gone is
// no failure of ours, nor of the run.
func stdoutError(err error) error {
	if err == nil || errors.Is(err, errStdoutClosed) {
		return nil
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return reachError(fmt.Errorf("what stands on stdout is cut short: %w", err), "free some space, or send it elsewhere with --out FILE")
}

// errWriter remembers the first error of the writer beneath, to tell a full
// disk from a mistake of whoever formats.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) Write(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	n, err := e.w.Write(p)
	e.err = err
	return n, err
}

// writeJSON writes one indented document.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
