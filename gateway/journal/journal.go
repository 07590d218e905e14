package journal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Bounds and defaults of a Journal.
const (
	DefaultEvery = 10 * time.Second
	DefaultPace  = 1000 // lines a second

	ring       = 4096 // lines that wait for the writer
	followed   = 100_000
	mostHeld   = 1000 // callers reported of one span
	flushEvery = time.Second
)

// Options of a Journal. The zero value samples nothing.
type Options struct {
	Sample float64       // share of decisions, 0 to 1
	Every  time.Duration // length of a span; 0 is DefaultEvery
	Pace   int64         // decisions a second that are written; 0 is DefaultPace
	Seed   int64         // of the sample
	Now    func() int64  // unix ns; nil is the system's clock
	// Show is a caller as the log may name it; nil is as it is.
	Show func(Caller) Caller
}

// Seen is one decision as the gateway made it. Its texts may be parts of a
// request's own; the journal copies what it keeps.
type Seen struct {
	Gateway  int // from 1
	Caller   Caller
	Rule     string
	Limit    fmt.Stringer // written out only when it is wanted; nil is none
	From     string
	Source   string
	Admitted bool
	Cost     int64
	// Remaining and RetryAfter as in limit.Decision.
	Remaining  int64
	RetryAfter time.Duration
}

// Journal writes a decision log. A decision never waits for the writer: what
// finds its ring full is dropped, counted, and said in the log. Safe for
// concurrent use.
type Journal struct {
	o         Options
	threshold uint64 // of 2^63
	drawn     atomic.Uint64
	version   atomic.Int64
	held      heldTable
	lines     chan Line
	stop      chan struct{}
	stopped   sync.WaitGroup
	once      sync.Once

	written, dropped atomic.Int64
	writer           writer
}

// New starts a journal that writes to w until Close.
func New(w io.Writer, o Options) (*Journal, error) {
	if !(o.Sample >= 0 && o.Sample <= 1) { // NaN fails as well
		return nil, fmt.Errorf("sample %v: want a share from 0 to 1", o.Sample)
	}
	if o.Every < 0 {
		return nil, fmt.Errorf("span %v: must not be negative", o.Every)
	}
	if o.Every == 0 {
		o.Every = DefaultEvery
	}
	if o.Pace == 0 {
		o.Pace = DefaultPace
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixNano() }
	}
	if o.Show == nil {
		o.Show = func(c Caller) Caller { return c }
	}
	pace, err := limit.BucketSpec{Rate: limit.Rate{Units: o.Pace, Per: time.Second}, Burst: limit.Whole(o.Pace)}.Rule()
	if err != nil {
		return nil, fmt.Errorf("pace: %w", err)
	}
	j := &Journal{o: o, threshold: uint64(o.Sample * (1 << 63)), lines: make(chan Line, ring), stop: make(chan struct{})}
	j.held.reset(o.Now())
	j.writer = newWriter(w, pace)
	j.stopped.Go(j.write)
	return j, nil
}

// Decided takes one decision in.
func (j *Journal) Decided(now int64, s *Seen) {
	first := j.held.add(now, s, j.version.Load())
	switch {
	case first:
		j.put(j.line(now, s, AsFirst))
	case j.draw():
		j.put(j.line(now, s, BySample))
	}
}

// draw takes each decision with the chance that Options.Sample is. The nth
// draw of a seed is always the same.
func (j *Journal) draw() bool {
	if j.threshold == 0 {
		return false
	}
	// The finaliser of splitmix64.
	x := uint64(j.o.Seed) + j.drawn.Add(1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return (x^x>>31)>>1 < j.threshold
}

func (j *Journal) line(now int64, s *Seen, because string) Line {
	d := &Decision{Because: because, Source: s.Source, Outcome: "refused", Cost: s.Cost, Remaining: s.Remaining, RetryAfterS: s.RetryAfter.Seconds()}
	if s.Admitted {
		d.Outcome = "admitted"
	}
	switch s.RetryAfter {
	case limit.Never:
		d.RetryAfterS = -1
	case limit.Unknown:
		d.RetryAfterS = -2
	}
	l := j.at(now, Decided)
	l.Gateway, l.Caller, l.Decision = s.Gateway, j.shown(&s.Caller), d
	l.Rule = s.rule()
	return l
}

// shown is a caller's own copy: its texts may be parts of a whole request.
func (j *Journal) shown(c *Caller) *Caller {
	own := j.o.Show(*c)
	own = Caller{strings.Clone(own.Key), strings.Clone(own.Plan), strings.Clone(own.Address)}
	return &own
}

func (j *Journal) at(now int64, k Kind) Line {
	return Line{Kind: k, At: time.Unix(0, now).UTC(), Version: j.version.Load()}
}

// Rules says that another version of the rules is in force.
func (j *Journal) Rules(now, version int64) {
	if j.version.Swap(version) != version {
		j.put(j.at(now, Ruled))
	}
}

// Breaker says that the breaker of a gateway for a store's node opened or
// closed.
func (j *Journal) Breaker(now int64, gateway int, node string, open bool) {
	l := j.at(now, Broke)
	l.Gateway, l.Breaker = gateway, &Breaker{node, open}
	j.put(l)
}

func (j *Journal) put(l Line) {
	select {
	case j.lines <- l:
	default:
		j.dropped.Add(1)
	}
}

// Stats are the lines that were written and that were dropped.
func (j *Journal) Stats() (written, dropped int64) { return j.written.Load(), j.dropped.Load() }

// Close writes what is left and returns the first error of writing. Decisions
// that still come are not written.
func (j *Journal) Close() error {
	j.once.Do(func() { close(j.stop) })
	j.stopped.Wait()
	return j.writer.err
}
