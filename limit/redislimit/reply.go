package redislimit

import (
	"errors"
	"math"
)

const (
	// maxReply is the most numbers a reply may hold: the time, and what a
	// script says of each part.
	maxReply = 1 + maxParts*partNumbers
	// maxReplyLine bounds one line of a reply, in bytes. Longer is an error's
	// text at most, of which the start is kept.
	maxReplyLine = 512
)

// errReply ends the connection: what comes next cannot be told apart.
var errReply = errors.New("a script's reply is neither whole numbers nor an error")

// reply reads what a script returns while it arrives: one whole number, a
// flat list of them, or an error. Nothing that a server sends makes it hold
// more than maxReply numbers and one line.
type reply struct {
	numbers []int64
	fault   string // the error's text; "" for none
	whole   bool   // all of it is here

	line [maxReplyLine]byte
	used int // of line
	left int // numbers still to come
	list bool
}

// reset forgets all but the room.
func (r *reply) reset() {
	r.numbers, r.fault, r.whole = r.numbers[:0], "", false
	r.used, r.left, r.list = 0, 0, false
}

// write takes the next bytes of the reply.
func (r *reply) write(p []byte) error {
	for _, c := range p {
		switch {
		case c == '\r':
		case c == '\n':
			err := r.end()
			r.used = 0
			if err != nil {
				return err
			}
		case r.used < len(r.line):
			r.line[r.used] = c
			r.used++
		case r.line[0] != '-':
			return errReply
		}
	}
	return nil
}

// end reads a full line.
func (r *reply) end() error {
	line := r.line[:r.used]
	if r.whole || len(line) == 0 {
		return errReply
	}
	switch line[0] {
	case '-':
		// Also in the middle of a list, where it ends what can be understood.
		if r.list || len(line) == 1 {
			return errReply
		}
		r.fault, r.whole = string(line[1:]), true
		return nil
	case '*':
		n, ok := parseWhole(line[1:])
		if !ok || r.list || n < 0 || n > maxReply {
			return errReply
		}
		r.list, r.left, r.whole = true, int(n), n == 0
		return nil
	case ':':
		n, ok := parseWhole(line[1:])
		if !ok {
			return errReply
		}
		r.numbers = append(r.numbers, n)
		r.left--
		r.whole = r.left <= 0
		return nil
	}
	return errReply
}

// parseWhole is strconv.ParseInt without a string to throw away.
func parseWhole(b []byte) (n int64, ok bool) {
	minus := len(b) > 0 && b[0] == '-'
	if minus {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' || n > (math.MaxInt64-9)/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if minus {
		n = -n
	}
	return n, true
}
