package gateway

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/report"
)

// ErrNotRecorded says that a result was asked of a fleet that keeps none.
var ErrNotRecorded = errors.New("this fleet judges by no promise, or was not started")

// records reports whether there is anything to judge by.
func (f *Fleet) records() bool { return f.cfg.Judge != nil || f.cfg.Rules != nil }

// mergeUntilStopped keeps the recorder's log short.
func (f *Fleet) mergeUntilStopped() {
	tick := time.NewTicker(mergeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if r := f.run.Load(); r.recorder != nil {
				r.recorder.merge(f.now() - r.started)
			}
		case <-f.stopped:
			return
		}
	}
}

// Result judges what the fleet decided since its start or its last reset by
// the config's promise. It ends the recording, so it is asked for once, after
// [Fleet.Stop]. m's source, duration and notes are filled in.
//
// Its latencies are the time that a decision took, since that is all that a
// server knows of them.
func (f *Fleet) Result(m report.Meta) (*report.Result, error) {
	r := f.run.Load()
	if r.recorder == nil {
		return nil, ErrNotRecorded
	}
	m.Source = "serve"
	if m.Duration == 0 {
		m.Duration = f.now() - r.started
	}
	sn := r.tally.snapshot(0)
	c := sn.Totals
	if in := sn.StoodIn(); in != (SourceCounts{}) {
		m.Notes = append(m.Notes, fmt.Sprintf(
			"the store did not answer in time for %s of %s decisions: fail modes admitted %s of them and refused %s. If it came back without its data, its buckets began full",
			report.Count(in.Admitted+in.Refused), report.Count(c.Offered), report.Count(in.Admitted), report.Count(in.Refused)))
	}
	m.Notes = append(m.Notes, "seen by the server: latencies are those of the decision alone")
	if c.CutBefore > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("connections cut on purpose before their request was counted: %s", report.Count(c.CutBefore)))
	}
	if c.CutAfter > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("answers cut short on purpose, whose requests are counted: %s", report.Count(c.CutAfter)))
	}
	if c.Invalid > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("answered 400 for their cost and not counted: %s", report.Count(c.Invalid)))
	}
	if c.UpstreamFailed > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("admitted, and without a whole answer because the upstream failed: %s", report.Count(c.UpstreamFailed)))
	}
	if c.Shed > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("admitted, and answered 503 to spare what is behind, since no limit refused them: %s", report.Count(c.Shed)))
	}
	if c.Unknown > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("turned away without a known key and not counted: %s", report.Count(c.Unknown)))
	}
	if c.Refused > 0 && !f.cfg.RetryAfter.Security && slices.ContainsFunc(f.newest.Load().set.Rules, func(r *rules.Rule) bool { return r.Security && !r.Shadow }) {
		m.Notes = append(m.Notes, "refusals by security rules tell no wait, as they are meant to")
	}
	if w := f.cfg.Wrong.String(); w != "" {
		m.Notes = append(m.Notes, "wrong on purpose: "+w)
	}
	return r.recorder.finish(m), nil
}
