package inspect

import (
	"encoding/binary"
	"errors"
	"math"
)

// errShort is the error of a value that ends before it should.
var errShort = errors.New("it ends too early")

// byteReader reads a binary value from its beginning. After the first error
// all it gives is zero.
type byteReader struct {
	rest []byte
	err  error
}

func (r *byteReader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.rest)) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *byteReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// big is a number of n bytes, the highest first.
func (r *byteReader) big(n int) uint64 {
	v := uint64(0)
	for _, b := range r.take(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (r *byteReader) int32() int32 { return int32(r.big(4)) }
func (r *byteReader) int64() int64 { return int64(r.big(8)) }

func (r *byteReader) float() float64 { return math.Float64frombits(r.big(8)) }

// little64 is a number of eight bytes, the lowest first.
func (r *byteReader) little64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// fail makes err the error, unless there was one before.
func (r *byteReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}
