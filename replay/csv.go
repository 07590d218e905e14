package replay

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// csvFeed reads t,key,cost,args… with or without a line of names first.
type csvFeed struct {
	lines *lines
	in    *instants
	o     Options
	cur   []byte
	begun bool
	named bool
	cells [][]byte
	buf   []byte // of unquoted cells
	// Columns, -1 where there is none.
	at, key, cost, verdict int
	fields                 []int
	values                 [][]byte
}

// Names that columns and fields of the usual meanings have.
var (
	timeNames    = []string{"t", "time", "ts", "timestamp", "@timestamp", "seconds", "msec", "time_iso8601", "time_local"}
	keyNames     = []string{"key", "api_key", "client", "client_id", "user", "remote_addr", "client_ip", "ip"}
	costNames    = []string{"cost", "weight", "n"}
	verdictNames = []string{"verdict", "allowed", "admitted", "status"}
)

// maxCells bounds the columns of a line.
const maxCells = 256

var (
	errNoKey     = errors.New("no key")
	errCost      = errors.New("the cost is not a whole number from 1")
	errManyCells = errors.New("more than 256 columns")
	errQuote     = errors.New("a quote is not closed")
)

func newCSV(l *lines, in *instants, o Options) *csvFeed {
	return &csvFeed{lines: l, in: in, o: o, values: make([][]byte, len(o.Fields))}
}

func (f *csvFeed) line() []byte { return f.cur }

func (f *csvFeed) next(c *Call) error {
	line, err := f.lines.next()
	if f.cur = line; err != nil {
		return streamError(err)
	}
	if len(line) == 0 || line[0] == '#' {
		return errPassed
	}
	if err := f.split(line); err != nil {
		return err
	}
	if !f.begun {
		f.begun = true
		if f.columns() {
			return errPassed
		}
	}
	if f.at < 0 || f.at >= len(f.cells) {
		return errNoTime
	}
	if c.At, err = f.in.read(f.cells[f.at]); err != nil {
		return err
	}
	c.Key = bytes.TrimSpace(f.cell(f.key))
	if len(c.Key) == 0 {
		return errNoKey
	}
	var ok bool
	if c.Cost, ok = costOf(f.cell(f.cost)); !ok {
		return errCost
	}
	if f.verdict >= 0 {
		c.record(bytes.TrimSpace(f.cell(f.verdict)), f.o.Refused)
	}
	for i, col := range f.fields {
		f.values[i] = f.cell(col)
	}
	c.Values = f.values
	c.Args = nil
	if !f.named && len(f.cells) > 3 {
		c.Args = f.cells[3:]
	}
	return nil
}

func (f *csvFeed) cell(i int) []byte {
	if i < 0 || i >= len(f.cells) {
		return nil
	}
	return f.cells[i]
}

// columns finds out what stands where; it reports whether the line is one of
// names.
func (f *csvFeed) columns() bool {
	_, _, err := parseInstant(bytes.TrimSpace(f.cells[0]))
	f.named = err != nil
	f.at, f.key, f.cost, f.verdict = 0, 1, 2, -1
	names := make([]string, len(f.cells))
	if f.named {
		for i, c := range f.cells {
			names[i] = strings.ToLower(strings.TrimSpace(string(c)))
		}
		f.at, f.key = find(names, f.o.TimeField, timeNames), find(names, f.o.KeyField, keyNames)
		f.cost, f.verdict = find(names, f.o.CostField, costNames), find(names, f.o.VerdictField, verdictNames)
	}
	for _, want := range f.o.Fields {
		f.fields = append(f.fields, slices.Index(names, strings.ToLower(want)))
	}
	return f.named
}

// find is where the wanted name stands, or else the first of the usual ones.
func find(names []string, want string, usual []string) int {
	if want != "" {
		return slices.Index(names, strings.ToLower(want))
	}
	for _, u := range usual {
		if i := slices.Index(names, u); i >= 0 {
			return i
		}
	}
	return -1
}

// split cuts a line at its commas. A cell in quotes may hold commas, and
// quotes doubled.
func (f *csvFeed) split(line []byte) error {
	f.cells, f.buf = f.cells[:0], f.buf[:0]
	if bytes.IndexByte(line, '"') < 0 {
		for {
			if len(f.cells) == maxCells {
				return errManyCells
			}
			i := bytes.IndexByte(line, ',')
			if i < 0 {
				f.cells = append(f.cells, line)
				return nil
			}
			f.cells = append(f.cells, line[:i])
			line = line[i+1:]
		}
	}
	if cap(f.buf) < len(line) {
		f.buf = make([]byte, 0, len(line))
	}
	for i := 0; ; i++ {
		if len(f.cells) == maxCells {
			return errManyCells
		}
		start := len(f.buf)
		if i < len(line) && line[i] == '"' {
			for i++; ; i++ {
				if i >= len(line) {
					return errQuote
				}
				if line[i] == '"' {
					if i+1 >= len(line) || line[i+1] != '"' {
						break
					}
					i++
				}
				f.buf = append(f.buf, line[i])
			}
			i++
		}
		for ; i < len(line) && line[i] != ','; i++ {
			f.buf = append(f.buf, line[i])
		}
		f.cells = append(f.cells, f.buf[start:len(f.buf):len(f.buf)])
		if i >= len(line) {
			return nil
		}
	}
}

// streamError tells a stream that broke from a line that is too long.
func streamError(err error) error {
	if err == errLongLine || isEOF(err) {
		return err
	}
	return &readError{err}
}
