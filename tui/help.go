package tui

// helpOn lists every key that works on this source.
func (m *model) helpOn(c *canvas) {
	type line struct{ key, does string }
	lines := []line{{"1 … 7, tab", "the views; tab goes to the next, shift-tab back"}}
	if _, ok := m.src.(*Tape); ok {
		lines = append(lines,
			line{"space", "play, or stop playing"},
			line{"← →", "wind by a hundredth of the run; with shift by a tenth"},
			line{", .", "one step back or on"},
			line{"home, end", "to the beginning or the end"},
			line{"< >", "play slower or faster"})
	} else {
		lines = append(lines, line{"space, f", "freeze the screen; the run goes on"})
	}
	if _, ok := m.src.(Pauser); ok {
		lines = append(lines, line{"p", "pause the sending, or go on"})
	}
	if _, ok := m.src.(Pacer); ok {
		lines = append(lines, line{"+ -", "double or halve the rate"})
	}
	if _, ok := m.src.(Behaver); ok {
		lines = append(lines,
			line{"b", "choose what all clients do after a refusal"},
			line{"J", "jitter: clients come back anywhere within their wait; again: as planned"})
	}
	if m.designs() > 1 {
		lines = append(lines, line{"d", "choose what the gateways do"})
	}
	if _, ok := m.src.(Guide); ok {
		lines = append(lines, line{"n", "the next act now"})
	}
	if m.marks() {
		lines = append(lines, line{"m", "mark this moment with a word"})
	}
	lines = append(lines,
		line{"z Z a", "traffic and clients: columns of less time, of more, as it fits"},
		line{"s", "traffic: one scale for all charts, or one each"},
		line{"o O r /", "keys: order by the next column, the one before, reversed; filter"},
		line{"↑ ↓", "scroll"},
		line{"M", "mouse: click a view or a moment, the wheel scrolls; again: off"})
	if m.opt.Export != nil {
		lines = append(lines, line{"e", "keep this screen as text and as SVG"})
	}
	if _, ok := m.src.(Stopper); ok {
		lines = append(lines, line{"q, ctrl-c", "end the run and report; a second time at once"})
	} else {
		lines = append(lines, line{"q, ctrl-c", "leave"})
	}
	lines = append(lines, line{"ctrl-z", "suspend"})
	for y, l := range lines {
		c.text(2, y, l.key, style{bold: true})
		c.text(14, y, l.does, style{})
	}
	y := len(lines) + 1
	c.text(2, y, "█", style{tone: admitted})
	c.text(4, y, "admitted", style{tone: admitted})
	c.text(14, y, "⣿", style{tone: refused})
	c.text(16, y, "refused", style{tone: refused})
	c.text(25, y, "▒", style{tone: failed})
	c.text(27, y, "failed", style{tone: failed})
	c.text(35, y, "⠒", style{tone: offered})
	c.text(37, y, "offered", style{tone: offered})
	c.text(46, y, "┄", style{tone: promised})
	c.text(48, y, "promise", style{tone: promised})
	c.text(57, y, "─", style{tone: bounded})
	c.text(59, y, "bound", style{tone: bounded})
}
