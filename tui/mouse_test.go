package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/weir-cli/weir/report"
)

func mouse(m model, b tea.MouseButton, x, y int) model {
	next, _ := m.Update(tea.MouseMsg{X: x, Y: y, Button: b, Action: tea.MouseActionPress})
	return next.(model)
}

// Until it is asked for, the mouse does nothing and stays the terminal's own.
func TestMouseIsOffUntilAskedFor(t *testing.T) {
	tape, _ := openRun(t, false)
	m := newModel(tape, Options{})
	tab := m.tabs(m.w)[Keys]
	if m = mouse(m, tea.MouseButtonLeft, tab.x, tabsAt); m.view != Traffic {
		t.Error("a click changed the view")
	}
	if _, cmd := m.Update(continuedMsg{}); cmd != nil {
		t.Error("taken when the process is continued")
	}
	next, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("M")})
	if m = next.(model); cmd == nil || fmt.Sprintf("%T", cmd()) != fmt.Sprintf("%T", tea.EnableMouseCellMotion()) || !shows(m, "mouse on") {
		t.Errorf("M does not take it:\n%s", m.screen().plainText())
	}
	if _, cmd := m.Update(continuedMsg{}); cmd == nil {
		t.Error("not taken again when the process is continued")
	}
	if m = mouse(m, tea.MouseButtonLeft, tab.x, tabsAt); m.view != Keys || !m.chosen {
		t.Errorf("a click on keys shows %v", m.view)
	}
	next, cmd = m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("M")})
	if m = next.(model); cmd == nil || fmt.Sprintf("%T", cmd()) != fmt.Sprintf("%T", tea.DisableMouse()) {
		t.Error("M does not give it back")
	}
	if m = mouse(m, tea.MouseButtonLeft, 1, tabsAt); m.view != Keys {
		t.Error("a click after that changed the view")
	}
}

// Every tab can be clicked from its first to its last letter, at any width.
func TestMouseTabs(t *testing.T) {
	for _, w := range []int{60, 80, 99, 100, 118, 240} {
		tape, _ := openRun(t, false)
		m := press(newModel(tape, Options{}), "M")
		m.w = w
		line := strings.Split(m.screen().plainText(), "\n")[tabsAt]
		for v, tab := range m.tabs(w) {
			if !strings.Contains(line, tab.label) {
				t.Errorf("at %d columns %q is not in %q", w, tab.label, line)
			}
			for _, x := range []int{tab.x, tab.x + width(tab.label) - 1} {
				if got := mouse(m, tea.MouseButtonLeft, x, tabsAt).view; got != View(v) {
					t.Errorf("at %d columns a click on %d shows %v, not %v", w, x, got, View(v))
				}
			}
		}
		if m = mouse(m, tea.MouseButtonLeft, w-2, tabsAt); !m.help {
			t.Errorf("at %d columns a click on help does not show it", w)
		}
		if m = mouse(m, tea.MouseButtonLeft, 10, 10); m.help {
			t.Error("and the next one does not end it")
		}
	}
}

// The wheel winds a saved run, and scrolls what has more rows than the screen; a
// click on the chart goes to that moment, and dragging on from there.
func TestMouseWindsAndScrolls(t *testing.T) {
	tape, _ := openRun(t, false)
	m := press(newModel(tape, Options{}), "M")
	m = mouse(m, tea.MouseButtonWheelUp, 20, 10)
	if tape.at != tape.length()-tape.length()/100 {
		t.Errorf("wound to %d", tape.at)
	}
	if m = mouse(m, tea.MouseButtonWheelDown, 20, 10); tape.at != tape.length() {
		t.Errorf("wound back to %d", tape.at)
	}
	m = mouse(m, tea.MouseButtonLeft, labels+30, 10)
	if tape.at < 5.9e9 || tape.at > 6.3e9 { // 60 columns of 200 ms
		t.Errorf("a click in the middle goes to %s", clock(tape.at))
	}
	next, _ := m.Update(tea.MouseMsg{X: labels + 10, Y: 10, Button: tea.MouseButtonLeft, Action: tea.MouseActionMotion})
	if m = next.(model); tape.at < 2e9 || tape.at > 2.2e9 || !shows(m, "2.1 s of 12.0 s") {
		t.Errorf("dragging goes to %s", clock(tape.at))
	}
	for _, x := range []int{0, labels - 1, 79, 80, -1, 1 << 20} {
		m = mouse(m, tea.MouseButtonLeft, x, 10)
	}
	if tape.at > tape.length() || tape.at < 0 {
		t.Errorf("wound to %d", tape.at)
	}
	m = mouse(press(m, "2"), tea.MouseButtonWheelDown, 5, 5)
	if m.table.from != wheelRows {
		t.Errorf("the table begins at %d", m.table.from)
	}
	if m = mouse(mouse(m, tea.MouseButtonWheelUp, 5, 5), tea.MouseButtonWheelUp, 5, 5); m.table.from != 0 {
		t.Errorf("the table begins at %d", m.table.from)
	}
	if m = mouse(press(m, "5"), tea.MouseButtonWheelDown, 5, 5); m.scroll != wheelRows {
		t.Errorf("findings are scrolled by %d", m.scroll)
	}
}

// What stands under the pointer in a list is what a click chooses.
func TestMouseInLists(t *testing.T) {
	s := newStub()
	m := press(newModel(s, Options{}), "Mb")
	lines := strings.Split(m.screen().plainText(), "\n")
	for y, line := range lines {
		if at := strings.Index(line, "give-up"); at >= 0 {
			m = mouse(m, tea.MouseButtonLeft, width(line[:at]), y)
			break
		}
	}
	if s.now != "give-up" || m.picks.items != nil {
		t.Errorf("%q was chosen", s.now)
	}
	m = press(m, "b")
	if m = mouse(m, tea.MouseButtonWheelUp, 0, 0); m.picks.at != 1 {
		t.Errorf("the wheel goes to %d", m.picks.at)
	}
	if m = mouse(m, tea.MouseButtonLeft, 0, 0); m.picks.items != nil || s.now != "give-up" {
		t.Error("a click beside the list does not close it, or chooses")
	}
	if m = mouse(press(m, "m"), tea.MouseButtonLeft, m.tabs(80)[Keys].x, tabsAt); m.view != Traffic {
		t.Error("a click while something is typed changes the view")
	}
}

// A mark on a tape stands where the cursor does, also where the run has one
// frame only, as a result does.
func TestMarkWhereTheCursorIs(t *testing.T) {
	tape := NewTape(About{}, []*report.Snapshot{{At: 10e9, Detail: &report.Detail{}}}, false)
	m := newModel(tape, Options{})
	m = key(key(m, "home"), "right")
	m = key(press(m, "m"), "enter")
	if marks := tape.About().Marks; len(marks) != 1 || marks[0].AtS != 0.1 {
		t.Errorf("marks %v, want one at 0.1 s", marks)
	}
}

// Nothing can be changed about, or marked in, a run that is over: its result is
// made. Nor is what changes nothing taken down.
func TestSteeringLeavesNoFalseMarks(t *testing.T) {
	s := newStub()
	paces, behaviours, designs := 0, 0, 0
	c := &counted{stub: s, paces: &paces, behaviours: &behaviours, designs: &designs}
	m := newModel(c, Options{})
	m = press(m, "++++++")
	m = key(press(m, "b"), "enter") // as it is already
	m = key(press(m, "d"), "enter")
	if paces != 4 || behaviours != 0 || designs != 0 || s.pace != 16 {
		t.Errorf("%d changes of the rate to %v, %d of the behaviour, %d of the design", paces, s.pace, behaviours, designs)
	}
	s.about.Over = true
	m = press(m.look(), "-J")
	if m = press(m, "b"); m.picks.items != nil || paces != 4 || behaviours != 0 {
		t.Errorf("steered after the end:\n%s", m.screen().plainText())
	}
	if m = press(m, "m"); m.asks.what != "" || !shows(m, "the run is over") {
		t.Errorf("marked after the end:\n%s", m.screen().plainText())
	}
}

type counted struct {
	*stub
	paces, behaviours, designs *int
}

func (c *counted) SetPace(f float64)     { *c.paces++; c.stub.SetPace(f) }
func (c *counted) SetBehaviour(b string) { *c.behaviours++; c.stub.SetBehaviour(b) }
func (c *counted) Designs() []string     { return []string{"local", "central"} }
func (c *counted) Design() string        { return "central" }
func (c *counted) SetDesign(string)      { *c.designs++ }

// A source that cannot be read is not called live.
func TestOutOfDate(t *testing.T) {
	s := newStub()
	s.about.Trouble = "no answer: nothing within 2s"
	if m := newModel(s, Options{}); shows(m, "● live") || !shows(m, "out of date") || !shows(m, "no answer") {
		t.Errorf("got\n%s", m.screen().plainText())
	}
}

// A chart of a whole run fills the width, whatever that is, and one of a run
// that goes on has its place from the beginning.
func TestChartFillsTheWidth(t *testing.T) {
	// Of a live run of known length, what has been fills its part.
	s := newStub()
	s.snap.At, s.snap.Detail.Fine = 10e9, report.Trail{Step: 1e8, Ticks: make([]report.Tick, 100)}
	for length, want := range map[int64][2]int{0: {100, 100}, 20e9: {190, 210}} {
		s.about.Length = length
		m := newModel(s, Options{})
		if got := len(m.lined(400).cols); got < want[0] || got > want[1] {
			t.Errorf("after 10 s of %d ns: %d of 400 columns", length, got)
		}
	}
	for n := 1; n < 400; n++ {
		for _, c := range []struct{ have, willBe int }{{60, 60}, {120, 120}, {30, 60}, {1, 1}, {7, 7}, {0, 5}} {
			line := timeline{step: 1e8, span: 1e8, cols: make([]col, c.have)}
			for i := range line.cols {
				line.cols[i].offered = float64(i)
			}
			line.stretch(n, c.willBe)
			if c.have == 0 || c.willBe >= n {
				if len(line.cols) != c.have {
					t.Fatalf("%v in %d: %d columns", c, n, len(line.cols))
				}
				continue
			}
			if full := len(line.cols) * c.willBe / c.have; full > n+c.willBe || full*5 < n*4-5*c.willBe/c.have {
				t.Fatalf("%v in %d: %d columns, of %d in the end", c, n, len(line.cols), full)
			}
			for i := 1; i < len(line.cols); i++ {
				if by := line.cols[i].offered - line.cols[i-1].offered; by < 0 || by > 1 {
					t.Fatalf("%v in %d: step %d follows on %v", c, n, i, line.cols[i-1].offered)
				}
			}
			if got := line.cols[len(line.cols)-1].offered; got != float64(c.have-1) {
				t.Fatalf("%v in %d: ends at step %v", c, n, got)
			}
		}
	}
}
