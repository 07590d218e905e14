package tui

import (
	"fmt"
	"strconv"

	"github.com/weir-cli/weir/report"
)

// aside is the width of the column of figures that a wide screen has.
const aside = 38

// wideEnough is from where on there is one.
const wideEnough = 118

// screen draws everything.
func (m *model) screen() *canvas {
	c := newCanvas(m.w, m.h)
	if m.w < minWidth || m.h < minHeight {
		c.wrap(0, 0, fmt.Sprintf("%d×%d is too small for the dashboard: it needs %d×%d.", m.w, m.h, minWidth, minHeight), style{})
		return c
	}
	m.header(c)
	m.answer(c, 2)
	top := 4 + m.caption(c.sub(0, 4, c.w, c.h-5))
	body := c.sub(0, top, c.w, c.h-top-1)
	if c.w >= wideEnough {
		m.figures(body.sub(body.w-aside, 0, aside, body.h))
		for y := range body.h {
			body.set(body.w-aside-1, y, '│', style{tone: dim})
		}
		body = body.sub(0, 0, body.w-aside-2, body.h)
	}
	if m.help {
		m.helpOn(body)
	} else if why := m.about.Missing[m.view]; why != "" {
		body.wrap(2, 1, why, style{tone: dim})
	} else {
		m.draw(body)
	}
	m.footer(c)
	if m.picks.items != nil {
		m.picks.draw(c)
	}
	return c
}

func (m *model) draw(c *canvas) {
	switch m.view {
	case Traffic:
		m.traffic(c, 3)
	case Keys:
		m.keys(c)
	case Clients:
		m.clients(c)
	case Latency:
		m.latency(c)
	case Findings:
		m.findings(c)
	case Fleet:
		m.fleet(c)
	case Bucket:
		m.bucket(c)
	}
}

// columns is how many columns the charts have.
func (m *model) columns() int {
	w := m.w
	if w >= wideEnough {
		w -= aside + 2
	}
	return w - labels
}

func (m *model) header(c *canvas) {
	x := c.text(1, 0, "weir", style{tone: accent, bold: true})
	x = c.text(x+2, 0, m.about.Kind, style{tone: dim})
	clockAt := m.progress(c)
	name := c.sub(0, 0, clockAt-1, 1)
	x = name.text(x+2, 0, tame(m.about.Name), style{bold: true})
	if p := m.about.Promise; p != nil {
		x = name.text(x+2, 0, tame(p.Text), style{tone: promised})
	}
	if m.about.At != "" {
		name.text(x+2, 0, tame(m.about.At), style{tone: dim})
	}
	for v, tab := range m.tabs(c.w) {
		st := style{tone: dim}
		if View(v) == m.view {
			st = style{reverse: true, bold: true}
		}
		c.text(tab.x, tabsAt, tab.label, st)
	}
	c.right(c.w-1, tabsAt, helpLabel, style{tone: dim})
}

// tabsAt is the row of the views' names, and helpLabel stands at its end.
const (
	tabsAt    = 1
	helpLabel = "? help"
)

// tab is the name of a view on the screen.
type tab struct {
	x     int
	label string
}

// tabs are those of all views, side by side; where there is no room for all the
// names, that of the view that is shown.
func (m *model) tabs(w int) [views]tab {
	out, end := m.tabsLabelled(w, false)
	if end > w-2-width(helpLabel) {
		out, _ = m.tabsLabelled(w, true)
	}
	return out
}

func (m *model) tabsLabelled(w int, short bool) (out [views]tab, end int) {
	x := 1
	for v := range views {
		label := strconv.Itoa(int(v) + 1)
		if !short || v == m.view {
			label += " " + v.String()
		}
		if v == Findings && len(m.snap.Detail.Findings) > 0 {
			label += " (" + strconv.Itoa(len(m.snap.Detail.Findings)) + ")"
		}
		if w >= 100 {
			label = " " + label + " "
		}
		out[v] = tab{x, label}
		x += width(label) + 1
	}
	return out, x - 1
}

// progress writes the run's time at the right and returns where it begins.
func (m *model) progress(c *canvas) int {
	state, st := "● live", style{tone: admitted}
	switch t, tape := m.src.(*Tape); {
	case tape && t.playing:
		state, st = "▶ × "+brief(speeds[t.speed]), style{tone: accent}
	case tape:
		state, st = "■ × "+brief(speeds[t.speed]), style{tone: dim}
	case m.paused():
		state, st = "❚❚ paused", style{tone: marked, bold: true}
	case m.frozen:
		state, st = "❚❚ frozen", style{tone: marked, bold: true}
	case m.about.Over:
		state, st = "■ over", style{tone: dim}
	case m.about.Trouble != "":
		state, st = "○ out of date", style{tone: refused, bold: true}
	case m.ending:
		state, st = "● ending", style{tone: marked}
	}
	at := clock(m.instant())
	if m.about.Length > 0 {
		at += " of " + clock(m.about.Length)
	}
	x := c.w - 1 - width(state)
	c.text(x, 0, state, st)
	x -= width(at) + 2
	c.text(x, 0, at, style{bold: true})
	return x
}

// instant is the one that is shown.
func (m *model) instant() int64 {
	if t, ok := m.src.(*Tape); ok {
		return t.at
	}
	return m.snap.At
}

// answer is the verdict and the sums, as the result will have them.
func (m *model) answer(c *canvas, y int) {
	defer func() {
		for x := range c.w {
			c.set(x, y+1, '─', style{tone: dim})
		}
	}()
	if m.about.Instead != "" {
		c.text(1, y, fit(tame(m.about.Instead), c.w-2), style{})
		return
	}
	s := m.snap
	x := 1
	switch b := s.Bound; {
	case s.Verdict == report.Broken && b != nil:
		x = c.text(x, y, " BROKEN ", style{tone: refused, bold: true, reverse: true})
		by := "× " + brief(b.Ratio)
		if b.Ratio < 1.1 { // over all of the run, which is not where it broke
			by = "by " + brief(b.WorstExcess)
		}
		x = c.text(x+1, y, by, style{tone: refused, bold: true})
	case s.Verdict == report.Held && b != nil && s.Totals.Offered > 0:
		x = c.text(x, y, " HELD ", style{tone: admitted, bold: true, reverse: true})
	default:
		x = c.text(x, y, " NOT JUDGED ", style{tone: dim, reverse: true})
	}
	t := s.Totals
	for _, f := range []struct {
		name string
		n    int64
		tone tone
	}{{"offered", t.Offered, offered}, {"admitted", t.Admitted, admitted}, {"refused", t.Refused, refused},
		{"failed", t.Failed, failed}, {"dropped", t.Dropped, failed}} {
		if f.n == 0 && (f.name == "failed" || f.name == "dropped") {
			continue
		}
		x = c.text(x+2, y, f.name, style{tone: dim})
		x = c.text(x+1, y, report.Count(f.n), style{tone: f.tone, bold: true})
	}
	if trust := s.Sender.Trust; trust != report.Good && trust != "" {
		c.text(x+2, y, "trust "+string(trust), style{tone: failed, bold: true})
	}
}

// footer is what is asked, what was just done, or what can be done.
func (m *model) footer(c *canvas) {
	y := c.h - 1
	switch {
	case m.asks.what != "":
		x := c.text(1, y, m.asks.what+": ", style{tone: accent, bold: true})
		x = c.text(x, y, tame(m.asks.text), style{bold: true})
		c.set(min(x, c.w-1), y, ' ', style{reverse: true})
	case m.about.Trouble != "":
		c.text(1, y, tame(m.about.Trouble), style{tone: refused, bold: true})
	case m.said != "":
		c.text(1, y, m.said, style{tone: marked})
	default:
		x, quit := 1, c.w-width("q quit")-1
		c.text(quit, y, "q", style{bold: true})
		c.text(quit+2, y, "quit", style{tone: dim})
		for _, h := range m.hints() {
			if x+width(h[0])+width(h[1])+2 > quit {
				break
			}
			x = c.text(x, y, h[0], style{bold: true})
			x = c.text(x+1, y, h[1], style{tone: dim}) + 2
		}
	}
}

// paused reports a live run that sends nothing for now.
func (m *model) paused() bool {
	p, ok := m.src.(Pauser)
	return ok && !m.about.Over && !m.ending && p.Paused()
}

// hints are the keys that mean something here and now.
func (m *model) hints() [][2]string {
	var h [][2]string
	if _, ok := m.src.(*Tape); ok {
		arrows := "←→"
		if m.opt.ASCII {
			arrows = "arrows"
		}
		h = append(h, [2]string{"space", "play"}, [2]string{arrows, "wind"}, [2]string{",.", "step"}, [2]string{"<>", "speed"})
	} else {
		h = append(h, [2]string{"space", "freeze"})
	}
	if _, ok := m.src.(Pauser); ok && !m.about.Over {
		if m.paused() {
			h = append(h, [2]string{"p", "go on"})
		} else {
			h = append(h, [2]string{"p", "pause"})
		}
	}
	if _, ok := m.src.(Guide); ok && m.scene.Next > 0 {
		h = append(h, [2]string{"n", "next act"})
	}
	if b, ok := m.src.(Behaver); ok && !m.about.Over {
		h = append(h, [2]string{"b", "behaviour"})
		if b.Behaviour() == calmest {
			h = append(h, [2]string{"J", "no jitter"})
		} else {
			h = append(h, [2]string{"J", "jitter"})
		}
	}
	if m.designs() > 1 {
		h = append(h, [2]string{"d", "gateways"})
	}
	if _, ok := m.src.(Pacer); ok && !m.about.Over {
		h = append(h, [2]string{"+-", "rate"})
	}
	switch m.view {
	case Traffic:
		h = append(h, [2]string{"zZ", "zoom"}, [2]string{"s", "one scale"})
	case Clients:
		h = append(h, [2]string{"zZ", "zoom"})
	case Keys:
		h = append(h, [2]string{"o", "order"}, [2]string{"/", "filter"})
	}
	if m.marks() {
		h = append(h, [2]string{"m", "mark"})
	}
	if m.opt.Export != nil {
		h = append(h, [2]string{"e", "export"})
	}
	return h
}

// place is where the list stands on a screen, and which of the items in it.
func (p *picker) place(sw, sh int) (box canvas, from, rows int) {
	w := width(p.title) + 4
	for _, item := range p.items {
		w = max(w, width(item)+6)
	}
	rows = min(len(p.items), sh-6)
	from = max(min(p.at-rows/2, len(p.items)-rows), 0)
	return canvas{x: (sw - w) / 2, y: (sh - rows - 2) / 2, w: w, h: rows + 2}, from, rows
}

func (p *picker) draw(c *canvas) {
	at, from, rows := p.place(c.w, c.h)
	box := c.sub(at.x, at.y, at.w, at.h)
	for y := range box.h {
		for x := range box.w {
			box.set(x, y, ' ', style{})
		}
		box.set(0, y, '│', style{tone: accent})
		box.set(box.w-1, y, '│', style{tone: accent})
	}
	for x := range box.w {
		box.set(x, 0, '─', style{tone: accent})
		box.set(x, box.h-1, '─', style{tone: accent})
	}
	for _, k := range []struct {
		x, y int
		r    rune
	}{{0, 0, '╭'}, {box.w - 1, 0, '╮'}, {0, box.h - 1, '╰'}, {box.w - 1, box.h - 1, '╯'}} {
		box.set(k.x, k.y, k.r, style{tone: accent})
	}
	box.text(2, 0, p.title, style{bold: true})
	for i := range rows {
		st := style{}
		if from+i == p.at {
			st.reverse = true
			for x := 1; x < box.w-1; x++ {
				box.set(x, i+1, ' ', st)
			}
		}
		box.text(3, i+1, p.items[from+i], st)
	}
}
