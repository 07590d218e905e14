package tui

import tea "github.com/charmbracelet/bubbletea"

// wheelRows is how far a notch of the wheel scrolls.
const wheelRows = 3

// toggleMouse takes the mouse from the terminal, which can then not select text
// by it, or gives it back.
func (m model) toggleMouse() (tea.Model, tea.Cmd) {
	m.mouse = !m.mouse
	if m.mouse {
		m.said = "mouse on: click a view or a moment, turn the wheel; M gives it back to the terminal"
		return m, tea.EnableMouseCellMotion
	}
	m.said = "mouse off: the terminal selects text again"
	return m, tea.DisableMouse
}

// moused does what the mouse asks for. While something is typed, nothing.
func (m model) moused(e tea.MouseEvent) model {
	held := e.Action == tea.MouseActionMotion && e.Button == tea.MouseButtonLeft
	switch {
	case !m.mouse || m.asks.what != "" || m.w < minWidth || m.h < minHeight:
	case e.Button == tea.MouseButtonWheelUp:
		m = m.wheel(-1)
	case e.Button == tea.MouseButtonWheelDown:
		m = m.wheel(1)
	case e.Button == tea.MouseButtonLeft && e.Action == tea.MouseActionPress:
		m.said = ""
		m = m.clicked(e.X, e.Y)
	case held && m.picks.items == nil && !m.help && e.Y > tabsAt:
		m = m.pointed(e.X)
	}
	return m
}

// wheel scrolls what scrolls, and winds a tape elsewhere.
func (m model) wheel(by int) model {
	keys := m.view == Keys || m.view == Bucket
	switch t, tape := m.src.(*Tape); {
	case m.picks.items != nil:
		m.picks.at = min(max(m.picks.at+by, 0), len(m.picks.items)-1)
	case keys:
		m.table.from = max(m.table.from+by*wheelRows, 0)
	case m.view == Findings:
		m.scroll = max(m.scroll+by*wheelRows, 0)
	case tape && by < 0:
		t.key("left")
		m = m.look()
	case tape:
		t.key("right")
		m = m.look()
	}
	return m
}

// clicked chooses the view, the item of a list or the moment at a place.
func (m model) clicked(x, y int) model {
	if m.picks.items != nil {
		box, from, rows := m.picks.place(m.w, m.h)
		in := x > box.x && x < box.x+box.w-1 && y > box.y && y <= box.y+rows
		if !in {
			m.picks = picker{}
			return m
		}
		m.picks.at = from + y - box.y - 1
		return m.picked("enter")
	}
	if m.help {
		m.help = false
		return m
	}
	if y != tabsAt {
		return m.pointed(x)
	}
	for v, tab := range m.tabs(m.w) {
		if x >= tab.x && x < tab.x+width(tab.label) {
			m.view, m.chosen = View(v), true
		}
	}
	if x >= m.w-1-width(helpLabel) {
		m.help = true
	}
	return m
}

// pointed winds a tape to the moment at a column of the chart.
func (m model) pointed(x int) model {
	t, ok := m.src.(*Tape)
	if !ok || m.view != Traffic || x < labels || x >= labels+m.columns() {
		return m
	}
	line := m.lined(m.columns())
	t.seek(line.from + int64(x-labels)*line.step + line.step/2)
	return m.look()
}
