package gateway

import (
	"math"
	"net/http"
	"net/textproto"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
)

// voice writes decisions into headers. Immutable once made.
type voice struct {
	style  dialect.Style
	down   bool // round waits down
	mute   bool // leave Retry-After out
	millis bool // say waits in milliseconds as well
	// security makes refusals by security rules tell their wait.
	security bool
	quiet    body // of a refusal that says nothing
	away     body // of one for nothing but the store's silence
	phrases  *phrases
	fields   []fieldName // that the style writes
}

// maxPairs is room for what the wordiest style writes.
const maxPairs = 8

func newVoice(c Config) voice {
	refused := http.StatusTooManyRequests
	if c.Wrong.Status503 {
		refused = http.StatusServiceUnavailable
	}
	v := voice{style: c.Dialect, down: c.Wrong.RetryAfterDown, mute: c.Wrong.NoRetryAfter,
		millis: c.RetryAfter.Millis, security: c.RetryAfter.Security, quiet: quietRefusal(refused), away: awayRefusal(refused),
		phrases: &phrases{style: c.Dialect, status: refused}}
	for _, p := range v.style.Append(nil, dialect.State{Limit: 1, Window: time.Second}) {
		v.fields = append(v.fields, fieldName{p.Name, textproto.CanonicalMIMEHeaderKey(p.Name)})
	}
	return v
}

// windowOf is how long it takes a limit to give back all that it gives at
// once, which is what the drafts' window means for a bucket. 0 for a limit
// that time does not give back, and for one beyond what a Duration can hold.
func windowOf(s limit.Spec) time.Duration {
	if s.Window > 0 || s.Rate.Units == 0 {
		return s.Window
	}
	all := s.Burst
	if s.Algorithm == limit.LeakyQueue {
		all = s.Queue + 1
	}
	w := times(all, int64(s.Rate.Per))
	if w == math.MaxInt64 {
		return 0
	}
	return time.Duration(w / s.Rate.Units)
}

// told is the Retry-After that a refusal gets, if it gets one.
func (v *voice) told(d *verdict, wait time.Duration) (time.Duration, bool) {
	if d.OK || wait < 0 || v.mute || v.style == dialect.Silent || d.silent() && !v.security {
		return 0, false
	}
	up := wait
	if !v.down && up%time.Second != 0 {
		up += time.Second
	}
	return up.Truncate(time.Second), true
}

// names are the fields that an admitted answer may have. An upstream's own
// Retry-After is not among them: it speaks of the upstream.
func (v *voice) names() []string {
	all := make([]string, 0, len(v.fields))
	for _, f := range v.fields {
		if f.canonical != "Retry-After" {
			all = append(all, f.canonical)
		}
	}
	return all
}

// fieldName is a field's name as a style writes it and as http.Header wants it.
type fieldName struct{ name, canonical string }

// canonical is how http.Header wants a name that the style writes. They are
// few, and the same text in memory: a walk costs less than a map.
func (v *voice) canonical(name string) string {
	for i := range v.fields {
		if v.fields[i].name == name {
			return v.fields[i].canonical
		}
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}
