package httpdo

// body follows one body to its end without keeping it (RFC 9112, 6 and 7).
type body struct {
	left   int64 // of a length, or of the current chunk
	read   int64 // bytes of content so far
	kind   int64 // a length >= 0, untilClose or chunked
	state  chunkState
	digits bool // the chunk size had one
}

type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkExt
	chunkData
	chunkEnd // the line end after a chunk's data
	trailerStart
	trailerLine
	chunkDone
)

func newBody(length int64) body { return body{kind: length, left: max(length, 0)} }

// feed takes the next bytes and returns how many belong to this body, and
// whether it is complete. keep is called with runs of content.
func (d *body) feed(b []byte, keep func([]byte)) (n int, done bool, err error) {
	switch d.kind {
	case chunked:
		return d.chunks(b, keep)
	case untilClose:
		keep(b)
		d.read += int64(len(b))
		return len(b), false, nil
	}
	n = int(min(d.left, int64(len(b))))
	keep(b[:n])
	d.left -= int64(n)
	d.read += int64(n)
	return n, d.left == 0, nil
}

func (d *body) chunks(b []byte, keep func([]byte)) (int, bool, error) {
	i := 0
	for i < len(b) {
		c := b[i]
		switch d.state {
		case chunkSize:
			v := hex(c)
			switch {
			case v >= 0:
				if d.left > 1<<40 {
					return i, false, errMalformed
				}
				d.left = d.left<<4 | int64(v)
				d.digits = true
			case !d.digits:
				return i, false, errMalformed
			case c == '\n':
				d.startChunk()
			case c == ';' || c == '\r' || c == ' ':
				d.state = chunkExt
			default:
				return i, false, errMalformed
			}
			i++
		case chunkExt:
			if c == '\n' {
				d.startChunk()
			}
			i++
		case chunkData:
			n := int(min(d.left, int64(len(b)-i)))
			keep(b[i : i+n])
			d.left -= int64(n)
			d.read += int64(n)
			i += n
			if d.left == 0 {
				d.state = chunkEnd
			}
		case chunkEnd:
			if c != '\r' && c != '\n' {
				return i, false, errMalformed
			}
			if c == '\n' {
				d.state = chunkSize
			}
			i++
		case trailerStart:
			i++
			switch c {
			case '\n':
				d.state = chunkDone
				return i, true, nil
			case '\r':
			default:
				d.state = trailerLine
			}
		case trailerLine:
			if c == '\n' {
				d.state = trailerStart
			}
			i++
		case chunkDone:
			return i, true, nil
		}
	}
	return i, false, nil
}

func (d *body) startChunk() {
	d.state, d.digits = chunkData, false
	if d.left == 0 {
		d.state = trailerStart
	}
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
