package httpdo

import (
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// bodyKept is how much of a body is kept for matching and for hints in it.
const bodyKept = 4 << 10

// judge turns a complete answer into the event's verdict and numbers. One
// per sender: it keeps scratch space.
type judge struct {
	cfg    *Config
	answer dialect.Answer
	raw    []byte // the last hint's text and
	text   uint32 // its index in the run's table
}

// read understands an answer; done is its receipt on the run's clock. Hints
// in the body are looked for in refusals and errors only.
func (j *judge) read(status int, fields []dialect.Field, body []byte, done int64) {
	if !hintsInBody(status) {
		body = nil
	}
	dialect.Read(&j.answer, dialect.Response{Status: status, Fields: fields, Body: body, Now: j.cfg.Wall.UnixNano() + done})
}

func hintsInBody(status int) bool { return status >= 400 }

// fill sets a's event from the answer as read last.
func (j *judge) fill(a *load.Attempt, status int, refused bool, body []byte) {
	ev, ans := &a.Event, &j.answer
	ev.Status = uint16(status)
	ev.Verdict, ev.Class = j.cfg.verdict(status, refused, body)
	a.Answer = ans
	if ans.HasLimit {
		ev.Has |= report.HasLimit
		ev.Limit = ans.Limit
	}
	if ans.HasRemaining {
		ev.Has |= report.HasRemaining
		ev.Remaining = ans.Remaining
	}
	if ans.Reset.Has {
		ev.Has |= report.HasReset
		ev.Reset = int64(ans.Reset.Wait)
	}
	if ans.Notes&dialect.BadRetryAfter != 0 {
		ev.Has |= report.BadRetryAfter
	}
	if ans.Notes&dialect.OddWait != 0 {
		ev.Has |= report.Suspect
	}
	if ans.Notes&dialect.Reduced != 0 {
		ev.Has |= report.Reduced
	}
	if w := &ans.Wait; w.Has {
		ev.Has |= report.HasRetryAfter
		ev.RetryAfter = int64(w.Wait)
		ev.HintSource, ev.HintUnit = uint8(w.Source), uint8(w.Unit)
		ev.Text = j.intern(w.Raw[:w.RawLen])
	}
}

func (j *judge) intern(raw []byte) uint32 {
	if j.text == 0 || string(raw) != string(j.raw) {
		j.raw = append(j.raw[:0], raw...)
		j.text = j.cfg.Texts.Intern(raw)
	}
	return j.text
}
