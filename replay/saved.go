package replay

import (
	"errors"
	"io"

	"github.com/weir-cli/weir/report"
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// saved reads the events that weir load --events wrote. A call's time is when
// it was sent; attempts that never left are passed over.
type saved struct {
	r     *report.EventReader
	names report.Names
	start int64 // unix ns; 0 for a simulated run
	n     int64
}

func newSaved(r io.Reader) (*saved, error) {
	er, err := report.NewEventReader(r)
	if err != nil {
		return nil, err
	}
	s := &saved{r: er, names: er.Names(), n: 1}
	if at := er.Header.StartedAt; at != nil && at.Unix() > 0 {
		s.start = at.UnixNano()
	}
	return s, nil
}

func (s *saved) next(c *Call) error {
	var e report.Event
	if err := s.r.Next(&e); err != nil {
		if isEOF(err) {
			return io.EOF
		}
		return &readError{err}
	}
	s.n++
	return s.fill(c, &e)
}

// fill makes a call of an event.
func (s *saved) fill(c *Call, e *report.Event) error {
	if e.Verdict == report.Dropped {
		return errPassed
	}
	at := e.Sent
	if at == 0 && e.Due > 0 {
		at = e.Due
	}
	c.At, c.Line, c.Cost = s.start+at, s.n, int64(max(e.Cost, 1))
	c.Key = append(c.Key[:0], s.names.Key(e.Key)...)
	if e.Verdict == report.Admitted || e.Verdict == report.Refused {
		c.Recorded = e.Verdict
	}
	return nil
}
