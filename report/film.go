package report

// filmFrames bounds a film: a full one drops every second frame.
const filmFrames = 1024

// Film takes snapshots of a run, in even steps of the run's own time, from
// nothing but its events. Not safe for concurrent use.
type Film struct {
	c          *Collector
	frames     []*Snapshot
	step, next int64
}

// NewFilm returns an empty film of a run. Setup.Tap and Setup.Detail are the
// film's own.
func NewFilm(s Setup) *Film {
	s.Tap, s.Detail = nil, true
	f := &Film{c: NewCollector(s), step: trailStep, next: trailStep}
	// An hour in steps of 100 ms: all frames share the trails.
	f.c.detail.fine, f.c.detail.lean = newTrail(36_000, false), true
	return f
}

// Add takes the next event. Events come about in order of Done; its form fits
// Setup.Tap.
func (f *Film) Add(e *Event) {
	for e.Done >= f.next && f.next < forever/4 {
		f.take(f.next)
	}
	f.c.add(e)
}

func (f *Film) take(at int64) {
	s := f.c.snapshot(at, false)
	s.Series, s.Keys = nil, nil // the trails and the key lines have them
	f.frames = append(f.frames, s)
	if len(f.frames) >= filmFrames {
		for i := 1; i < len(f.frames); i += 2 {
			f.frames[i/2] = f.frames[i] // the later of each two: whole steps
		}
		f.frames = f.frames[:len(f.frames)/2]
		f.step *= 2
	}
	f.next = (at/f.step + 1) * f.step
}

// End judges the run as Rebuild does and returns its frames, the last one with
// the whole run. The film must not be used any more.
func (f *Film) End(m Meta) (*Result, []*Snapshot) {
	r := f.c.Finish(m)
	last := f.c.Latest()
	last.Detail.Findings = nil
	for _, found := range r.Findings {
		since := last.At
		for _, was := range f.c.detail.found {
			if was.ID == found.ID {
				since = was.Since
			}
		}
		last.Detail.Findings = append(last.Detail.Findings, Found{found, since})
	}
	whole, fine := last.Detail.Whole, last.Detail.Fine
	for _, s := range f.frames {
		s.Detail.Fine, s.Detail.Whole = fine.Until(s.At), whole.Until(s.At)
	}
	if n := len(f.frames); n > 0 && f.frames[n-1].At >= last.At {
		f.frames = f.frames[:n-1]
	}
	return r, append(f.frames, last)
}

// RebuildFilm reads a saved run to its end as Rebuild does and films it.
func RebuildFilm(r *EventReader, promise *Promise) (*Result, []*Snapshot, error) {
	s := r.setup(promise)
	f := NewFilm(s)
	m, err := r.all(f.Add)
	if err != nil {
		return nil, nil, err
	}
	result, frames := f.End(m)
	return result, frames, nil
}
