package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-cli/weir/report"
)

// lecture is a run with a caption, over the end of the saved one.
type lecture struct {
	snap      *report.Snapshot
	about     About
	scene     Scene
	design    string
	behaviour string
	nexts     int
}

func (l *lecture) Snapshot() *report.Snapshot { return l.snap }
func (l *lecture) About() About               { return l.about }
func (l *lecture) Scene() Scene               { return l.scene }
func (l *lecture) NextAct() {
	l.nexts++
	l.scene.Act++
	l.scene.View = Fleet
}
func (l *lecture) Designs() []string          { return []string{"local", "central"} }
func (l *lecture) Design() string             { return l.design }
func (l *lecture) SetDesign(name string)      { l.design = name }
func (l *lecture) Behaviours() []string       { return []string{"as planned", "storm"} }
func (l *lecture) Behaviour() string          { return l.behaviour }
func (l *lecture) SetBehaviour(name string)   { l.behaviour = name }
func (l *lecture) Mark(at int64, text string) {}

func openLecture(t testing.TB) *lecture {
	tape, _ := openRun(t, false)
	about := tape.About()
	about.Kind, about.Over, about.Result = "demo", false, nil
	return &lecture{snap: tape.Snapshot(), about: about, design: "local", behaviour: "as planned",
		scene: Scene{Act: 2, Acts: 3, Title: "The same herd, with jitter", View: Clients, Next: 7_300_000_000,
			Look:     "Now each comes back anywhere within the second that it was told. Look at the spike: it dissolves, and as many are served as before.",
			Measured: []string{"To the letter: up to 328 came back within 10 ms, 81 times the mean, and 50 a second passed."}}}
}

// Captions stand above the view that shows what they speak of.
func TestCaptions(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 45}, {60, 16}} {
		m := newModel(openLecture(t), Options{})
		m.w, m.h = size[0], size[1]
		if m.view != Clients {
			t.Errorf("the view is %s", m.view)
		}
		fits(t, m.View(), size[0], size[1])
		golden(t, fmt.Sprintf("caption-%dx%d.txt", size[0], size[1]), m.screen().plainText())
	}
	l := openLecture(t)
	l.scene.Title, l.scene.Look = "a title \x1b[2J that \u202ehurts", strings.Repeat("and much to look at ", 100)
	for _, w := range []int{60, 61, 80, 118, 400} {
		for _, h := range []int{16, 17, 24, 100} {
			m := newModel(l, Options{Colors: TrueColor})
			m.w, m.h = w, h
			for v := range views {
				m.view = v
				fits(t, m.View(), w, h)
			}
		}
	}
}

// Acts bring their views, until a person has chosen one; the keys reach the run.
func TestGuidedKeys(t *testing.T) {
	l := openLecture(t)
	m := newModel(l, Options{})
	m = press(m, "n")
	if l.nexts != 1 || m.view != Fleet {
		t.Errorf("next act %d times, view %s", l.nexts, m.view)
	}
	m = press(m, "1n")
	if l.nexts != 2 || m.view != Traffic {
		t.Errorf("a view that was chosen is gone: %s", m.view)
	}
	m = key(key(press(m, "d"), "down"), "enter")
	if l.design != "central" || !strings.Contains(m.screen().plainText(), "gateways: central") {
		t.Errorf("the design is %s", l.design)
	}
	if m = press(m, "j"); l.behaviour != calmest {
		t.Errorf("the jitter key made it %s", l.behaviour)
	}
	m = press(press(m, "3"), "Z")
	if text := m.screen().plainText(); !strings.Contains(text, "a column of returns is 100ms") || !strings.Contains(text, "returns per 100 ms") {
		t.Errorf("not zoomed:\n%s", text)
	}
	if m = press(m, "zzzz"); !strings.Contains(m.screen().plainText(), "returns per 10 ms") {
		t.Error("not zoomed back")
	}
	tape, _ := openRun(t, false)
	if m := press(newModel(tape, Options{}), "n"); m.said == "" || press(m, "d").said == "" {
		t.Error("what a saved run cannot do is not said")
	}
}

// Wider bins lose nothing, and keep their edges as time goes by.
func TestWiderBins(t *testing.T) {
	for _, n := range binWidths {
		for from := range int64(12) {
			b := report.Bins{From: from * report.BinNS}
			var sum uint32
			for i := range uint32(23) {
				b.Counts = append(b.Counts, i)
				sum += i
			}
			got := wider(b, n)
			var total uint32
			for _, v := range got.Counts {
				total += v
			}
			if total != sum || got.From%(n*report.BinNS) != 0 || got.From > b.From {
				t.Errorf("%d from %d: %d of %d, from %d", n, from, total, sum, got.From)
			}
		}
	}
	if got := wider(report.Bins{}, 5); len(got.Counts) != 0 {
		t.Errorf("nothing became %v", got)
	}
}

// A played run can be drawn at each of its instants, the first ones included.
func TestEveryInstant(t *testing.T) {
	tape, _ := openRun(t, true)
	for at := int64(0); at < 500e6; at += 10e6 {
		tape.at = at
		for v := range views {
			m := newModel(tape, Options{View: v})
			fits(t, m.View(), 80, 24)
		}
	}
}
