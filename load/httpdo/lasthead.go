package httpdo

import (
	"bytes"

	"github.com/weir-cli/weir/limit/dialect"
)

// lastHead remembers the header block that was read last. A server under
// load answers with the same bytes over and over, and equal bytes need no
// second reading.
type lastHead struct {
	raw    []byte // a copy; head's fields alias it
	head   head
	isHead bool
	known  bool   // the judge's answer is of this block and body
	body   []byte // what was kept of it
}

// matches reports whether b begins with the remembered block.
func (m *lastHead) matches(b []byte, isHead bool) bool {
	return len(m.raw) > 0 && isHead == m.isHead && bytes.HasPrefix(b, m.raw)
}

// read parses a block and remembers it.
func (m *lastHead) read(block []byte, isHead bool, r *Refusal) error {
	m.raw = append(m.raw[:0], block...)
	m.isHead, m.known = isHead, false
	err := m.head.parse(m.raw, isHead, r)
	if err != nil {
		m.raw = m.raw[:0]
	}
	return err
}

// same reports whether the judge's answer still holds for the remembered
// block with this body.
func (m *lastHead) same(body []byte) bool {
	return m.known && (!hintsInBody(m.head.status) || bytes.Equal(m.body, body))
}

// answered notes what the judge has just read. An instant without a Date
// beside it moves with the clock, so an answer that holds one is not kept.
func (m *lastHead) answered(h *head, body []byte, j *judge) {
	if h != &m.head {
		m.known = false
		return
	}
	m.known = true
	for _, hint := range []*dialect.Hint{&j.answer.Wait, &j.answer.Retry, &j.answer.Reset} {
		switch hint.Unit {
		case dialect.UnixSeconds, dialect.UnixMillis, dialect.HTTPDate, dialect.ISOTime:
			m.known = false
		}
	}
	m.body = append(m.body[:0], body...)
}
