package sim

import (
	"container/heap"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// wire is a load.Sender in virtual time: attempts reach a limiter at once and
// are answered after a fixed time, with a Retry-After in whole seconds when
// refused. Its clock moves only when the engine waits, so the engine that
// ships runs minutes in no time, and every run is exact.
type wire struct {
	now      int64
	start    int64 // wall clock at the run's 0: windows are aligned to it
	answerIn int64
	room     int // connections; 0 is no bound
	store    *limit.Store
	queue    onTheWay
	n        uint64
	key      []byte
	answer   dialect.Answer
	// tick is called now and then, by answers and not by time, to merge what
	// was recorded and to look whether the run should end.
	tick   func()
	handed int
}

// answered is an attempt whose answer arrives at an instant; those of one
// instant arrive in the order in which they were sent.
type answered struct {
	a  *load.Attempt
	at int64
	n  uint64
	d  limit.Decision
}

type onTheWay []answered

func (q onTheWay) Len() int { return len(q) }
func (q onTheWay) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].n < q[j].n
}
func (q onTheWay) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *onTheWay) Push(x any)   { *q = append(*q, x.(answered)) }
func (q *onTheWay) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

const tickAnswers = 4096

func (w *wire) clock() int64 { return w.now }

func (w *wire) Room(uint16, uint32) bool { return w.room == 0 || len(w.queue) < w.room }

func (w *wire) Send(a *load.Attempt) {
	ev := &a.Event
	ev.Sent = w.now
	w.key = strconv.AppendUint(w.key[:0], uint64(ev.Key), 10)
	d := w.store.TakeBytes(w.key, w.start+w.now, int64(ev.Cost))
	w.n++
	heap.Push(&w.queue, answered{a, w.now + w.answerIn + int64(d.Delay), w.n, d})
}

func (w *wire) Poll(until int64, _ bool, done func(*load.Attempt)) {
	if len(w.queue) == 0 || w.queue[0].at > until {
		w.now = max(w.now, until)
		return
	}
	at := w.queue[0].at
	w.now = max(w.now, at)
	for len(w.queue) > 0 && w.queue[0].at == at {
		x := heap.Pop(&w.queue).(answered)
		w.hand(x, done)
		if w.handed++; w.handed%tickAnswers == 0 {
			w.tick()
		}
	}
}

// hand fills the event as a real sender does. The limiter decided when the
// attempt was sent, and simulated events say so: First is Sent.
func (w *wire) hand(x answered, done func(*load.Attempt)) {
	ev := &x.a.Event
	ev.First, ev.Done, ev.Has = ev.Sent, w.now, ev.Has|report.HasFirst
	ev.Status, ev.Verdict = 200, report.Admitted
	w.answer = dialect.Answer{}
	if x.d.OK {
		if _, ok := w.store.Limiter().(limit.Releaser); ok {
			w.store.Release(strconv.FormatUint(uint64(ev.Key), 10), w.start+w.now, int64(ev.Cost))
		}
	} else {
		ev.Status, ev.Verdict = 429, report.Refused
		w.answer.Limited = true
		if x.d.RetryAfter >= 0 {
			seconds := (x.d.RetryAfter + time.Second - 1) / time.Second
			h := dialect.Hint{Has: true, Wait: seconds * time.Second, Source: dialect.RetryAfter, Unit: dialect.Seconds}
			h.RawLen = uint8(copy(h.Raw[:], strconv.FormatInt(int64(seconds), 10)))
			w.answer.Retry, w.answer.Wait = h, h
			ev.RetryAfter, ev.Has = int64(h.Wait), ev.Has|report.HasRetryAfter
			ev.HintSource, ev.HintUnit = uint8(h.Source), uint8(h.Unit)
		}
	}
	x.a.Answer = &w.answer
	done(x.a)
}

func (w *wire) Abort(done func(*load.Attempt)) {
	for len(w.queue) > 0 {
		done(heap.Pop(&w.queue).(answered).a)
	}
}

func (w *wire) Close() error { return nil }
