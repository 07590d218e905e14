package main

import (
	"context"
	"io"
)

// chunkSize is how much of a stream is read at once, in bytes.
const chunkSize = 64 << 10

// untilReader reads a file until ctx ends.
type untilReader struct {
	ctx context.Context
	r   io.Reader
}

func (u untilReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// stream reads what may have nothing to give for long, as a pipe or a terminal,
// and ends with ctx all the same. A goroutine does the reading, one chunk
// ahead; where a read never returns, it ends with the process.
type stream struct {
	ctx    context.Context
	chunks chan chunk
	used   chan []byte // come back to be filled
	now    chunk
	left   []byte // of now
}

// chunk is what one read gave.
type chunk struct {
	text []byte
	err  error
}

func newStream(ctx context.Context, r io.Reader) *stream {
	s := &stream{ctx: ctx, chunks: make(chan chunk), used: make(chan []byte, 2)}
	s.used <- make([]byte, chunkSize)
	s.used <- make([]byte, chunkSize)
	go func() {
		for {
			select {
			case buf := <-s.used:
				n, err := r.Read(buf)
				select {
				case s.chunks <- chunk{buf[:n], err}:
				case <-ctx.Done():
					return
				}
				if err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.left) == 0 {
		switch {
		case s.ctx.Err() != nil:
			return 0, s.ctx.Err()
		case s.now.err != nil:
			return 0, s.now.err
		case s.now.text != nil:
			s.used <- s.now.text[:chunkSize]
			s.now.text = nil
		}
		select {
		case s.now = <-s.chunks:
			s.left = s.now.text
		case <-s.ctx.Done():
		}
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}
