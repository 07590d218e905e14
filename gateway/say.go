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
	style dialect.Style
	down  bool // round waits down
	mute  bool // leave Retry-After out
	// canonical has the names that the style writes, as http.Header wants them.
	canonical map[string]string
}

// maxPairs is room for what the wordiest style writes.
const maxPairs = 8

func newVoice(c Config) voice {
	v := voice{style: c.Dialect, down: c.Wrong.RetryAfterDown,
		mute: c.Wrong.NoRetryAfter, canonical: map[string]string{}}
	for _, p := range v.style.Append(nil, dialect.State{Limit: 1, Window: time.Second}) {
		v.canonical[p.Name] = textproto.CanonicalMIMEHeaderKey(p.Name)
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

// wait is the Retry-After that a refusal gets, if it gets one.
func (v *voice) wait(d limit.Decision) (time.Duration, bool) {
	if d.OK || d.RetryAfter < 0 || v.mute || v.style == dialect.Silent {
		return 0, false
	}
	up := d.RetryAfter
	if !v.down && up%time.Second != 0 {
		up += time.Second
	}
	return up.Truncate(time.Second), true
}

// say sets the fields for d, of a limit with this window. It allocates the values only.
func (v *voice) say(h http.Header, d limit.Decision, window time.Duration, now int64) {
	if v.down && d.RetryAfter > 0 {
		d.RetryAfter = d.RetryAfter.Truncate(time.Second)
	}
	var room [maxPairs]dialect.Pair
	pairs := v.style.Append(room[:0], dialect.State{
		OK: d.OK, Limit: d.Limit, Remaining: d.Remaining,
		RetryAfter: d.RetryAfter, ResetAfter: d.ResetAfter, Window: window, Now: now,
	})
	values := make([]string, len(pairs))
	for i, p := range pairs {
		if v.mute && p.Name == "Retry-After" {
			continue
		}
		values[i] = p.Value
		h[v.canonical[p.Name]] = values[i : i+1 : i+1]
	}
}

// names are the fields that say may set.
func (v *voice) names() []string {
	all := make([]string, 0, len(v.canonical))
	for _, n := range v.canonical {
		all = append(all, n)
	}
	return all
}
