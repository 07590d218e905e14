package tui

import (
	"slices"
	"sort"
	"time"

	"github.com/weir-cli/weir/report"
)

// Tape is a run that lies there whole: a saved or a simulated one. It can be
// played, stepped through and wound. It is used by the dashboard alone.
type Tape struct {
	about   About
	frames  []*report.Snapshot
	at      int64 // instant that is shown
	playing bool
	reveals bool      // shows nothing beyond at
	speed   int       // index of speeds
	last    time.Time // of the newest tick while playing; zero when not
}

// speeds are the factors of the run's own time.
var speeds = []float64{0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 60, 250, 1000}

const speedOne = 3

// NewTape shows frames, in order of time and at least one. It begins at its end,
// or, when play is set, plays from its beginning, at a speed at which the whole
// takes at most half a minute.
func NewTape(about About, frames []*report.Snapshot, play bool) *Tape {
	t := &Tape{about: about, frames: frames, speed: speedOne}
	t.about.Over = true
	t.at = t.length()
	if play {
		t.at, t.playing, t.reveals = 0, true, true
		for t.speed < len(speeds)-1 && float64(t.length())/speeds[t.speed] > 30e9 {
			t.speed++
		}
	}
	return t
}

func (t *Tape) length() int64 { return t.frames[len(t.frames)-1].At }

// About implements Source.
func (t *Tape) About() About { return t.about }

// Snapshot implements Source: the frame at the instant that is shown.
func (t *Tape) Snapshot() *report.Snapshot {
	i := sort.Search(len(t.frames), func(i int) bool { return t.frames[i].At > t.at })
	return t.frames[max(i-1, 0)]
}

// Mark implements Marker.
func (t *Tape) Mark(at int64, text string) {
	t.about.Marks = append(slices.Clone(t.about.Marks), report.Mark{AtS: float64(at) / 1e9, Text: text})
}

// advance plays on to a tick of the dashboard's clock.
func (t *Tape) advance(now time.Time) {
	if !t.playing {
		t.last = time.Time{}
		return
	}
	if !t.last.IsZero() {
		t.wind(int64(float64(now.Sub(t.last)) * speeds[t.speed]))
	}
	t.last = now
	if t.at >= t.length() {
		t.playing = false
	}
}

func (t *Tape) wind(by int64) { t.at = min(max(t.at+by, 0), t.length()) }

// jump is how far the arrows wind: a hundredth of the run, and a tenth.
func (t *Tape) jump(part int64) int64 { return max(t.length()/part, 1) }

// seek goes to an instant, and stops playing.
func (t *Tape) seek(at int64) {
	t.at, t.playing = min(max(at, 0), t.length()), false
}

// step goes to a neighbouring frame.
func (t *Tape) step(by int) {
	i := sort.Search(len(t.frames), func(i int) bool { return t.frames[i].At > t.at }) - 1
	t.at = t.frames[min(max(i+by, 0), len(t.frames)-1)].At
}

// key takes one of the tape's own keys.
func (t *Tape) key(name string) bool {
	switch name {
	case " ":
		if t.at >= t.length() {
			t.at = 0
		}
		t.playing, t.last = !t.playing, time.Time{}
		return true
	case "<", ">":
		by := 1
		if name == "<" {
			by = -1
		}
		t.speed = min(max(t.speed+by, 0), len(speeds)-1)
		return true
	case "left":
		t.wind(-t.jump(100))
	case "right":
		t.wind(t.jump(100))
	case "shift+left":
		t.wind(-t.jump(10))
	case "shift+right":
		t.wind(t.jump(10))
	case ",":
		t.step(-1)
	case ".":
		t.step(1)
	case "home":
		t.at = 0
	case "end":
		t.at = t.length()
	default:
		return false
	}
	t.playing = false
	return true
}
