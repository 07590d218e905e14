package tui

import "fmt"

// Guide is a run that is explained while it goes on, in acts that change by
// themselves.
type Guide interface {
	Scene() Scene
	// NextAct begins the next one now; in the last it does nothing.
	NextAct()
}

// Scene is the caption of what is going on.
type Scene struct {
	Act, Acts int // from 1; 0 is before the first
	Title     string
	Look      string   // what to look at, sentences
	Measured  []string // what the acts before came to, sentences
	Next      int64    // ns until the next act; 0 for none
	View      View     // that shows it best
}

// Designer is a run whose gateways can be made to work differently.
type Designer interface {
	// Designs are the ones to choose from; Design is the present one.
	Designs() []string
	Design() string
	SetDesign(name string)
}

// follow goes to the view of a new act, until a person has chosen one.
func (m model) follow() model {
	g, ok := m.src.(Guide)
	if !ok {
		return m
	}
	if m.scene = g.Scene(); m.scene.Act != m.led {
		if m.led == 0 && m.bins == 0 {
			m.bins = guidedBins
		}
		m.led = m.scene.Act
		if !m.chosen {
			m.view = m.scene.View
		}
	}
	return m
}

// guidedBins is the zoom of returns that a tour begins with: several seconds on
// a narrow screen, so that one spike and the next are both in sight.
const guidedBins = 2

// designs is how many designs there are to choose from.
func (m *model) designs() int {
	if d, ok := m.src.(Designer); ok && !m.about.Over {
		return len(d.Designs())
	}
	return 0
}

// bodyLeast is how many rows a caption leaves to the view.
const bodyLeast = 9

// caption draws what a guide says at the top of c, with a line below, and
// returns how many rows that took; 0 without a guide.
func (m *model) caption(c *canvas) int {
	if _, ok := m.src.(Guide); !ok || m.scene.Title == "" {
		return 0
	}
	s := &m.scene
	most := c.h - bodyLeast - 1
	if most < 1 {
		return 0
	}
	box := c.sub(0, 0, c.w, most)
	x := 2
	if s.Act > 0 {
		x = box.text(2, 0, fmt.Sprintf("%d of %d", s.Act, s.Acts), style{tone: accent, bold: true}) + 2
	}
	end := box.w - 1
	if s.Next > 0 {
		next := fmt.Sprintf("next in %d s", (s.Next+1e9-1)/1e9)
		end -= width(next) + 2
		box.text(end+2, 0, next, style{tone: dim})
	}
	box.text(x, 0, fit(tame(s.Title), end-x), style{bold: true})
	y := box.sub(2, 0, box.w-3, most).wrap(0, 1, tameText(s.Look), style{})
	for _, said := range s.Measured {
		y = box.sub(2, 0, box.w-3, most).wrap(0, y, tameText(said), style{tone: marked})
	}
	y = min(y, most)
	for row := range y {
		c.set(0, row, '▌', style{tone: accent})
	}
	for x := range c.w {
		c.set(x, y, '─', style{tone: dim})
	}
	return y + 1
}

func (m model) nextAct() model {
	if g, ok := m.src.(Guide); ok && !m.about.Over {
		g.NextAct()
		return m.look()
	}
	m.said = "there are no acts here"
	return m
}

func (m model) design() model {
	d, ok := m.src.(Designer)
	if !ok || m.about.Over {
		m.said = "the gateways of this source cannot be changed"
		return m
	}
	p := picker{title: "What the gateways do", items: d.Designs(), done: func(m model, name string) model {
		if name != d.Design() {
			d.SetDesign(name)
		}
		m.said = "gateways: " + d.Design()
		return m
	}}
	for i, item := range p.items {
		if item == d.Design() {
			p.at = i
		}
	}
	m.picks = p
	return m
}
