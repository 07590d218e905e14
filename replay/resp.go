package replay

import (
	"bytes"
	"errors"
	"strconv"
)

// appendCommand encodes a command as RESP.
func appendCommand(dst []byte, c command) []byte {
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(c)), 10), "\r\n"...)
	for _, w := range c {
		dst = append(strconv.AppendInt(append(dst, '$'), int64(len(w)), 10), "\r\n"...)
		dst = append(append(dst, w...), "\r\n"...)
	}
	return dst
}

var errProtocol = errors.New("the server's answer is not RESP")

const (
	maxBulk  = 64 << 20    // bytes, or parts, that one reply may announce
	maxReply = 2 * maxBulk // bytes of one with its parts
)

// replyLen is the length of the first whole reply in b, 0 when more is to come,
// and whether it is an error.
func replyLen(b []byte) (n int, failed bool, err error) {
	left := 1 // replies still to come, of nested lists
	for left > 0 {
		end := bytes.IndexByte(b[n:], '\n')
		if end < 0 {
			if len(b)-n > 64<<10 {
				return 0, false, errProtocol
			}
			return 0, false, nil
		}
		line := b[n : n+end]
		if len(line) < 2 || line[len(line)-1] != '\r' {
			return 0, false, errProtocol
		}
		size := 0
		switch line[0] {
		case '+', ':':
		case '-':
			failed = failed || n == 0
		case '$', '*':
			if size, err = strconv.Atoi(string(line[1 : len(line)-1])); err != nil || size < -1 || size > maxBulk {
				return 0, false, errProtocol
			}
		default:
			return 0, false, errProtocol
		}
		n += end + 1
		left--
		switch {
		case line[0] == '*':
			left += max(size, 0)
		case line[0] == '$' && size >= 0:
			n += size + 2
		}
		if n > maxReply || left > maxBulk {
			return 0, false, errProtocol
		}
		if n > len(b) {
			return 0, false, nil
		}
	}
	return n, failed, nil
}
