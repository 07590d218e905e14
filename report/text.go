package report

import (
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"
)

// TextOptions shape a text report.
type TextOptions struct {
	Width int  // columns; 0 is 80
	Color bool // ANSI colours; nothing depends on them
	Plot  bool // draw admitted and refused over time
	// Figures is put right after the answer, for a simulated run or a replay.
	// What only a run on real clocks can tell is left out then.
	Figures string
	// Series are drawn after admitted and refused.
	Series []Series
}

const (
	textWidth = 80
	textKeys  = 10 // rows of keys and targets shown
)

// bounded has a width that the layout can bear.
func (o TextOptions) bounded() TextOptions {
	if o.Width <= 0 {
		o.Width = textWidth
	}
	o.Width = min(max(o.Width, 40), 160)
	return o
}

// WriteText writes the report for people: the answer, the figures, the
// findings, a plot, and how to do it again.
func WriteText(w io.Writer, r *Result, o TextOptions) error {
	t := &text{o: o.bounded()}
	t.answer(r)
	if o.Figures != "" {
		t.b.WriteString(o.Figures + "\n")
	}
	if r.Model == nil || r.Totals.Offered > 0 {
		t.figures(r)
		t.keys(r)
		t.prediction(r)
	}
	t.findings(r)
	if o.Plot {
		t.plot(r)
		t.series(o.Series)
	}
	t.ending(r)
	_, err := io.WriteString(w, t.b.String())
	return err
}

// WriteAnswer writes the first paragraph of the report again, for a terminal
// that it has scrolled out of.
func WriteAnswer(w io.Writer, r *Result, o TextOptions) error {
	t := &text{o: o.bounded()}
	t.answer(r)
	_, err := io.WriteString(w, strings.TrimSuffix(t.b.String(), "\n"))
	return err
}

type text struct {
	b strings.Builder
	o TextOptions
}

// ANSI colours.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

func (t *text) paint(code, s string) string {
	if !t.o.Color || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// wrapped writes s after a label, folded at the width and indented by the
// label's width.
func (t *text) wrapped(label, code, s string) {
	indent := utf8.RuneCountInString(label)
	t.b.WriteString(t.paint(code, label))
	col := indent
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		if i > 0 {
			if col+1+n > t.o.Width {
				t.b.WriteString("\n" + strings.Repeat(" ", indent))
				col = indent
			} else {
				t.b.WriteByte(' ')
				col++
			}
		}
		t.b.WriteString(word)
		col += n
	}
	t.b.WriteByte('\n')
}

func (t *text) answer(r *Result) {
	switch r.Verdict {
	case Held:
		t.wrapped("HELD    ", bold+";"+green, headline(r))
	case Broken:
		t.wrapped("BROKEN  ", bold+";"+red, headline(r))
	default:
		t.wrapped("RESULT  ", bold, headline(r))
	}
	switch r.Sender.Trust {
	case Bad:
		t.wrapped("TRUST   ", bold+";"+red, "bad: "+r.Sender.Why+".")
	case Degraded:
		t.wrapped("TRUST   ", bold+";"+yellow, "degraded: "+r.Sender.Why+".")
	}
	if r.Interrupted {
		t.wrapped("NOTE    ", yellow, "the run was interrupted; this is what it had come to.")
	}
	if p := r.Prediction; p != nil {
		t.wrapped("PREDICT ", bold, p.against(&r.Totals))
	}
	for _, c := range r.Checks {
		word, code := "pass    ", green
		if !c.Pass {
			word, code = "FAIL    ", red
		}
		t.wrapped(word, code, Clean(c.Name)+": "+Clean(c.Detail))
	}
	t.b.WriteByte('\n')
}

func (t *text) figures(r *Result) {
	n := &r.Totals
	t.wrapped("attempts     ", "", fmt.Sprintf("planned %s = offered %s + dropped %s", Count(n.Planned), Count(n.Offered), Count(n.Dropped)))
	sum := fmt.Sprintf("offered %s = admitted %s + refused %s + failed %s", Count(n.Offered), Count(n.Admitted), Count(n.Refused), Count(n.Failed))
	if n.InFlight > 0 {
		sum += " + in flight " + Count(n.InFlight)
	}
	t.wrapped("             ", "", sum)
	t.wrapped("             ", "", fmt.Sprintf("retries %s, calls given up %s", Count(n.Retries), Count(n.Abandoned)))
	if s := mapLine(r.Status); s != "" {
		t.wrapped("status       ", "", s)
	}
	if s := mapLine(r.Errors); s != "" {
		t.wrapped("errors       ", "", s)
	}
	if h := r.RetryAfter; h.Seen+h.Missing+h.Invalid > 0 && n.Refused > 0 {
		s := fmt.Sprintf("seen %s, missing %s, unreadable %s", Count(h.Seen), Count(h.Missing), Count(h.Invalid))
		if h.Obeyed+h.Early > 0 {
			s += fmt.Sprintf("; obeyed %s (then admitted %s), came early %s", Count(h.Obeyed), Count(h.ObeyedThenAdmitted), Count(h.Early))
		}
		if wait, n := usualWait(h.Values); n > 0 {
			s += fmt.Sprintf("; most often %s s, longest %s s", wait, secondsText(h.LongestS))
		}
		t.wrapped("retry after  ", "", s)
	}
	if h := r.Herd; h.Retries > 0 {
		t.wrapped("herd         ", "", fmt.Sprintf("at most %s retries due in 10 ms, at %s s, %s times the mean; %s left in 10 ms",
			Count(h.Peak10ms), secondsText(h.AtS), amount(h.OverMean), Count(h.PeakSent10ms)))
	}
	if f := r.Fairness; f.Clients > 1 {
		t.wrapped("fairness     ", "", fmt.Sprintf("Jain %.3f over %s clients, starved %s", f.Jain, Count(f.Clients), Count(f.StarvedClients)))
	}
	if r.Model == nil && r.Replay == nil {
		t.sender(&r.Sender)
	}
	t.b.WriteByte('\n')
	if r.Model == nil && r.Replay == nil || r.Latency.FromDue.Max > 0 {
		t.latency(r)
	}
}

func (t *text) sender(s *Sender) {
	line := fmt.Sprintf("trust %s; late p99 %s ms, max %s ms; %s connections", s.Trust, ms(s.LateMS.P99), ms(s.LateMS.Max), Count(s.Connections))
	if s.CPUS > 0 {
		line += fmt.Sprintf("; %.1f s CPU", s.CPUS)
	}
	if s.RSSMB > 0 {
		line += fmt.Sprintf("; %s MB", amount(s.RSSMB))
	}
	t.wrapped("sender       ", "", line)
}

func (t *text) latency(r *Result) {
	tab := table{head: []string{"latency, ms", "p50", "p90", "p99", "p99.9", "max"}}
	for _, l := range []struct {
		name string
		q    Quantiles
	}{{"from due", r.Latency.FromDue}, {"from sent", r.Latency.FromSent}, {"admitted", r.Latency.Admitted},
		{"refused", r.Latency.Refused}, {"failed", r.Latency.Failed}} {
		if l.q.Count > 0 {
			tab.add(l.name, ms(l.q.P50), ms(l.q.P90), ms(l.q.P99), ms(l.q.P999), ms(l.q.Max))
		}
	}
	tab.write(t)
}

// mapLine lists counts by falling size.
func mapLine(m map[string]int64) string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		if m[names[i]] != m[names[j]] {
			return m[names[i]] > m[names[j]]
		}
		return names[i] < names[j]
	})
	for i, n := range names {
		names[i] = Clean(n) + " × " + Count(m[n])
	}
	return strings.Join(names, ", ")
}

func ms(v float64) string {
	switch {
	case v >= 1000:
		return Count(int64(v + 0.5))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func (t *text) keys(r *Result) {
	if len(r.PerKey) > 0 {
		var lengths []string
		for _, l := range maxLengths(r) {
			if l == "1s" || l == "10s" || l == "60s" || r.Bound == nil && len(lengths) < 3 {
				lengths = append(lengths, l)
			}
		}
		head := []string{"key", "offered", "admitted", "refused", "failed"}
		for _, l := range lengths {
			head = append(head, "in "+l)
		}
		if r.Bound != nil {
			head = append(head, "excess")
		}
		tab := table{head: head}
		for i, k := range r.PerKey {
			if i >= textKeys && k.Keys == 0 {
				continue
			}
			name := short(Clean(k.Key), 24)
			if k.Keys > 0 {
				name = fmt.Sprintf("(%s other)", Count(k.Keys))
			}
			row := []string{name, Count(k.Offered), Count(k.Admitted), Count(k.Refused), Count(k.Failed)}
			for _, l := range lengths {
				v := "-"
				if n, ok := k.MaxIn[l]; ok {
					v = Count(n)
				}
				row = append(row, v)
			}
			if r.Bound != nil {
				row = append(row, amount(k.WorstExcess))
			}
			tab.add(row...)
		}
		tab.write(t)
		listed := len(r.PerKey)
		if r.PerKey[listed-1].Keys > 0 {
			listed-- // the row that sums up the rest is shown
		}
		t.more(listed, "keys")
	}
	t.rows("population", "populations", r.PerPopulation)
	t.rows("target", "targets", r.PerTarget)
}

// rows writes a table of what there are several of.
func (t *text) rows(one, several string, rows []Row) {
	if len(rows) > 1 {
		tab := table{head: []string{one, "offered", "admitted", "refused", "failed"}}
		for i, x := range rows {
			if i < textKeys {
				tab.add(short(Clean(x.Name), 40), Count(x.Offered), Count(x.Admitted), Count(x.Refused), Count(x.Failed))
			}
		}
		tab.write(t)
		t.more(len(rows), several)
	}
}

func (t *text) more(n int, what string) {
	if n > textKeys {
		fmt.Fprintf(&t.b, "(%d more %s in --json)\n\n", n-textKeys, what)
	}
}

func short(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

func (t *text) findings(r *Result) {
	for _, f := range r.Findings {
		code := yellow
		if f.Severity == High {
			code = red
		}
		fmt.Fprintf(&t.b, "%s %s\n", t.paint(bold+";"+code, string(f.Severity)), t.paint(bold, f.ID))
		t.wrapped("  ", "", f.Text)
		t.b.WriteByte('\n')
	}
}

func (t *text) ending(r *Result) {
	for i, a := range r.Acts {
		t.wrapped(fmt.Sprintf("act %d: ", i+1), "", CleanLong(a.Title+". "+a.Measured))
	}
	for _, m := range r.Marks {
		t.wrapped(fmt.Sprintf("at %s s: ", secondsText(m.AtS)), "", Clean(m.Text)+".")
	}
	for _, n := range r.Notes {
		t.wrapped("note: ", "", CleanLong(n)+".")
	}
	if r.Repeat != "" {
		t.b.WriteString(RepeatLine(r))
	}
}

// RepeatLine is the line that says how to do a run again, never folded since it
// is there to be copied. A scenario that draws nothing has no seed.
func RepeatLine(r *Result) string {
	seed := fmt.Sprintf(" (seed %d)", r.Seed)
	if r.Model != nil && r.Model.Parameters["seed"] == "" || r.Replay != nil && r.Seed == 0 {
		seed = ""
	}
	return fmt.Sprintf("repeat%s: %s\n", seed, CleanLong(r.Repeat))
}

// table is left-aligned in its first column and right-aligned in the others.
type table struct {
	head []string
	rows [][]string
}

func (b *table) add(row ...string) { b.rows = append(b.rows, row) }

func (b *table) write(t *text) {
	if len(b.rows) == 0 {
		return
	}
	widths := make([]int, len(b.head))
	for _, row := range append([][]string{b.head}, b.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	// Columns from the right go first when the page is too narrow.
	cols, total := 0, 0
	for _, w := range widths {
		if total+w > t.o.Width && cols > 1 {
			break
		}
		total += w + 2
		cols++
	}
	line := func(row []string) string {
		var s strings.Builder
		for i, c := range row[:cols] {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if i == 0 {
				s.WriteString(c + pad)
			} else {
				s.WriteString("  " + pad + c)
			}
		}
		return strings.TrimRight(s.String(), " ")
	}
	t.b.WriteString(t.paint(bold, line(b.head)) + "\n")
	for _, row := range b.rows {
		t.b.WriteString(line(row) + "\n")
	}
	t.b.WriteByte('\n')
}
