package tui

import (
	"strings"
	"testing"

	"github.com/weir-cli/weir/report"
)

// After the jitter key the clients view says how high returns were before and
// are since, not counting those who still sat out a wait of before.
func TestWhatAChangeCameTo(t *testing.T) {
	s := newStub()
	look := func(at int64, returns map[int]uint32, ahead ...uint32) {
		d := &report.Detail{Returns: report.Bins{Counts: make([]uint32, at/report.BinNS)}, Ahead: report.Bins{From: at, Counts: ahead}}
		for i, n := range returns {
			d.Returns.Counts[i] = n
		}
		s.snap = &report.Snapshot{At: at, Detail: d}
	}
	m := newModel(s, Options{View: Clients})
	row := func() string { return strings.TrimSpace(strings.Split(m.screen().plainText(), "\n")[5]) }
	herd := map[int]uint32{50: 206, 150: 180}
	look(2e9, herd, 0, 0, 170)
	m = m.look()
	if got := row(); got != "after a refusal as planned" {
		t.Errorf("before any change: %q", got)
	}
	m = key(m, "J").look()
	if got := row(); got != "after a refusal retry-after,spread   busiest 10 ms 206 before, waits end 2.0 s" {
		t.Errorf("at once: %q", got)
	}
	herd[202] = 170 // the last that come together
	look(2.03e9, herd)
	m = m.look()
	if got := row(); !strings.HasSuffix(got, "waits end 2.0 s") {
		t.Errorf("while old waits end: %q", got)
	}
	herd[203], herd[204] = 3, 12
	look(2.05e9, herd)
	m = m.look()
	herd[204] = 14 // it was not full
	look(2.06e9, herd)
	m = m.look()
	if got := row(); got != "after a refusal retry-after,spread   busiest 10 ms 206 before, 14 since ÷ 14.7" {
		t.Errorf("since: %q", got)
	}
	// It stays when the bins that had it are no longer kept.
	s.snap = &report.Snapshot{At: 30e9, Detail: &report.Detail{Returns: report.Bins{From: 20e9, Counts: make([]uint32, 1000)}}}
	m = m.look()
	if got := row(); !strings.HasSuffix(got, "14 since ÷ 14.7") {
		t.Errorf("later: %q", got)
	}
	// The next change is compared with what was since this one, although the herd
	// of before may still be kept.
	s.snap = &report.Snapshot{At: 30e9, Detail: &report.Detail{Returns: report.Bins{From: 20e9, Counts: append(make([]uint32, 999), 206)}}}
	m = key(m, "J").look()
	if got := row(); got != "after a refusal as planned   busiest 10 ms 14 before, waits end 30.0 s" {
		t.Errorf("a second change: %q", got)
	}
}
