package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/weir-cli/weir/report"
)

// prompt is a line that is being typed. The zero value asks nothing.
type prompt struct {
	what string
	text string
	done func(m model, text string) model
}

// promptMost bounds what can be typed.
const promptMost = 80

// picker is a list to choose from. The zero value shows none.
type picker struct {
	title string
	items []string
	at    int
	done  func(m model, item string) model
}

// keysOf takes what was typed since the last look: fast typing comes in one.
func (m model) keysOf(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	if k.Type != tea.KeyRunes || len(k.Runes) < 2 {
		return m.key(k)
	}
	var cmds []tea.Cmd
	for _, r := range k.Runes {
		next, cmd := m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt})
		m = next.(model)
		cmds = append(cmds, cmd)
	}
	return m, tea.Batch(cmds...)
}

// key takes one key.
func (m model) key(k tea.KeyMsg) (tea.Model, tea.Cmd) {
	name := k.String()
	if name == "ctrl+c" {
		return m.quit()
	}
	switch {
	case name == "ctrl+z":
		return m, suspend
	case m.asks.what != "":
		return m.typed(k), nil
	case m.picks.items != nil:
		return m.picked(name), nil
	case m.help:
		m.help = false
		return m, nil
	}
	m.said = ""
	if len(name) == 1 && name[0] >= '1' && name[0] < '1'+byte(views) {
		m.view, m.chosen = View(name[0]-'1'), true
		return m, nil
	}
	switch name {
	case "q":
		return m.quit()
	case "?", "h":
		m.help = true
	case "tab":
		m.view, m.chosen = (m.view+1)%views, true
	case "shift+tab":
		m.view, m.chosen = (m.view+views-1)%views, true
	case "z":
		m = m.zoomed(-1)
	case "Z":
		m = m.zoomed(1)
	case "a":
		m.zoom, m.bins = 0, 0
	case "s":
		m.shared = !m.shared
	case "e":
		m.said = m.export()
	case "m":
		m = m.mark()
	case "M":
		return m.toggleMouse()
	default:
		return m.act(name), nil
	}
	return m, nil
}

// act takes the keys whose meaning depends on the source and the view.
func (m model) act(name string) model {
	if t, ok := m.src.(*Tape); ok && t.key(name) {
		return m.look()
	}
	switch {
	case (m.view == Keys || m.view == Bucket) && m.table.key(name):
	case m.view == Keys && name == "/":
		m.asks = prompt{what: "only keys with", text: m.table.filter, done: func(m model, text string) model {
			m.table.filter, m.table.from = text, 0
			return m
		}}
	case m.view == Findings && (name == "up" || name == "k"):
		m.scroll = max(m.scroll-1, 0)
	case m.view == Findings && (name == "down" || name == "j"):
		m.scroll++
	case name == " " || name == "f":
		m.frozen = !m.frozen
		m = m.look()
	case name == "+" || name == "=" || name == "-":
		m = m.pace(name != "-")
	case name == "p":
		m = m.pause()
	case name == "b" || name == "J" || name == "j":
		m = m.behave(name != "b")
	case name == "d":
		m = m.design()
	case name == "n":
		m = m.nextAct()
	}
	return m
}

// quit leaves a run that is over at once; one that goes on is asked to end, and
// the second time left.
func (m model) quit() (tea.Model, tea.Cmd) {
	s, ok := m.src.(Stopper)
	if !ok || m.about.Over {
		return m, tea.Quit
	}
	s.Stop()
	if m.ending {
		return m, tea.Quit
	}
	m.ending, m.said = true, "ending the run: waiting for answers under way; again to leave at once"
	return m, nil
}

func (m model) typed(k tea.KeyMsg) model {
	p := &m.asks
	switch k.Type {
	case tea.KeyEnter:
		done, text := p.done, strings.TrimSpace(p.text)
		m.asks = prompt{}
		return done(m, text)
	case tea.KeyEsc:
		m.asks = prompt{}
	case tea.KeyBackspace:
		if r := []rune(p.text); len(r) > 0 {
			p.text = string(r[:len(r)-1])
		}
	case tea.KeyCtrlU:
		p.text = ""
	case tea.KeyRunes, tea.KeySpace:
		if r := append([]rune(p.text), k.Runes...); len(r) <= promptMost {
			p.text = string(r)
		}
	}
	return m
}

func (m model) picked(name string) model {
	p := &m.picks
	switch name {
	case "up", "k":
		p.at = max(p.at-1, 0)
	case "down", "j":
		p.at = min(p.at+1, len(p.items)-1)
	case "pgup":
		p.at = max(p.at-10, 0)
	case "pgdown":
		p.at = min(p.at+10, len(p.items)-1)
	case "enter":
		done, item := p.done, p.items[p.at]
		m.picks = picker{}
		return done(m, item)
	case "esc", "q", "b":
		m.picks = picker{}
	}
	return m
}

// zoomed widens or narrows what a column stands for.
func (m model) zoomed(by int) model {
	if m.view == Clients {
		m.bins = min(max(m.bins+by, 0), len(binWidths)-1)
		m.said = "a column of returns is " + lasting(binWidths[m.bins]*report.BinNS)
		return m
	}
	at := m.zoom
	if at == 0 {
		step := m.step(m.columns())
		for i, s := range steps {
			if s == step {
				at = i + 1
			}
		}
	}
	m.zoom = min(max(at+by, 1), len(steps))
	m.said = "a column is " + lasting(steps[m.zoom-1])
	return m
}

// marks reports that a mark would go anywhere: into a run that goes on, or on a
// tape, for as long as it is looked at.
func (m *model) marks() bool {
	_, ok := m.src.(Marker)
	_, tape := m.src.(*Tape)
	return ok && (tape || !m.about.Over)
}

// mark asks for a word for this instant of the run.
func (m model) mark() model {
	marker, ok := m.src.(Marker)
	if !ok {
		m.said = "this source takes no marks"
		return m
	}
	if !m.marks() {
		m.said = "the run is over, and its result is as it is"
		return m
	}
	at := m.instant()
	m.asks = prompt{what: "mark " + clock(at) + " as", done: func(m model, text string) model {
		if text == "" {
			text = "mark"
		}
		marker.Mark(at, text)
		m.about = m.src.About()
		return m
	}}
	return m
}

// pause makes a live run's clients stand still, or go on.
func (m model) pause() model {
	p, ok := m.src.(Pauser)
	switch {
	case !ok:
		m.said = "the sending of this source cannot be paused"
	case m.about.Over || m.ending:
		m.said = "the run sends nothing more"
	default:
		p.SetPaused(!p.Paused())
		m.said = "sending goes on"
		if p.Paused() {
			m.said = "sending is paused; p goes on"
		}
	}
	return m
}

// Factors that the rate can be changed to, by halves and doubles.
const (
	paceLeast = 1.0 / 16
	paceMost  = 16.0
)

func (m model) pace(up bool) model {
	p, ok := m.src.(Pacer)
	if !ok || m.about.Over {
		m.said = "there is no rate here that could be changed"
		return m
	}
	was := p.Pace()
	f := max(was/2, paceLeast)
	if up {
		f = min(was*2, paceMost)
	}
	if f != was {
		p.SetPace(f)
	}
	m.said = fmt.Sprintf("rate × %s of the plan", brief(f))
	return m
}

// calmest is what the jitter key switches to: anywhere within the wait that the
// server asked for.
const calmest = "retry-after,spread"

func (m model) behave(jitter bool) model {
	b, ok := m.src.(Behaver)
	if !ok || m.about.Over {
		m.said = "the clients of this source cannot be told how to behave"
		return m
	}
	list := b.Behaviours()
	set := func(m model, name string) model {
		if name != b.Behaviour() {
			b.SetBehaviour(name)
		}
		m.said = "clients: " + b.Behaviour()
		return m
	}
	if jitter {
		if b.Behaviour() == calmest {
			return set(m, list[0])
		}
		return set(m, calmest)
	}
	p := picker{title: "What all clients do after a refusal", items: list, done: set}
	for i, item := range list {
		if item == b.Behaviour() {
			p.at = i
		}
	}
	m.picks = p
	return m
}

func (m model) export() string {
	if m.opt.Export == nil {
		return "nowhere to export to"
	}
	c := m.screen()
	where, err := m.opt.Export(c.plainText(), c.svg())
	if err != nil {
		return "not exported: " + tame(err.Error())
	}
	return "screen kept as " + tame(where)
}
