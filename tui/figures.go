package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/weir-cli/weir/report"
)

// sheet writes labelled figures from the top down.
type sheet struct {
	c *canvas
	y int
}

func (s *sheet) head(name string) {
	if s.y > 0 {
		s.y++
	}
	s.c.text(1, s.y, name, style{bold: true})
	s.y++
}

func (s *sheet) row(name, value string, t tone) {
	s.c.text(1, s.y, name, style{tone: dim})
	s.c.right(s.c.w-1, s.y, value, style{tone: t})
	s.y++
}

// figures is the column that a wide screen has beside every view.
func (m *model) figures(c *canvas) {
	s, d := sheet{c: c}, m.snap
	t := d.Totals
	s.head("attempts")
	s.row("planned", report.Count(t.Planned), plain)
	s.row("offered", report.Count(t.Offered), offered)
	s.row("admitted", report.Count(t.Admitted)+"  "+percent(share(t.Admitted, t.Offered)), admitted)
	s.row("refused", report.Count(t.Refused)+"  "+percent(share(t.Refused, t.Offered)), refused)
	if t.Failed > 0 {
		s.row("failed", report.Count(t.Failed)+"  "+percent(share(t.Failed, t.Offered)), failed)
	}
	if t.Dropped > 0 {
		s.row("dropped", report.Count(t.Dropped), failed)
	}
	if t.Retries > 0 {
		s.row("retries", report.Count(t.Retries), plain)
	}
	if b := d.Bound; b != nil {
		s.head("promise " + tame(b.Promise))
		s.row("allows so far", brief(b.Allows), plain)
		s.row("admitted on "+tame(b.Key), report.Count(b.Admitted), admitted)
		worst := admitted
		if b.WorstExcess > 0 {
			worst = refused
		}
		s.row("worst excess", fmt.Sprintf("%+.1f", b.WorstExcess), worst)
		if b.KeysJudged > 1 {
			s.row("keys broken", report.Count(b.KeysBroken)+" of "+report.Count(b.KeysJudged), worst)
		}
	}
	s.counts("status", d.Status)
	s.counts("errors", d.Errors)
	if h := d.Hints; h.Seen+h.Missing+h.Invalid > 0 && t.Refused > 0 {
		s.head("retry after")
		s.row("seen", report.Count(h.Seen), plain)
		s.row("missing", report.Count(h.Missing), plain)
		if h.Invalid > 0 {
			s.row("unreadable", report.Count(h.Invalid), refused)
		}
		if h.Obeyed+h.Early > 0 {
			s.row("obeyed / early", report.Count(h.Obeyed)+" / "+report.Count(h.Early), plain)
		}
	}
	if h := d.Herd; h.Retries > 0 {
		s.head("herd")
		s.row("most in 10 ms", report.Count(h.Peak10ms), plain)
		s.row("over the mean", "× "+brief(h.OverMean), plain)
	}
	if q := d.Latency.FromDue; q.Count > 0 {
		s.head("latency, ms")
		s.row("p50 / p99", millis(q.P50)+" / "+millis(q.P99), plain)
	}
	if d.Sender.Trust != "" {
		s.head("sender")
		tone := admitted
		if d.Sender.Trust != report.Good {
			tone = failed
		}
		s.row("trust", string(d.Sender.Trust), tone)
		s.row("late p99", millis(d.Sender.LateMS.P99)+" ms", plain)
	}
}

// counts lists the largest few of a table of counts.
func (s *sheet) counts(name string, n map[string]int64) {
	if len(n) == 0 {
		return
	}
	s.head(name)
	keys := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
	})
	for _, k := range keys[:min(len(keys), 5)] {
		s.row(tame(k), report.Count(n[k]), plain)
	}
}
