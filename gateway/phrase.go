package gateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
)

// phrase is what is said of one limit, the numbers of a decision aside.
// Immutable.
type phrase struct {
	// declared are the policies of the limit. A bucket has two, because a
	// client needs both numbers and no policy holds two: the rate, as so many
	// units in a window, under the rule's name, and the burst, which has no
	// window, under the name with -burst.
	declared []dialect.Declared
	policies string // declared, as the style writes them
	bound    string // the policy whose quota and remaining a decision tells
	window   time.Duration
	refusal  body
	alone    body // the same, from a gateway that decides on its share
}

// burstSuffix makes the name of a burst's policy out of its rule's.
const burstSuffix = "-burst"

func newPhrase(style dialect.Style, status int, rule string, s limit.Spec) *phrase {
	p := &phrase{window: windowOf(s), refusal: refusalOf(status, rule), alone: aloneRefusal(status, rule)}
	p.declare(style, rule, s)
	p.policies = style.Policies(p.declared)
	return p
}

// declare fills declared and bound in.
func (p *phrase) declare(style dialect.Style, rule string, s limit.Spec) {
	most := capacity(s)
	one := dialect.Declared{Name: rule, Quota: most, Window: p.window}
	if s.Algorithm == limit.Concurrency {
		one.Unit = "concurrent-requests"
	}
	quota, window := perWindow(s.Rate)
	if quota == most && window > 0 {
		one.Window = window
	}
	if style != dialect.Draft11 || s.Rate.Units == 0 || quota == most || quota == 0 {
		// The older drafts tell policies apart by their quotas and want a
		// window with each, so there a bucket is its burst in the time that it
		// takes to fill.
		p.bound, p.declared = rule, []dialect.Declared{one}
		return
	}
	p.bound = rule + burstSuffix
	p.declared = []dialect.Declared{{Name: rule, Quota: quota, Window: window}, {Name: p.bound, Quota: most}}
}

// perWindow is a rate as units in a whole number of seconds, which is all that
// a policy's window can be; 0 when there is no such pair of numbers.
func perWindow(r limit.Rate) (int64, time.Duration) {
	if r.Units <= 0 || r.Per <= 0 {
		return 0, 0
	}
	a, b := int64(r.Per), int64(time.Second)
	for b != 0 {
		a, b = b, a%b
	}
	k := int64(time.Second) / a // the least number of periods in whole seconds
	quota, window := times(r.Units, k), times(int64(r.Per), k)
	if quota > 1e15-1 || window > int64(1e6*time.Hour) {
		return 0, 0
	}
	return quota, time.Duration(window)
}

// phrases makes each limit's phrase once. Safe for concurrent use.
type phrases struct {
	style  dialect.Style
	status int
	known  sync.Map // *rules.Limit → *phrase
	n      int
	mu     sync.Mutex // of n
}

// maxPhrases bounds the limits of sets that were replaced.
const maxPhrases = 100_000

func (p *phrases) of(r *rules.Rule, l *rules.Limit) *phrase {
	if known, ok := p.known.Load(l); ok {
		return known.(*phrase)
	}
	made := newPhrase(p.style, p.status, r.Name, l.Spec)
	p.mu.Lock()
	if p.n++; p.n > maxPhrases {
		p.known.Clear()
		p.n = 1
	}
	p.mu.Unlock()
	p.known.Store(l, made)
	return made
}

// Problem types of draft-ietf-httpapi-ratelimit-headers.
const (
	quotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	reducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
)

// refusalOf is a refusal by these rules.
func refusalOf(status int, names ...string) body {
	list, err := json.Marshal(names)
	if err != nil { // strings always marshal
		panic(err)
	}
	detail := "The rule " + names[0] + " lets no more through for now."
	if len(names) > 1 {
		detail = "Several rules let no more through for now."
	}
	text, err := json.Marshal(detail)
	if err != nil {
		panic(err)
	}
	return problem(`{"type":"` + quotaExceeded + `","title":"The limit for this key is used up","status":` + strconv.Itoa(status) +
		`,"detail":` + string(text) + `,"violated-policies":` + string(list) + "}\n")
}

// awayRefusal is a refusal by a rule that fails closed: nothing is used up.
func awayRefusal(status int) body {
	return problem(`{"type":"` + reducedCapacity + `","title":"The limiter cannot decide for now","status":` + strconv.Itoa(status) + "}\n")
}

// aloneRefusal is a refusal by a gateway's share of a limit: the share is used
// up, and the limit perhaps is not.
func aloneRefusal(status int, rule string) body {
	detail, err := json.Marshal("The rule " + rule + " lets no more through for now: this gateway decides alone, by its share of the limit.")
	if err != nil { // strings always marshal
		panic(err)
	}
	return problem(`{"type":"` + reducedCapacity + `","title":"The limit for this key is used up here","status":` + strconv.Itoa(status) +
		`,"detail":` + string(detail) + "}\n")
}

// quietRefusal says no more than its status does.
func quietRefusal(status int) body {
	return problem(`{"type":"about:blank","title":"` + http.StatusText(status) + `","status":` + strconv.Itoa(status) + "}\n")
}
