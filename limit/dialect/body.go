package dialect

import (
	"bytes"
	"time"
)

// pairs walks the key-value pairs of a JSON text, at any depth and however the
// text ends. It is not a JSON checker: a body is evidence, not input.
type pairs struct {
	b        []byte
	i        int
	key, val []byte // val is without quotes, still escaped
	quoted   bool
}

// next finds the next pair whose value is a string, number or literal.
func (p *pairs) next() bool {
	for p.i < len(p.b) {
		at := bytes.IndexByte(p.b[p.i:], '"')
		if at < 0 {
			break
		}
		p.i += at
		key, ok := p.str()
		if !ok {
			break
		}
		p.space()
		if p.i >= len(p.b) || p.b[p.i] != ':' {
			continue // an array's string
		}
		p.i++
		p.space()
		if p.i >= len(p.b) {
			break
		}
		switch c := p.b[p.i]; {
		case c == '"':
			val, ok := p.str()
			if !ok {
				p.i = len(p.b)
				return false
			}
			p.key, p.val, p.quoted = key, val, true
			return true
		case c == '-' || isDigit(c) || isAlpha(c):
			start := p.i
			for p.i < len(p.b) && (isDigit(p.b[p.i]) || isAlpha(p.b[p.i]) || p.b[p.i] == '.' || p.b[p.i] == '-' || p.b[p.i] == '+') {
				p.i++
			}
			if p.i == len(p.b) {
				return false // perhaps cut in the middle of a number
			}
			p.key, p.val, p.quoted = key, p.b[start:p.i], false
			return true
		}
	}
	p.i = len(p.b)
	return false
}

func (p *pairs) str() ([]byte, bool) {
	start := p.i + 1
	for i := start; i < len(p.b); i++ {
		switch p.b[i] {
		case '\\':
			i++
		case '"':
			p.i = i + 1
			return p.b[start:i], true
		}
	}
	return nil, false
}

func (p *pairs) space() {
	for p.i < len(p.b) && (p.b[p.i] == ' ' || p.b[p.i] == '\n' || p.b[p.i] == '\t' || p.b[p.i] == '\r') {
		p.i++
	}
}

// signal is what a body says about the kind of refusal.
type signal uint16

const (
	sigLimit     signal = 1 << iota // a code that means a limit
	sigGraph                        // the same where the status may be 200
	sigAWS                          // an AWS throttling code
	sigLock                         // contention on an object
	sigBilling                      // paying is the only cure
	sigReduced                      // the service as a whole has less to give for now
	sigSecondary                    // GitHub's secondary limits
	sigGoogle                       // a Google quota
	sigProxy                        // a proxy's stock page for a limit
)

// cost is Shopify's GraphQL throttle status.
type cost struct{ asked, left, rate, most number }

// bodyCounts reports whether the body is worth a look.
func bodyCounts(resp *Response, seen uint32) bool {
	b := resp.Body
	if len(b) == 0 {
		return false
	}
	switch s := resp.Status; {
	case s >= 200 && s < 300:
		return mayHoldErrors(b[:min(len(b), BodyMax)])
	case s == 400, s == 403, s == 413, s == 429, s == 500, s == 503, s == 509, s == 529:
		return true
	default:
		return s >= 400 && seen != 0
	}
}

// mayHoldErrors finds GraphQL and batch answers, which are 200 whatever
// happened inside. Going by the first key keeps other JSON cheap.
func mayHoldErrors(b []byte) bool {
	p := pairs{b: b}
	p.space()
	if p.i == len(b) || b[p.i] != '{' {
		return false
	}
	p.i++
	p.space()
	for _, key := range [...]string{`"errors"`, `"responses"`} {
		if bytes.HasPrefix(b[p.i:], []byte(key)) {
			return true
		}
	}
	for _, key := range [...]string{`"data"`, `"extensions"`} {
		if bytes.HasPrefix(b[p.i:], []byte(key)) {
			return bytes.Contains(b[p.i:], []byte(`"errors"`))
		}
	}
	return false
}

func (r *reader) readBody(resp *Response) {
	b := resp.Body[:min(len(resp.Body), BodyMax)]
	for len(b) > 0 && (b[0] <= ' ' || b[0] == 0xef || b[0] == 0xbb || b[0] == 0xbf) {
		b = b[1:]
	}
	switch {
	case len(b) == 0:
	case b[0] == '{' || b[0] == '[':
		r.readJSON(b, resp.Status)
	case b[0] == '<':
		r.readMarkup(b, resp.Status)
	default:
		if bytes.HasPrefix(b, []byte("local_rate_limited")) || bytes.HasPrefix(b, []byte("error code: 1015")) {
			r.signals |= sigLimit
		}
		r.sentence(b)
	}
}

func (r *reader) readJSON(b []byte, status int) {
	inner := false // a 429 inside a batch
	p := pairs{b: b}
	for p.next() {
		r.signals |= signalOf(p.key, p.val)
		switch {
		case fold(p.key, "retry_after"), fold(p.key, "retryafter"), fold(p.key, "retry-after"),
			fold(p.key, "retry_after_seconds"), fold(p.key, "retryafterseconds"):
			r.bodyWait(p.val, asReset)
		case fold(p.key, "retry_after_ms"), fold(p.key, "retryafterms"), fold(p.key, "retry_after_millis"):
			r.bodyWait(p.val, asMillis)
		case fold(p.key, "retrydelay"):
			r.bodyWait(p.val, asDuration)
		case fold(p.key, "requestedquerycost"):
			r.cost.asked, _ = readNumber(p.val)
		case fold(p.key, "currentlyavailable"):
			r.cost.left, _ = readNumber(p.val)
		case fold(p.key, "restorerate"):
			r.cost.rate, _ = readNumber(p.val)
		case fold(p.key, "maximumavailable"):
			r.cost.most, _ = readNumber(p.val)
		case fold(p.key, "status") && status < 300 && !p.quoted && string(p.val) == "429":
			inner = true
		case p.quoted && (fold(p.key, "message") || fold(p.key, "detail") || fold(p.key, "title") ||
			fold(p.key, "error") || fold(p.key, "msg") || fold(p.key, "error_msg")):
			r.sentence(p.val)
		}
	}
	if inner {
		r.signals |= sigGraph
	}
	r.throttleCost()
}

// throttleCost turns Shopify's numbers into a wait: what is missing, at the
// rate at which it comes back.
func (r *reader) throttleCost() {
	c := &r.cost
	if r.signals&sigGraph == 0 || c.asked.whole == 0 || c.rate.neg || c.rate.whole == 0 && c.rate.nanos == 0 {
		return
	}
	if c.most.whole > 0 && c.asked.whole > c.most.whole {
		r.a.Should = -1 // costs more than the bucket can ever hold
		return
	}
	if c.left.neg {
		c.left = number{}
	}
	// Floats are safe: a hint is rounded up to a millisecond.
	missing := float64(c.asked.whole) - float64(c.left.whole) + (float64(c.asked.nanos)-float64(c.left.nanos))/1e9
	ms := missing / (float64(c.rate.whole) + float64(c.rate.nanos)/1e9) * 1000
	d := time.Duration(0)
	switch {
	case ms >= float64(MaxWait/time.Millisecond):
		d = MaxWait
	case ms > 0:
		d = min(time.Duration(ms)*time.Millisecond+time.Millisecond, MaxWait)
		if float64(time.Duration(ms)) == ms {
			d -= time.Millisecond
		}
	}
	r.put(&r.body, Body, wait{d: d, unit: Seconds}, []byte("throttleStatus"))
}

func (r *reader) bodyWait(v []byte, f form) {
	w, ok := r.readWait(v, f)
	if !ok {
		if string(v) != "null" {
			r.bad(&r.body, Body, v)
		}
		return
	}
	// A body may repeat its wait in several members; that is no oddity.
	notes := r.notes
	r.put(&r.body, Body, w, v)
	r.notes = notes | w.notes
}

// sentence looks for a wait in words, and for the few sentences that are the
// only mark of a limit.
func (r *reader) sentence(s []byte) {
	switch {
	case containsFold(s, "secondary rate limit"):
		r.signals |= sigSecondary | sigLimit
	case hasFold(s, "api rate limit exceeded"), hasFold(s, "rate limit exceeded"), hasFold(s, "quota exceeded"):
		r.signals |= sigLimit
	}
	if at := indexFold(s, "limit: 0"); at >= 0 {
		if end := at + len("limit: 0"); end == len(s) || !isDigit(s[end]) && s[end] != '.' {
			r.signals |= sigBilling // a Google quota of nothing
		}
	}
	for _, lead := range [...]string{"try again in ", "available in ", "retry after ", "retry in "} {
		at := indexFold(s, lead)
		if at < 0 {
			continue
		}
		rest := s[at+len(lead):]
		d, n := scanDuration(rest)
		if n == 0 {
			v, k := scanNumber(rest)
			if k == 0 || v.neg || !hasFold(rest[k:], " second") {
				continue
			}
			d, n = v.times(time.Second), k
		}
		if !r.text.Has || d > r.text.Wait {
			r.text = Hint{Has: true, Wait: d, Source: BodyText, Unit: DurationText}
			r.text.keep(rest[:n])
		}
		return
	}
}

func (r *reader) readMarkup(b []byte, status int) {
	if at := bytes.Index(b, []byte("<Code>")); at >= 0 {
		code := b[at+len("<Code>"):]
		if end := bytes.IndexByte(code, '<'); end >= 0 && isThrottleCode(code[:end]) {
			r.signals |= sigAWS
		}
	}
	// nginx writes this page itself for limit_req, limit_conn and "return 503"
	// only; a dead upstream gives 502 or 504. Pages of a WAF or of a HAProxy
	// deny do not tell a limit from any other rule, so they count for nothing.
	if status == 503 && bytes.Contains(b, []byte("503 Service Temporarily Unavailable")) {
		r.signals |= sigProxy
	}
	if bytes.Contains(b, []byte("error code: 1015")) || bytes.Contains(b, []byte("Error 1015")) {
		r.signals |= sigLimit
	}
}

func containsFold(b []byte, s string) bool { return indexFold(b, s) >= 0 }

// indexFold is where s, in lower case, begins in b in any case, or -1.
func indexFold(b []byte, s string) int {
	for i := 0; i+len(s) <= len(b); i++ {
		if hasFold(b[i:], s) {
			return i
		}
	}
	return -1
}
