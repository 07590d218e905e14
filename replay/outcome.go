package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-cli/weir/report"
)

// result makes the document of a run.
func (s *session) result(ctx context.Context, src *Source, elapsed time.Duration) *report.Result {
	seen := src.Seen()
	out := s.r.finish(report.Meta{Source: "replay", Name: s.Name, Repeat: s.Repeat, Interrupted: ctx.Err() != nil}, seen, s.Name)
	if s.pure != nil {
		out.Replay.Against = &s.against.out
	}
	if s.recorded.out.Calls > 0 {
		out.Replay.Recorded = &s.recorded.out
	}
	sc := &s.script
	sc.Name, sc.SHA = s.Halves[0].Script.Name, s.Halves[0].Script.SHA
	if len(s.Halves) > 1 {
		sc.Name += " then " + s.Halves[1].Script.Name
	}
	sc.Server, sc.Mapping, sc.NoScript = s.Store.Name(), s.Mapping, s.noScripts.Load()
	sc.Clock, sc.Speed = s.clockText(), s.speedText()
	sc.ElapsedS = elapsed.Seconds()
	sc.CallsPerS = float64(sc.Calls) / max(elapsed.Seconds(), 1e-9)
	out.Replay.Script = sc
	if s.Drill != nil {
		out.Notes = append(out.Notes, s.Drill.notes...)
	}
	if s.shift != 0 && !s.Store.virtual() && !s.ServerClock && !seen.Relative {
		out.Notes = append(out.Notes, fmt.Sprintf("the script saw the trace %d days later than it was, since a server deletes what expires in its past", s.shift/int64(24*time.Hour)))
	}
	if !s.Store.virtual() && !s.ServerClock {
		out.Notes = append(out.Notes, "TTLs ran on the server's own clock and not on the trace's: what relies on a key expiring is exact only at the recorded speed, or on the embedded store")
	}
	return out
}

func (s *session) clockText() string {
	switch {
	case s.ServerClock:
		return "the server's own"
	case s.Store.virtual():
		return "virtual: TIME and TTLs follow the trace"
	}
	return "the trace's, by a shim before the script that answers TIME"
}

func (s *session) speedText() string {
	switch {
	case s.Store.virtual():
		return "virtual time"
	case s.Speed == 0:
		return "as fast as it goes"
	case s.Speed == 1:
		return "as recorded"
	}
	return fmt.Sprintf("%g times the recorded speed", s.Speed)
}
