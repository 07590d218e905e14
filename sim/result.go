package sim

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/weir-cli/weir/report"
)

// Options say what a run leaves beside its figures. The zero value makes the
// usual document without events.
type Options struct {
	Repeat string
	Events io.Writer // takes one record per attempt; nil keeps none
	// Tap, when set, sees every event, as report.Setup's does.
	Tap      func(*report.Event)
	Progress func(float64)
}

// Result runs the scenario and makes the usual document of it. A run that ctx
// cuts short gives what there is, marked as interrupted.
func (s *Scenario) Result(ctx context.Context, opt Options) (*report.Result, error) {
	meta := report.Meta{Source: "sim", Name: s.Name, Repeat: opt.Repeat}
	meta.Seed, _ = s.Seed()
	o := &Outcome{Progress: opt.Progress}
	setup, saved := report.Setup{}, (*report.EventWriter)(nil)
	d, documented := s.Params.(Documented)
	if documented {
		doc := d.Document()
		setup.Names, setup.Promise = doc.Names, doc.Promise
		meta.Duration = int64(doc.Length) * int64(time.Microsecond)
		if opt.Events != nil {
			saved = report.NewEventWriter(opt.Events, doc.Names, meta, time.Time{}, doc.Promise)
			setup.Tap = saved.Write
		}
		if first := setup.Tap; first == nil {
			setup.Tap = opt.Tap
		} else if opt.Tap != nil {
			setup.Tap = func(e *report.Event) { first(e); opt.Tap(e) }
		}
	} else if opt.Events != nil || opt.Tap != nil {
		return nil, errNoEvents
	}
	c := report.NewCollector(setup)
	if documented {
		o.Collector = c
	}
	err := s.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	meta.Interrupted = err != nil
	if meta.Interrupted {
		meta.Duration = 0 // as far as it came
	}
	meta.Notes = o.Notes
	r := c.Finish(meta)
	r.Figures = make(map[string]float64, len(o.Figures))
	for _, f := range o.Figures {
		r.Figures[f.Name] = f.Value
	}
	for _, x := range o.Series {
		r.Series = append(r.Series, report.Series{Name: x.Name, FromS: x.From, StepS: x.Step, Values: x.Values})
	}
	r.Model = &report.Model{Kind: s.Kind.Name, About: s.About, Parameters: map[string]string{}, Rules: s.Kind.Rules}
	for _, p := range s.Parameters() {
		r.Model.Parameters[p.Path] = p.Value
	}
	if !meta.Interrupted || s.Kind.Anytime {
		r.Model.Answer = s.answer(r.Figures)
	}
	if saved != nil {
		if err := saved.End(meta); err != nil {
			return r, err
		}
	}
	return r, nil
}

var errNoEvents = errors.New("a scenario of this kind decides no single requests, so it has no events")

// Reports tells whether a run of this kind can report a figure of that name. A
// capital N in a documented name stands for a number.
func (k *Kind) Reports(name string) bool { return k.Explain(name) != nil }

// Explain is what is known about a figure; nil when it is none of this kind.
func (k *Kind) Explain(name string) *FigureInfo {
	for i := range k.Figures {
		if matches(k.Figures[i].Name, name) {
			return &k.Figures[i]
		}
	}
	return nil
}

// FigureNames are the documented names.
func (k *Kind) FigureNames() []string {
	names := make([]string, len(k.Figures))
	for i, f := range k.Figures {
		names[i] = f.Name
	}
	return names
}

// matches compares a name with a documented one, in which N is any number.
func matches(documented, name string) bool {
	before, after, numbered := strings.Cut(documented, "N")
	if !numbered {
		return documented == name
	}
	rest, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	digits := strings.TrimLeft(rest, "0123456789")
	return len(digits) < len(rest) && matches(after, digits)
}
