package gateway

import (
	"math/bits"
	"net/http"
	"strconv"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
)

// tell sets the fields for a verdict on a request that is under these rules;
// wait is what [waiter.wait] made of a refusal's. Every enforced rule's policies
// are declared, and the state is that of the tightest: of a refusal, the rule
// with the longest wait.
//
// A rule for security is not among them, and a refusal by one tells nothing,
// not even of the others: numbers would teach an attacker how slow is slow
// enough.
func (v *voice) tell(h http.Header, d *verdict, under []rules.Hit, wait time.Duration, now int64) {
	if d.silent() {
		v.tellWait(h, d, wait)
		return
	}
	tight := d.tightest()
	if tight == nil {
		return
	}
	said := v.phrases.of(tight.Rule, tight.Limit)
	policies := said.policies
	if len(under) > 1 {
		declared := make([]dialect.Declared, 0, 2*len(under))
		for i := range under {
			if hit := &under[i]; !hit.Rule.Security && !hit.Rule.Shadow {
				declared = append(declared, v.phrases.of(hit.Rule, hit.Limit).declared...)
			}
		}
		policies = v.style.Policies(declared)
	}
	st := dialect.State{
		OK: d.OK, Limit: tight.Decision.Limit, Remaining: tight.Decision.Remaining,
		RetryAfter: wait, ResetAfter: tight.Decision.ResetAfter,
		Window: said.window, Policy: said.bound, Policies: policies, Now: now,
	}
	if v.down && wait > 0 {
		st.RetryAfter = wait.Truncate(time.Second)
	}
	v.write(h, st)
	if !d.OK && v.millis && wait >= 0 && !v.mute && v.style != dialect.Silent {
		h[millisName] = []string{inMillis(wait)}
	}
}

// write sets the style's fields. It allocates the values only.
func (v *voice) write(h http.Header, st dialect.State) {
	var room [maxPairs]dialect.Pair
	pairs := v.style.Append(room[:0], st)
	values := make([]string, len(pairs))
	for i, p := range pairs {
		if v.mute && p.Name == "Retry-After" {
			continue
		}
		values[i] = p.Value
		h[v.canonical(p.Name)] = values[i : i+1 : i+1]
	}
}

// millisName is what several services' clients read before Retry-After.
const millisName = "Retry-After-Ms"

// tellWait tells a wait and nothing else.
func (v *voice) tellWait(h http.Header, d *verdict, wait time.Duration) {
	told, ok := v.told(d, wait)
	if !ok {
		return
	}
	h["Retry-After"] = []string{strconv.FormatInt(int64(told/time.Second), 10)}
	if v.millis {
		h[millisName] = []string{inMillis(wait)}
	}
}

func inMillis(d time.Duration) string {
	n := int64(d / time.Millisecond)
	if d%time.Millisecond != 0 {
		n++
	}
	return strconv.FormatInt(n, 10)
}

// refusal is what a refused request gets as its body.
func (v *voice) refusal(d *verdict) body {
	if d.silent() {
		return v.quiet
	}
	if d.Source == FromClosed {
		return v.away
	}
	var only *hitState
	refused := 0
	for i := range d.Hits {
		if hit := &d.Hits[i]; hit.speaks() {
			only = hit
			refused++
		}
	}
	switch refused {
	case 0:
		return v.quiet
	case 1:
		said := v.phrases.of(only.Rule, only.Limit)
		if only.Source == FromLocalShare {
			return said.alone
		}
		return said.refusal
	}
	names := make([]string, 0, refused)
	for i := range d.Hits {
		if hit := &d.Hits[i]; hit.speaks() {
			names = append(names, hit.Rule.Name)
		}
	}
	return refusalOf(v.phrases.status, names...)
}

// speaks reports whether a rule refused and may be named.
func (h *hitState) speaks() bool { return !h.Decision.OK && !h.Rule.Security }

// silent reports whether a rule for security refused. It is enough that one of
// those that did is: the wait told would be the longest of all.
func (d *verdict) silent() bool {
	if d.OK {
		return false
	}
	for i := range d.Hits {
		if hit := &d.Hits[i]; hit.Rule.Security && !hit.Decision.OK {
			return true
		}
	}
	return d.By != nil && d.By.Security
}

// tightest is the hit that binds, nil when there is none to speak of.
func (d *verdict) tightest() *hitState {
	var best *hitState
	for i := range d.Hits {
		hit := &d.Hits[i]
		if !hit.Rule.Security && (best == nil || tighter(&hit.Decision, &best.Decision)) {
			best = hit
		}
	}
	return best
}

// short is the hit that a refused caller waits for; nil when none is short.
func (d *verdict) short() *hitState {
	var longest *hitState
	for i := range d.Hits {
		hit := &d.Hits[i]
		if !hit.Decision.OK && (longest == nil || limit.Worse(hit.Decision.RetryAfter, longest.Decision.RetryAfter)) {
			longest = hit
		}
	}
	return longest
}

// tighter puts a refusal first, the longest wait before the others, and then
// the smallest part left.
func tighter(a, b *limit.Decision) bool {
	if a.OK != b.OK {
		return !a.OK
	}
	if !a.OK {
		return limit.Worse(a.RetryAfter, b.RetryAfter)
	}
	// a.Remaining/a.Limit against b's, without rounding.
	left := func(d *limit.Decision) uint64 { return uint64(max(0, d.Remaining)) }
	most := func(d *limit.Decision) uint64 { return uint64(max(1, d.Limit)) }
	ah, al := bits.Mul64(left(a), most(b))
	bh, bl := bits.Mul64(left(b), most(a))
	if ah != bh || al != bl {
		return ah < bh || ah == bh && al < bl
	}
	return a.ResetAfter > b.ResetAfter
}
