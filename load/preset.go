package load

import (
	"slices"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

// preset imitates a widely used client with its defaults, for requests whose
// method it holds to be repeatable. What each does is in docs/behaviours.md.
type preset struct {
	name     string
	about    string
	attempts int           // default, first try included; 0 is no limit
	most     int           // the client counts more attempts as this many; 0 is no limit
	within   time.Duration // whole time of a call; 0 is no limit
	own      purse
	rule     rule
}

// presetRule makes a function a rule.
type presetRule func(o Outcome, m *Memory, r *Rand) step

func (f presetRule) next(o Outcome, m *Memory, r *Rand) step { return f(o, m, r) }

func presetForms() []form {
	var out []form
	for _, group := range [][]preset{goPresets, pythonPresets, jsPresets, otherPresets} {
		for _, p := range group {
			out = append(out, presetForm(p))
		}
	}
	return out
}

func presetForm(p preset) form {
	syntax := p.name + "[,attempts=N]"
	_, never := p.rule.(giveUp)
	if never {
		syntax = p.name
	}
	return form{
		info: BehaviourInfo{p.name, syntax, p.about, KindPreset},
		build: func(c *client, a *arguments) string {
			c.rule, c.attempts, c.within, c.own = p.rule, p.attempts, p.within, p.own
			if never {
				return p.name
			}
			text := p.name + a.attempts(c)
			if p.most > 0 && c.attempts > p.most {
				a.bad(p.name + " never makes more than " + strconv.Itoa(p.most) + " attempts")
			}
			return text
		},
	}
}

// lost says that no complete answer arrived.
func lost(o Outcome) bool { return o.Verdict == report.Failed && o.Class != report.BadStatus }

// timedOut says that the attempt ran out of time.
func timedOut(o Outcome) bool {
	return lost(o) && (o.Class == report.Timeout || o.Class == report.ConnectTimeout)
}

// status is the answer's; 0 when there was none. Where a limiter is asked
// without HTTP, a refusal stands for 429.
func status(o Outcome) uint16 {
	switch {
	case lost(o):
		return 0
	case o.Status == 0 && o.Verdict == report.Refused:
		return 429
	case o.Status == 0:
		return 500
	}
	return o.Status
}

// oneOf says whether v is in list.
func oneOf[T comparable](v T, list ...T) bool { return slices.Contains(list, v) }

// thrown says that a caller who turns every bad answer into an error would
// have one: libraries that only know errors retry those.
func thrown(o Outcome) bool {
	return o.Verdict == report.Refused || lost(o) || status(o) >= 400
}

// grpcUnavailable says that gRPC would call this outcome UNAVAILABLE: no
// answer, or a status that its table of HTTP statuses sends there.
func grpcUnavailable(o Outcome) bool {
	return lost(o) || oneOf(status(o), 429, 502, 503, 504)
}

// header is a step whose wait came from a field.
func header(wait time.Duration, from dialect.Source) step {
	return step{wait: max(wait, 0), retry: true, from: from}
}

// awsQuota is the retry quota of the AWS SDKs, one per caller here.
var awsQuota = purse{kind: quotaPurse, start: 500 * token, max: 500 * token}
