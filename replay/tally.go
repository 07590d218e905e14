package replay

import (
	"strings"
	"time"

	"github.com/weir-cli/weir/report"
)

// orders are the commands of a drive, encoded one behind the other, so that
// what is sent together is one piece of them; each connection goes round them
// from a place of its own.
type orders struct {
	text []byte
	at   []int // where each command begins; after the last, the first ones again
	n    int   // of the commands
}

// newOrders encodes commands of which so many are sent together.
func newOrders(commands []command, together int) *orders {
	l := &orders{n: len(commands)}
	for i := range len(commands) + together {
		l.at = append(l.at, len(l.text))
		if i < len(commands) {
			l.text = appendCommand(l.text, commands[i])
			continue
		}
		from := l.at[i-len(commands)]
		l.text = append(l.text, l.text[from:l.at[i-len(commands)+1]]...)
	}
	return l
}

// batch is the next calls from a place on, and the place after them.
func (l *orders) batch(from, calls int) ([]byte, int) {
	return l.text[l.at[from]:l.at[from+calls]], (from + calls) % l.n
}

// tally is what came of a drive.
type tally struct {
	calls, failed int64
	took          time.Duration
	latency       report.Hist // ns
	first         string      // error
}

// batch counts calls that were sent and answered together.
func (t *tally) batch(calls int, took time.Duration) {
	t.calls += int64(calls)
	t.latency.RecordN(int64(took), uint64(calls))
}

func (t *tally) fail(reply []byte) {
	t.failed++
	if t.first == "" {
		line, _, _ := strings.Cut(string(reply[1:]), "\r\n")
		t.first = report.Clean(line)
	}
}

// perSecond is how many calls were answered a second.
func (t *tally) perSecond() float64 { return float64(t.calls) / max(t.took.Seconds(), 1e-9) }
