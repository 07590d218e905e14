package replay

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weir-cli/weir/report"
)

// Options say how to read a trace. The zero value guesses the form and takes
// the usual names.
type Options struct {
	Format       string // one of Formats; "" or "auto" looks at the first line
	KeyField     string // the field that is the key
	TimeField    string
	CostField    string
	VerdictField string
	Refused      []int64 // statuses that are refusals; nil is 429
	Strict       bool    // a broken line ends the reading
	Hidden       bool    // show no keys, and nothing of broken lines, which may hold one
	// HideCredential is Hidden for a trace whose key, for want of a KeyField, is
	// a field that is named like a credential.
	HideCredential bool
	// Fields are further ones that a caller wants, for Call.Values.
	Fields []string
	// SHA takes only calls of this script out of a capture, which the script's
	// body counts for too. "" takes all.
	SHA string
}

// Formats are the forms a trace may have.
func Formats() []string {
	return []string{"auto", "csv", "ndjson", "combined", "monitor", "events"}
}

// LineError is a line that cannot be read.
type LineError struct {
	Line int64
	Err  error
	Text string // the start of it, cleaned
}

func (e *LineError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("line %d: %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %v: %s", e.Line, e.Err, e.Text)
}
func (e *LineError) Unwrap() error { return e.Err }

// firstBroken is how many broken lines are shown.
const firstBroken = 5

// Seen is what a source met on its way.
type Seen struct {
	Format string
	Lines  int64 // read
	Calls  int64 // returned
	Broken int64
	First  []LineError // of the broken ones
	// Passed counts lines that are no calls: other commands of a capture,
	// comments, a header.
	Passed int64
	// Backwards counts calls with a time before the newest so far, MostBack the
	// longest way back in ns. Such a call counts as of the newest time.
	Backwards, MostBack int64
	// First and last times as Call.At.
	From, To int64
	// Finer: some time is finer than a second.
	Finer bool
	// Relative: times are seconds since the start of the trace.
	Relative bool
	// Recorded counts calls with a verdict.
	Recorded int64
	// Unavailable counts calls with status 503 that count as admitted.
	Unavailable int64
	// Scripts counts a capture's script calls by SHA, the busiest few.
	Scripts map[string]int64
}

// feed reads one call. errPassed is a line that is none; any other error but
// io.EOF and *readError is a broken line.
type feed interface {
	next(c *Call) error
}

// readError is a stream that broke; what a line holds never is one.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

var errPassed = errors.New("not a call")

// Source reads a trace. Not safe for concurrent use.
type Source struct {
	f      feed
	in     *instants
	lines  *lines // nil for what has no lines
	strict bool
	hidden bool
	seen   Seen
	any    bool
	reads  *telling // nil for what is not read
	close  func()
}

// Open starts to read a trace. gzip is unpacked.
func Open(r io.Reader, o Options) (*Source, error) {
	if o.Format == "" {
		o.Format = "auto"
	}
	if !slices.Contains(Formats(), o.Format) {
		return nil, fmt.Errorf("no trace has the form %q", o.Format)
	}
	if o.Refused == nil {
		o.Refused = []int64{429}
	}
	reads := &telling{r: r}
	b := bufio.NewReaderSize(reads, 64<<10)
	if head, _ := b.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, err
		}
		b = bufio.NewReaderSize(z, 64<<10)
	}
	if mark, _ := b.Peek(3); string(mark) == "\xef\xbb\xbf" { // editors put it before UTF-8
		_, _ = b.Discard(len(mark))
	}
	head, err := beginning(b)
	if len(head) == 0 && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if o.Format == "auto" {
		line, _ := firstLine(head)
		o.Format = guess(line)
	}
	o.Hidden = o.Hidden || o.HideCredential && o.KeyField == "" && namesCredential(head, o.Format)
	s := &Source{strict: o.Strict, hidden: o.Hidden, in: &instants{}, reads: reads}
	s.seen.Format = o.Format
	if o.Format == "events" {
		f, err := newSaved(b)
		if err != nil {
			return nil, err
		}
		s.f, s.in.known, s.in.relative = f, true, f.start == 0
		return s, nil
	}
	s.lines = newLines(b)
	switch o.Format {
	case "ndjson":
		s.f = newNDJSON(s.lines, s.in, o)
	case "combined":
		f, err := newCombined(s.lines, s.in, o)
		if err != nil {
			return nil, err
		}
		s.f = f
	case "monitor":
		f := newMonitor(s.lines, s.in, o)
		s.f, s.seen.Scripts = f, f.scripts
	default:
		s.f = newCSV(s.lines, s.in, o)
	}
	return s, nil
}

// BeforeRead has f called before every further read of the trace, which may take
// long where it is a pipe.
func (s *Source) BeforeRead(f func()) {
	if s.reads != nil {
		s.reads.before = f
	}
}

// Hidden reports whether its keys must not be shown.
func (s *Source) Hidden() bool { return s.hidden }

// Seen is what the source has met so far.
func (s *Source) Seen() Seen {
	seen := s.seen
	seen.Relative = s.in.relative
	if s.lines != nil {
		seen.Lines = s.lines.n
	}
	return seen
}

// Close ends what a source started. Its reader stays open.
func (s *Source) Close() {
	if s.close != nil {
		s.close()
	}
}

// Next reads the next call, or returns io.EOF. With Options.Strict, or when
// the stream breaks, the error is a *LineError.
func (s *Source) Next(c *Call) error {
	for {
		c.Cost, c.Recorded = 1, report.InFlight
		err := s.f.next(c)
		switch {
		case err == nil:
			s.took(c)
			return nil
		case err == errPassed:
			s.seen.Passed++
			continue
		case err == io.EOF:
			return err
		}
		var broke *readError
		le := LineError{Err: err}
		if s.lines != nil {
			le.Line = s.lines.n
		} else {
			le.Line = c.Line
		}
		if errors.As(err, &broke) {
			le.Line++
			return &le
		}
		le.Text = s.excerpt()
		s.seen.Broken++
		if len(s.seen.First) < firstBroken {
			s.seen.First = append(s.seen.First, le)
		}
		if s.strict {
			return &le
		}
	}
}

// took keeps the books and puts a time that goes back to the newest.
func (s *Source) took(c *Call) {
	s.seen.Calls++
	if s.lines != nil {
		c.Line = s.lines.n
	}
	if c.Recorded != report.InFlight {
		s.seen.Recorded++
		if c.unavailable {
			s.seen.Unavailable++
		}
	}
	s.seen.Finer = s.seen.Finer || c.At%1e9 != 0
	if !s.any {
		s.any, s.seen.From, s.seen.To = true, c.At, c.At
		return
	}
	if c.At < s.seen.To {
		s.seen.Backwards++
		s.seen.MostBack = max(s.seen.MostBack, s.seen.To-c.At)
		c.At = s.seen.To
	}
	s.seen.To = c.At
}

// excerptLen is how much of a broken line is shown.
const excerptLen = 60

func (s *Source) excerpt() string {
	if k, ok := s.f.(interface{ line() []byte }); ok && !s.hidden {
		b := k.line()
		if len(b) > excerptLen {
			return report.Clean(string(b[:excerptLen])) + "…"
		}
		return report.Clean(string(b))
	}
	return ""
}
