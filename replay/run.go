package replay

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// Half is a script and what it is given. A check is one of them, or two: one
// that reads and one that writes.
type Half struct {
	Script *Script
	Map    *Mapping
}

// Run replays a trace through somebody's script. Halves, Store, and Timeout
// must be set.
type Run struct {
	Halves  []Half
	Apart   time.Duration // between the two halves of a check, in the trace's time
	Store   Store
	Meaning Meaning
	// ServerClock leaves TIME to the store. Otherwise it is the trace's: a
	// virtual store's clock is set, and on a server the shim answers.
	ServerClock bool
	// Blind is a script known by its digest only: there is no text to put the
	// shim before.
	Blind bool
	// Speed is 1 for the recorded speed, 2 for twice that; 0 is as fast as it
	// goes, and a virtual store always is.
	Speed       float64
	Connections int // at once on a server; 0 is 1
	Pipeline    int // calls sent together; 0 is 1
	Timeout     time.Duration
	// Skew puts every second call's clock ahead, as of a caller whose clock is.
	Skew    time.Duration
	Against *limit.Spec
	Limit   *limit.Spec // for the checks of the script; nil leaves some out
	Promise *report.Promise
	Drill   *Drill
	Hidden  bool
	Name    string
	Repeat  string
	Mapping []string // as results show it
	// Progress is told the calls so far now and then; it may be nil.
	Progress func(calls int64)
	Watch    Watch
}

// ScriptError is what a server says against a script.
type ScriptError struct {
	Name string
	Line int // 0 unknown
	Err  error
	Text string // of the line
}

func (e *ScriptError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.Name, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Name, e.Err)
}
func (e *ScriptError) Unwrap() error { return e.Err }

// scratch is a prefix that nobody else has.
func scratch() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return "weir-replay:" + hex.EncodeToString(b[:]) + ":"
}

// sampleCalls is how many calls of a trace the shim records and the checks of
// the script look at.
const sampleCalls = 256

// session is a run under way.
type session struct {
	*Run
	r         *recorder
	prefix    string
	shas      []string // of what is really called
	sources   []string
	shift     int64 // added to the trace's times
	base      int64 // wall clock of the first call, shifted
	started   time.Time
	against   *difference
	recorded  *difference
	pure      *pure
	sample    []sampled
	script    report.ReplayScript
	noScripts atomic.Int64
}

// sampled is a call that is kept.
type sampled struct {
	call Call
	at   int64
	obs  []observed
}

// item is a call on its way.
type item struct {
	id       uint32
	number   int64
	at, cost int64
	now      int64 // the caller's clock
	line     int64
	recorded report.Verdict
	call     Call // a copy, where it is needed later
	f        filled
	a        answer
	obs      []observed
	took     time.Duration
	key      []byte
	before   string
	pureAt   string // what the other limit said before
	sampled  bool
}

// Do replays src. The result is there whenever something was replayed; the
// error says what ended it early.
func (r *Run) Do(ctx context.Context, src *Source) (*report.Result, error) {
	s := newSession(r)
	if r.Against != nil {
		p, err := newPure(*r.Against)
		if err != nil {
			return nil, err
		}
		s.pure, s.against.out.With = p, r.Against.String()
	}
	s.recorded.out.With = "the trace"
	if err := s.load(ctx); err != nil {
		return nil, err
	}
	s.started = time.Now()
	var err error
	if r.Store.virtual() || max(r.Connections, 1)*max(r.Pipeline, 1) == 1 {
		err = s.inOrder(ctx, src)
	} else {
		err = s.atOnce(ctx, src)
	}
	elapsed := time.Since(s.started)
	// The keys go away even when the run was cut short.
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if s.prefix != "" {
		s.script.Removed, err = clearScratch(clean, r.Store, s.prefix, err)
	}
	if s.r.n == 0 && err != nil {
		return nil, err
	}
	result := s.result(ctx, src, elapsed)
	result.Interrupted = err != nil
	if err == nil {
		err = s.check(ctx, result)
	}
	return result, err
}

// LeftoverError says that scratch keys are still there.
type LeftoverError struct {
	Prefix string
	Err    error
}

func (e *LeftoverError) Error() string {
	return fmt.Sprintf("the scratch keys %s* could not be removed: %v", e.Prefix, e.Err)
}

func (e *LeftoverError) Unwrap() error { return e.Err }

// clearScratch removes what a run left, which ended with err, and returns what
// to tell of both: keys that stay are told beside what is worse. A server
// that a script still keeps busy is not asked.
func clearScratch(ctx context.Context, s Store, prefix string, err error) (int64, error) {
	var stuck *StuckError
	if errors.As(err, &stuck) && stuck.Killed != nil {
		return 0, err
	}
	removed, cerr := s.clear(ctx, prefix)
	switch {
	case cerr == nil:
	case err == nil || errors.Is(err, context.Canceled):
		err = &LeftoverError{prefix, cerr}
	default:
		err = fmt.Errorf("%w; scratch keys %s* may be left", err, prefix)
	}
	return removed, err
}

func newSession(r *Run) *session {
	s := &session{Run: r, r: newRecorder(r.Hidden, r.Promise, r.Watch), prefix: scratch(), against: &difference{}, recorded: &difference{}}
	if r.Store.virtual() {
		s.prefix = ""
	}
	return s
}

// show is a key of the store as it may be shown, without the scratch prefix.
func (s *session) show(key string) string {
	key = strings.TrimPrefix(key, s.prefix)
	if s.Hidden {
		return Hidden(key)
	}
	return report.Clean(key)
}

// errorText is an error of a script as it may be shown.
func (s *session) errorText(err error) string {
	// Where it was is of the shim's text, and takes the room of what it was.
	text, _, _ := strings.Cut(err.Error(), " script: ")
	text = report.Clean(strings.ReplaceAll(text, s.prefix, ""))
	if s.Hidden {
		// What a server quotes may be a key; what kind of error it is comes
		// first.
		text, _, _ = strings.Cut(text, ":")
	}
	return text
}

// load puts the scripts on the store. One that does not compile is an error
// with its line.
func (s *session) load(ctx context.Context) error {
	for _, h := range s.Halves {
		if s.Blind {
			s.shas, s.sources = append(s.shas, h.Script.SHA), append(s.sources, "")
			continue
		}
		if err := compiles(ctx, s.Store, h.Script); err != nil {
			return err
		}
		run := h.Script
		if s.shim() {
			run = run.shimmed()
			if err := compiles(ctx, s.Store, run); err != nil {
				return err
			}
		}
		s.shas, s.sources = append(s.shas, run.SHA), append(s.sources, run.Source)
	}
	return nil
}

// prepare fixes how the trace's times lie on the store's clock, at the first
// call.
func (s *session) prepare(ctx context.Context, c *Call, relative bool) error {
	const day = 24 * int64(time.Hour)
	switch {
	case !relative && s.Store.virtual():
	case s.Store.virtual():
		s.shift = virtualStart
	default:
		a := one(ctx, s.Store, "TIME")
		if a.err != nil {
			return a.err
		}
		now, ok := serverTime(a.reply)
		if !ok {
			return fmt.Errorf("the server's TIME is %s", replyText(a.reply))
		}
		switch {
		case s.ServerClock:
			s.shift = now - c.At
		case relative: // from the next whole minute on
			const minute = int64(time.Minute)
			s.shift = (now+minute-1)/minute*minute - c.At
		default: // whole days, so that windows lie as they did
			s.shift = max(0, (now-c.At+day-1)/day*day)
		}
	}
	s.base = micro(c.At + s.shift)
	if s.shim() {
		if err := rehearse(ctx, s.Halves, c, s.base, s.Timeout); err != nil {
			return err
		}
	}
	s.r.startAt(s.base)
	return nil
}

// rehearse makes a call, all of its halves, on an embedded store before a server
// is asked: a script that has written and then goes on for ever cannot be ended
// there, and the server would serve nobody again. What else goes wrong, a server
// is to tell.
func rehearse(ctx context.Context, halves []Half, c *Call, now int64, most time.Duration) error {
	e, err := NewEmbedded()
	if err != nil {
		return err
	}
	defer e.Close()
	e.setTime(now)
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	at := moment{now: now, number: 1}
	for _, h := range halves {
		if compiles(ctx, e, h.Script) != nil {
			break
		}
		a := one(limited, e, evalsha(h.Script.SHA, h.Map.fill(c, "", at))...)
		if errors.Is(a.err, context.DeadlineExceeded) {
			return &StuckError{After: most, Own: true}
		}
		if a.err != nil {
			break
		}
		at.reply = a.reply
	}
	return ctx.Err()
}

// virtualStart is when a trace with times of its own begins on a virtual
// clock: the start of 2026.
const virtualStart = 1_767_225_600_000_000_000

// micro cuts a time to what a Redis clock shows.
func micro(at int64) int64 { return at - at%1000 }

func serverTime(reply any) (int64, bool) {
	sec, ok1 := wholeNumber([]byte(replyText(element(reply, 1))))
	usec, ok2 := wholeNumber([]byte(replyText(element(reply, 2))))
	return sec*1e9 + usec*1e3, ok1 && ok2
}

// newItem makes an item of a call.
func (s *session) newItem(c *Call) *item {
	id := s.r.id(c.Key)
	it := &item{id: id, number: s.script.Calls + 1, at: micro(c.At + s.shift), cost: c.Cost, line: c.Line, recorded: c.Recorded}
	s.script.Calls++
	it.now = it.at
	if s.Skew != 0 && it.number%2 == 0 {
		it.now += int64(s.Skew)
	}
	if it.sampled = len(s.sample) < sampleCalls; it.sampled {
		s.sample = append(s.sample, sampled{call: c.clone(), at: it.at})
	}
	if len(s.Halves) > 1 || id >= rest {
		it.call = c.clone()
		it.key = it.call.Key
	}
	it.f = s.Halves[0].Map.fill(c, s.prefix, moment{now: it.now, number: it.number})
	return it
}

// clone copies a call's bytes.
func (c *Call) clone() Call {
	k := *c
	k.Key = append([]byte(nil), c.Key...)
	many := func(list [][]byte) [][]byte {
		out := make([][]byte, len(list))
		for i, b := range list {
			out[i] = append([]byte(nil), b...)
		}
		return out
	}
	k.Values, k.Keys, k.Args = many(c.Values), many(c.Keys), many(c.Args)
	return k
}

// shim reports whether scripts run behind it: an embedded store sees all by
// itself, and its clock is the trace's.
func (s *session) shim() bool { return !s.Store.virtual() && !s.Blind }

// command is the call of a half.
func (s *session) command(half int, it *item) command {
	if !s.shim() {
		return evalsha(s.shas[half], it.f)
	}
	c := control{record: it.sampled, prefix: s.prefix}
	if !s.ServerClock {
		c.now = it.at + int64(half)*int64(s.Apart)
	}
	return evalsha(s.shas[half], it.f, c.text())
}

// send calls one half of items and reads the answers. Scripts that are gone
// are loaded again, and those calls sent once more: they had not run.
func (s *session) send(ctx context.Context, half int, items []*item) error {
	commands := make([]command, len(items))
	for i, it := range items {
		commands[i] = s.command(half, it)
	}
	sent := time.Now()
	answers, err := s.guarded(ctx, commands)
	if err != nil {
		return err
	}
	var again []int
	for i := range answers {
		if noScript(answers[i].err) {
			again = append(again, i)
		}
	}
	if len(again) > 0 && !s.Blind {
		redo := make([]command, 0, len(again)+1)
		redo = append(redo, command{"SCRIPT", "LOAD", s.sources[half]})
		for _, i := range again {
			redo = append(redo, commands[i])
		}
		second, err := s.guarded(ctx, redo)
		if err != nil {
			return err
		}
		for n, i := range again {
			answers[i] = second[n+1]
		}
		s.noScripts.Add(1)
	}
	took := time.Since(sent)
	for i, it := range items {
		it.a, it.took = answers[i], it.took+took
		if it.a.err == nil && s.shim() {
			o, err := observe(it.a.reply)
			it.a.reply, it.a.seen, it.a.err = o.reply, &o, err
			if text, ok := o.reply.(string); ok && len(text) > 1 && text[0] == '-' && text[1] >= 'A' && text[1] <= 'Z' {
				it.a.err = replyError(text[1:]) // an error that the script returned
			}
		}
		if it.sampled && it.a.seen != nil {
			it.obs = append(it.obs, *it.a.seen)
		}
	}
	return nil
}

// interruptGrace is how much longer a call under way may take once the run has
// been interrupted.
const interruptGrace = time.Second

// guarded sends within the time limit. A script that is still running then is
// ended; so is one that runs on when the run is interrupted, or it would keep
// the server from everybody for ever.
func (s *session) guarded(ctx context.Context, commands []command) ([]answer, error) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Timeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		select {
		case <-limited.Done():
		case <-time.After(interruptGrace):
			if s.Store.virtual() {
				cancel()
				return
			}
			_ = s.Store.kill(limited) // it may end by itself, or not at all: the time limit tells
		}
	})()
	answers := s.Store.do(limited, commands)
	for i := range answers {
		err := answers[i].err
		var reply replyError
		if err == nil || errors.As(err, &reply) {
			continue
		}
		if limited.Err() != nil || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
			killed := s.Store.kill(context.WithoutCancel(ctx))
			late := errors.Is(killed, errEnded)
			if late {
				killed = nil
			}
			if ctx.Err() != nil && killed == nil {
				return nil, ctx.Err()
			}
			return nil, &StuckError{After: s.Timeout, Killed: killed, Own: s.Store.virtual(), Late: late}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.Drill == nil || !s.Drill.down() {
			return nil, err
		}
	}
	return answers, nil
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
