package replay

import (
	"strings"
	"time"

	"github.com/weir-cli/weir/report"
)

// orders are the commands of a drive, ready to be sent; each connection goes
// round them from a place of its own.
type orders struct{ commands [][]byte }

func newOrders(commands []command) *orders {
	l := &orders{}
	for _, c := range commands {
		l.commands = append(l.commands, appendCommand(nil, c))
	}
	return l
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
	for range calls {
		t.latency.Record(int64(took))
	}
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
