package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/weir-cli/weir/report"
)

// stub is a run that can do everything and remembers what it was told.
type stub struct {
	snap  *report.Snapshot
	about About
	told  []string
	pace  float64
	now   string
	stops int
	still bool
}

func (s *stub) Snapshot() *report.Snapshot { return s.snap }
func (s *stub) About() About               { return s.about }
func (s *stub) Stop()                      { s.stops++ }
func (s *stub) Paused() bool               { return s.still }
func (s *stub) SetPaused(on bool)          { s.still = on }
func (s *stub) Pace() float64              { return s.pace }
func (s *stub) SetPace(f float64)          { s.pace = f }
func (s *stub) Behaviours() []string       { return []string{"as planned", "storm", "give-up"} }
func (s *stub) Behaviour() string          { return s.now }
func (s *stub) SetBehaviour(b string)      { s.now = b }
func (s *stub) Mark(at int64, text string) {
	s.told = append(s.told, fmt.Sprintf("%s at %s", text, clock(at)))
}

func newStub() *stub {
	return &stub{pace: 1, now: "as planned", about: About{Kind: "load", Sending: 3},
		snap: &report.Snapshot{At: 2e9, Totals: report.Totals{Offered: 5}, Detail: &report.Detail{}}}
}

func shows(m model, text string) bool { return strings.Contains(m.screen().plainText(), text) }

// What a person does about a run reaches the run, and nothing else does.
func TestSteering(t *testing.T) {
	s := newStub()
	m := newModel(s, Options{})
	steps := []struct {
		keys  []string
		check func() bool
		says  string
	}{
		{[]string{"+"}, func() bool { return s.pace == 2 }, "rate × 2"},
		{[]string{"+", "+", "+", "+"}, func() bool { return s.pace == 16 }, "rate × 16"},
		{[]string{"-", "-"}, func() bool { return s.pace == 4 }, "rate × 4"},
		{[]string{"p"}, func() bool { return s.still }, "❚❚ paused"},
		{[]string{"p"}, func() bool { return !s.still }, "sending goes on"},
		{[]string{"J"}, func() bool { return s.now == "retry-after,spread" }, "retry-after,spread"},
		{[]string{"J"}, func() bool { return s.now == "as planned" }, "as planned"},
		{[]string{"b"}, func() bool { return s.now == "as planned" }, "What all clients do"},
		{[]string{"down", "enter"}, func() bool { return s.now == "storm" }, "clients: storm"},
		{[]string{"b", "down", "down", "down", "enter"}, func() bool { return s.now == "give-up" }, "clients: give-up"},
		{[]string{"b", "up", "esc"}, func() bool { return s.now == "give-up" }, "behaviour"},
		{[]string{"m", "n", "o", "w", "enter"}, func() bool { return s.told[0] == "now at 2.0 s" }, ""},
		{[]string{"m", "q", "x", "backspace", "enter"}, func() bool { return s.told[1] == "q at 2.0 s" && s.stops == 0 }, ""},
		{[]string{"m", "q", "esc"}, func() bool { return len(s.told) == 2 }, ""},
		{[]string{"m", "enter"}, func() bool { return s.told[2] == "mark at 2.0 s" }, ""},
		{[]string{"q"}, func() bool { return s.stops == 1 }, "ending the run"},
	}
	for _, st := range steps {
		for _, k := range st.keys {
			m = key(m, k)
		}
		if !st.check() || !shows(m, st.says) {
			t.Errorf("after %q: %+v\n%s", st.keys, s, m.screen().plainText())
		}
	}
}

// The first quit asks the run to end, the second leaves; a run that is over is
// left at once.
func TestQuitting(t *testing.T) {
	quits := func(m model, name string) (model, bool) {
		next, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)})
		if cmd == nil {
			return next.(model), false
		}
		_, quit := cmd().(tea.QuitMsg)
		return next.(model), quit
	}
	s := newStub()
	m, gone := quits(newModel(s, Options{}), "q")
	if gone || s.stops != 1 {
		t.Fatalf("gone %v after one q, %d stops", gone, s.stops)
	}
	if _, gone = quits(m, "q"); !gone || s.stops != 2 {
		t.Errorf("gone %v after two, %d stops", gone, s.stops)
	}
	s = newStub()
	s.about.Over = true
	if _, gone = quits(newModel(s, Options{}), "q"); !gone || s.stops != 0 {
		t.Errorf("a run that is over: gone %v, %d stops", gone, s.stops)
	}
}

// A frozen screen stays while the run goes on.
func TestFreezing(t *testing.T) {
	s := newStub()
	m := press(newModel(s, Options{}), " ")
	s.snap = &report.Snapshot{At: 3e9, Totals: report.Totals{Offered: 77}, Detail: &report.Detail{}}
	tick := func() {
		next, _ := m.Update(pollMsg(time.Unix(1, 0)))
		m = next.(model)
	}
	tick()
	if shows(m, "offered 77") || !shows(m, "frozen") || !shows(m, "2.0 s") {
		t.Errorf("frozen:\n%s", m.screen().plainText())
	}
	m = press(m, " ")
	tick()
	if !shows(m, "offered 77") || shows(m, "frozen") {
		t.Errorf("thawed:\n%s", m.screen().plainText())
	}
}

// What is typed fast comes in one message.
func TestFastTyping(t *testing.T) {
	m := newModel(newStub(), Options{})
	next, _ := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("3m1")})
	m = next.(model)
	if m.view != Clients || m.asks.text != "1" {
		t.Errorf("view %v, asks %q", m.view, m.asks.text)
	}
}

// A tape is played, wound and stepped through; what it shows is a frame of it.
func TestWinding(t *testing.T) {
	tape, _ := openRun(t, false)
	m := newModel(tape, Options{})
	at := func() string { return clock(tape.at) }
	tick := func(s float64) {
		next, _ := m.Update(pollMsg(time.Unix(0, int64(s*1e9))))
		m = next.(model)
	}
	for _, st := range []struct {
		do   func()
		want string
	}{
		{func() {}, "12.0 s"},
		{func() { m = key(m, "left") }, "11.9 s"},
		{func() { m = key(m, "home") }, "0.0 s"},
		{func() { m = key(m, "left") }, "0.0 s"},
		{func() { m = press(m, ".....") }, "0.5 s"},
		{func() { m = press(m, ",") }, "0.4 s"},
		{func() { m = press(m, " "); tick(1); tick(3) }, "2.4 s"},
		{func() { m = press(m, ">"); tick(4) }, "4.4 s"},
		{func() { m = press(m, " "); tick(60) }, "4.4 s"},
		{func() { m = press(m, "<< "); tick(70); tick(71) }, "4.9 s"},
		{func() { tick(99) }, "12.0 s"},
		{func() { m = press(m, " "); tick(100); tick(101) }, "0.5 s"},
		{func() { m = key(m, "end") }, "12.0 s"},
	} {
		st.do()
		if at() != st.want {
			t.Errorf("at %s, want %s", at(), st.want)
		}
		if m.snap.At > max(tape.at, tape.frames[0].At) {
			t.Errorf("a frame of %s is shown at %s", clock(m.snap.At), at())
		}
	}
	m = key(m, "home")
	for range 50 {
		m = press(m, ".")
	}
	if early := m.snap.Totals.Offered; early >= 1000 || early < 100 {
		t.Errorf("%d attempts at %s", early, at())
	}
	if m = press(key(m, "home"), "........mhere"); m.asks.what == "" {
		t.Error("no question")
	}
	if m = key(m, "enter"); !shows(m, "▲ here") {
		t.Errorf("no mark:\n%s", m.screen().plainText())
	}
}

func TestKeysTable(t *testing.T) {
	var many []report.KeyLine
	for i := range 256 {
		many = append(many, report.KeyLine{Key: fmt.Sprintf("k-%03d", i), Offered: int64(i), Admitted: int64(i % 7), Refused: int64(500 - i), Bound: 5, Share: float64(i%10) / 5})
	}
	s := newStub()
	s.snap.Detail.Keys, s.snap.NKeys = many, 1_000_000
	s.about.Promise = &report.Promise{Text: "1/s,burst=4", Units: 1, Per: 1e9, Burst: 4}
	m := newModel(s, Options{View: Keys})
	first := func() string { return strings.Fields(strings.Split(m.screen().plainText(), "\n")[5])[0] }
	for _, st := range []struct{ keys, want string }{
		{"", "k-009"}, {"r", "k-000"}, {"roo", "k-006"}, {"o", "k-000"}, {"o", "k-255"}, {"jjj", "k-252"}, {"kkkkkk", "k-255"}, {"/17", "k-255"},
	} {
		if m = press(m, st.keys); first() != st.want {
			t.Errorf("after %q the first is %s, want %s", st.keys, first(), st.want)
		}
	}
	if m = key(m, "enter"); first() != "k-217" || !shows(m, "13 of 1,000,000 keys") || !shows(m, "the worst and the busiest") {
		t.Errorf("filtered:\n%s", m.screen().plainText())
	}
	if m = key(m, "esc"); first() != "k-255" {
		t.Errorf("first is %s", first())
	}
}

func TestExport(t *testing.T) {
	var text, svg string
	m := newModel(newStub(), Options{Export: func(a, b string) (string, error) { text, svg = a, b; return "x.txt", nil }})
	m = press(m, "e")
	if !shows(m, "kept as x.txt") || !strings.Contains(text, "offered 5") || !strings.HasPrefix(svg, "<svg") {
		t.Errorf("text %q, svg %q", text, svg)
	}
	m.opt.Export = func(string, string) (string, error) { return "", errors.New("disk \x1b[1mfull") }
	if m = press(m, "e"); !shows(m, `not exported: disk \x1b[1mfull`) {
		t.Errorf("no word of the failure:\n%s", m.screen().plainText())
	}
}

// A run that is known by the second alone fills the width as well.
func TestCoarseRunFillsTheWidth(t *testing.T) {
	whole := report.Trail{Step: 1e9, Ticks: make([]report.Tick, 6)}
	tape := NewTape(About{Kind: "result"}, []*report.Snapshot{{At: 6e9, Detail: &report.Detail{Fine: whole, Whole: whole}}}, false)
	m := newModel(tape, Options{})
	if line := m.lined(52); len(line.cols) < 48 || line.step*int64(len(line.cols)) > 6_100_000_000 {
		t.Errorf("%d columns of %d ns", len(line.cols), line.step)
	}
}
