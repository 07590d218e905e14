package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/weir-cli/weir/report"
)

// View is one page of the dashboard.
type View uint8

// The views, in the order of their keys from 1 on.
const (
	Traffic View = iota
	Keys
	Clients
	Latency
	Findings
	Fleet
	Bucket
	views
)

var viewNames = [views]string{"traffic", "keys", "clients", "latency", "findings", "fleet", "bucket"}

// String is the view's name.
func (v View) String() string { return viewNames[v] }

// Options shape a dashboard. The zero value has no colours and no export.
type Options struct {
	Colors Colors
	ASCII  bool // the terminal shows nothing else
	View   View // the first to show
	// Export keeps a screen as text and as SVG and returns where.
	Export func(text, svg string) (string, error)
}

// pollEvery is how often the source is looked at.
const pollEvery = 100 * time.Millisecond

// The smallest screen that can be drawn on.
const (
	minWidth  = 60
	minHeight = 16
)

// model is the state of the screen. It is a value: Update returns the next one.
type model struct {
	src   Source
	opt   Options
	snap  *report.Snapshot
	about About

	w, h   int
	view   View
	help   bool
	frozen bool
	zoom   int // index of steps plus 1; 0 fits by itself
	bins   int // index of binWidths, of the clients view
	shared bool
	said   string // the last thing that was done, for the footer
	asks   prompt
	picks  picker
	table  table
	scroll int // of findings
	ending bool
	mouse  bool // what it does comes here, and not to the terminal's own selection

	scene  Scene // of a Guide
	led    int   // the act that view was last set by
	chosen bool  // by a person: the view stays

	change change // of what clients do
}

// pollMsg is a tick of the dashboard's own clock.
type pollMsg time.Time

func poll() tea.Cmd { return tea.Tick(pollEvery, func(t time.Time) tea.Msg { return pollMsg(t) }) }

func newModel(src Source, opt Options) model {
	m := model{src: src, opt: opt, view: opt.View, w: 80, h: 24}
	return m.look()
}

// look reads the source.
func (m model) look() model {
	m.about = m.src.About()
	if !m.frozen {
		m.snap = m.src.Snapshot()
	}
	if m.snap == nil {
		m.snap = &report.Snapshot{}
	}
	if m.snap.Detail == nil {
		s := *m.snap
		s.Detail = &report.Detail{}
		m.snap = &s
	}
	m.change = m.change.seen(m.src, m.snap)
	return m.follow()
}

// Init implements tea.Model.
func (m model) Init() tea.Cmd { return poll() }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case pollMsg:
		if t, ok := m.src.(*Tape); ok {
			t.advance(time.Time(msg))
		}
		return m.look(), poll()
	case leaveMsg:
		return m, tea.Quit
	case tea.KeyMsg:
		return m.keysOf(msg)
	case tea.MouseMsg:
		return m.moused(tea.MouseEvent(msg)), nil
	case continuedMsg:
		if m.mouse {
			return m, tea.EnableMouseCellMotion
		}
	}
	return m, nil
}

// View implements tea.Model.
func (m model) View() string {
	c := m.screen()
	if m.opt.ASCII {
		c.ascii()
	}
	return c.ansi(m.opt.Colors)
}

// step is what a column stands for.
func (m *model) step(columns int) int64 {
	if m.zoom > 0 {
		return steps[m.zoom-1]
	}
	if t, ok := m.src.(*Tape); ok {
		return stepFor(t.length(), columns, steps[0])
	}
	if m.about.Over {
		return stepFor(m.snap.At, columns, steps[0])
	}
	return stepFor(min(m.snap.At, 60e9), columns, steps[0])
}
