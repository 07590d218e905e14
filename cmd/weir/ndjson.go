package main

import (
	"bufio"
	"errors"
	"io"
)

// maxNDJSONLine bounds a line of a log or of a meter's file, in bytes.
const maxNDJSONLine = 64 << 10

// eachLine passes the lines of r that are not empty to take, and skips those
// that are too long or that take refuses: bad is how many. A file that another
// process still writes to may end in half a line, which is one of them.
func eachLine(r io.Reader, take func(line []byte) bool) (bad int, err error) {
	in := bufio.NewReaderSize(r, maxNDJSONLine)
	for skip := false; ; {
		line, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case long && !skip:
			bad++
		case long, skip, len(line) == 0, len(line) == 1 && line[0] == '\n':
		case !take(line):
			bad++
		}
		skip = long
		switch {
		case errors.Is(err, io.EOF):
			return bad, nil
		case err != nil && !long:
			return bad, err
		}
	}
}
