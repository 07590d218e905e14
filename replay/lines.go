package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine bounds a line; a longer one is broken and passed over.
const maxLine = 1 << 20

var errLongLine = errors.New("longer than 1 MB")

// lines splits a stream without copying what fits its buffer.
type lines struct {
	r    *bufio.Reader
	n    int64 // of the line last returned
	long []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 256<<10)} }

// next returns a line without its end, errLongLine after one that was passed
// over, or io.EOF.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == nil {
		l.n++
		line = line[:len(line)-1]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		return line, nil
	}
	return l.slow(line, err)
}

func (l *lines) slow(part []byte, err error) ([]byte, error) {
	l.long = append(l.long[:0], part...)
	over := false
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		if over = over || len(l.long)+len(part) > maxLine; !over {
			l.long = append(l.long, part...)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil && len(l.long) == 0 {
		return nil, io.EOF
	}
	l.n++
	if over {
		return nil, errLongLine
	}
	return bytes.TrimRight(l.long, "\r\n"), nil
}
