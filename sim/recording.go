package sim

import "github.com/weir-cli/weir/report"

// recording hands decided requests to a collector and lets it merge now and
// then, so that a run holds few events at a time. The zero value drops them.
type recording struct {
	to    *report.Collector
	shard *report.Shard
	n     int
}

func newRecording(c *report.Collector) recording {
	if c == nil {
		return recording{}
	}
	return recording{to: c, shard: c.Shard()}
}

// decided records one request. Its times must not fall.
func (r *recording) decided(at Micros, key uint32, gateway int64, ok bool) {
	if r.to == nil {
		return
	}
	ns := int64(at) * 1000
	ev := report.Event{
		Due: ns, Sent: ns, First: ns, Done: ns, Wait: -1,
		Key: key, Target: uint16(gateway), Cost: 1, Attempt: 1,
		Has: report.HasFirst, Status: 429, Verdict: report.Refused,
	}
	if ok {
		ev.Status, ev.Verdict = 200, report.Admitted
	}
	r.shard.Record(&ev)
	if r.n++; r.n%(1<<16) == 0 {
		r.to.Merge(ns)
	}
}

// close says that no more will come.
func (r *recording) close(at Micros) {
	if r.to != nil {
		r.shard.Close()
		r.to.Merge(int64(at) * 1000)
	}
}
