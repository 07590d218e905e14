package report

// Tick is what one step of a trail holds, by when attempts were sent.
type Tick struct {
	Offered, Admitted, Refused, Failed uint32
}

func (t *Tick) add(o Tick) {
	t.Offered += o.Offered
	t.Admitted += o.Admitted
	t.Refused += o.Refused
	t.Failed += o.Failed
}

// Trail is a run as counts per step: Ticks[i] is what was sent in
// [From + i*Step, From + (i+1)*Step), in nanoseconds since the start.
type Trail struct {
	From, Step int64
	Ticks      []Tick
}

// End is where the trail's last step ends.
func (t *Trail) End() int64 { return t.From + int64(len(t.Ticks))*t.Step }

// Until is the trail as far as the step that holds at; it shares its ticks.
func (t Trail) Until(at int64) Trail {
	n := max((at-t.From+t.Step-1)/max(t.Step, 1), 0)
	t.Ticks = t.Ticks[:min(int64(len(t.Ticks)), n)]
	return t
}

// trailStep is the width of a step: 100 ms.
const trailStep = int64(100e6)

// trail grows by instants. A full one either forgets its oldest steps or, when
// it widens, makes one step of every two, so that a week costs what an hour
// does.
type trail struct {
	Trail
	most   int
	widens bool
}

func newTrail(most int, widens bool) trail {
	return trail{Trail: Trail{Step: trailStep}, most: most, widens: widens}
}

// at is the step of an instant, or nil for one that was forgotten.
func (t *trail) at(ns int64) *Tick {
	ns = max(ns, 0)
	if ns < t.From {
		return nil
	}
	i := (ns - t.From) / t.Step
	for i >= int64(t.most) {
		if t.widens {
			t.widen()
		} else {
			t.forget(i)
		}
		i = (ns - t.From) / t.Step
	}
	for int64(len(t.Ticks)) <= i {
		t.Ticks = append(t.Ticks, Tick{})
	}
	return &t.Ticks[i]
}

func (t *trail) widen() {
	for i := 0; i < len(t.Ticks); i += 2 {
		sum := t.Ticks[i]
		if i+1 < len(t.Ticks) {
			sum.add(t.Ticks[i+1])
		}
		t.Ticks[i/2] = sum
	}
	t.Ticks = t.Ticks[:(len(t.Ticks)+1)/2]
	t.Step *= 2
}

// forget makes room for step i, a quarter of the trail at a time.
func (t *trail) forget(i int64) {
	drop := i - int64(t.most) + 1 + int64(t.most/4)
	kept := copy(t.Ticks, t.Ticks[min(drop, int64(len(t.Ticks))):])
	t.Ticks = t.Ticks[:kept]
	t.From += drop * t.Step
}

// copied is the trail as it is now.
func (t *trail) copied() Trail {
	c := t.Trail
	c.Ticks = append([]Tick(nil), t.Ticks...)
	return c
}
