package profiles

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Marshal writes the profile as YAML that [Decode] reads back to an equal one.
func (p *Profile) Marshal() []byte {
	var w writer
	w.line(0, "name: %s", scalarText(p.Name))
	if p.About != "" {
		w.line(0, "about: %s", scalarText(p.About))
	}
	w.line(0, "duration: %v", p.Duration)
	w.line(0, "populations:")
	for i := range p.Populations {
		w.population(&p.Populations[i])
	}
	return w.Bytes()
}

type writer struct{ bytes.Buffer }

func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

func (w *writer) population(p *Population) {
	w.line(1, "- name: %s", scalarText(p.Name))
	if p.Clients != 0 {
		w.line(2, "clients: %s", formatCount(p.Clients))
	}
	w.line(2, "keys: %s", p.Keys.flow())
	if p.Arrivals.Kind == Step {
		w.line(2, "arrivals:")
		w.line(3, "kind: step")
		w.line(3, "steps:")
		for _, s := range p.Arrivals.Steps {
			w.line(4, "- {rate: %s, for: %v}", formatRate(s.Rate), s.For)
		}
	} else {
		w.line(2, "arrivals: %s", p.Arrivals.flow())
	}
	if p.Behaviour != "" {
		w.line(2, "behaviour: %s", scalarText(p.Behaviour))
	}
	if p.MaxAttempts != 0 {
		w.line(2, "max_attempts: %d", p.MaxAttempts)
	}
	if len(p.Cost) > 0 {
		w.line(2, "cost:")
	}
	for _, c := range p.Cost {
		w.line(3, "- {cost: %d, weight: %s}", c.Cost, formatNumber(c.Weight))
	}
	if len(p.Routes) > 0 {
		w.line(2, "routes:")
	}
	for _, r := range p.Routes {
		f := flow{}
		f.text("method", r.Method)
		f.text("path", r.Path)
		f.add(true, "weight", formatNumber(r.Weight))
		f.count("cost", r.Cost)
		w.line(3, "- %s", f)
	}
}

func (k *Keys) flow() flow {
	f := flow{"kind: " + string(k.Kind)}
	f.count("count", k.Count)
	f.add(k.S != 0, "s", formatNumber(k.S))
	f.text("prefix", k.Prefix)
	f.text("file", k.File)
	return f
}

// flow writes every field of its kind that is not zero.
func (a *Arrivals) flow() flow {
	f := flow{"kind: " + string(a.Kind)}
	f.duration("think", a.Think)
	f.add(a.ThinkJitter != 0, "think_jitter", formatNumber(a.ThinkJitter))
	f.duration("stagger", a.Stagger)
	f.add(a.Rate != 0, "rate", formatRate(a.Rate))
	f.add(a.To != 0, "to", formatRate(a.To))
	f.duration("at", a.At)
	f.duration("for", a.For)
	f.add(a.Amplitude != 0, "amplitude", formatRate(a.Amplitude))
	f.count("min", a.Min)
	f.count("max", a.Max)
	f.count("count", a.Count)
	f.duration("period", a.Period)
	f.duration("spread", a.Spread)
	f.duration("lead", a.Lead)
	f.text("file", a.File)
	f.add(a.Aligned, "aligned", "true")
	return f
}

// flow is a mapping on one line.
type flow []string

func (f flow) String() string { return "{" + strings.Join(f, ", ") + "}" }

func (f *flow) add(given bool, name, text string) {
	if given {
		*f = append(*f, name+": "+text)
	}
}

func (f *flow) count(name string, n int)              { f.add(n != 0, name, formatCount(n)) }
func (f *flow) duration(name string, d time.Duration) { f.add(d != 0, name, d.String()) }
func (f *flow) text(name, s string)                   { f.add(s != "", name, scalarText(s)) }

// scalarText writes a text plainly where no reader can take it for anything
// else, and quoted as JSON, which YAML holds, otherwise.
func scalarText(s string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	plain := s != "" && strings.Trim(s, letters+"0123456789-_./") == "" && strings.ContainsRune(letters+"/", rune(s[0]))
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return strconv.Quote(s) // no text makes the encoder fail
	}
	return strings.TrimSpace(b.String())
}
