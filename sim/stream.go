package sim

import "math"

// stream is calls at an even rate: call i comes at from + floor(i/rate), cut
// down to whole microseconds without summing up an error.
type stream struct {
	at, end        Micros // of the next call; end is when there are no more
	step, num, den int64  // the gap is step + num/den microseconds
	rest           int64
	n              int64 // calls so far
	most           int64 // calls at most
}

// never is later than anything.
const never = Micros(math.MaxInt64)

// evenly is r's calls in [from, until).
func evenly(from, until Micros, r Rate) stream {
	s := stream{at: from, end: until, most: math.MaxInt64}
	if from >= until || r.Units <= 0 {
		s.at = never
		return s
	}
	s.den = r.Units * 1000 // nanoseconds in a microsecond
	s.step, s.num = int64(r.Per)/s.den, int64(r.Per)%s.den
	return s
}

// spaced is n calls from one instant on, gap apart.
func spaced(from Micros, n int64, gap Micros) stream {
	if n <= 0 {
		return stream{at: never}
	}
	return stream{at: from, end: never, step: int64(gap), most: n, den: 1}
}

// over is n calls spread evenly over [from, from+span).
func over(from, span Micros, n int64) stream {
	if n <= 0 {
		return stream{at: never}
	}
	return stream{at: from, end: never, step: int64(span) / n, num: int64(span) % n, den: n, most: n}
}

// pop moves on to the next call.
func (s *stream) pop() {
	s.n++
	s.at += Micros(s.step)
	if s.rest += s.num; s.rest >= s.den {
		s.rest -= s.den
		s.at++
	}
	if s.at >= s.end || s.n >= s.most {
		s.at = never
	}
}

// gaps is calls of which each comes a random gap after the one before, the
// first one gap after from.
type gaps struct {
	at, end Micros
	rate    float64 // a second
	rand    *PyRandom
}

func randomly(from, until Micros, r Rate, seed int64) gaps {
	g := gaps{at: from, end: until, rate: r.Float(), rand: NewPyRandom(seed)}
	g.pop()
	return g
}

func (g *gaps) pop() {
	g.at += Micros(g.rand.Expovariate(g.rate) * float64(Second))
	if g.at >= g.end {
		g.at = never
	}
}
