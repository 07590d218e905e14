package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Style is a way to write a limit's state into headers. The zero value is the
// newest draft.
type Style uint8

const (
	Draft11         Style = iota // RateLimit: "p";r=0;t=5 and RateLimit-Policy
	Draft07                      // RateLimit: limit=10, remaining=0, reset=5
	Draft06                      // RateLimit-Limit, -Remaining, -Reset, -Policy
	Draft03                      // the same with the policy inside RateLimit-Limit
	XRateLimit                   // X-RateLimit-*, reset in unix seconds
	XRateLimitDelta              // X-RateLimit-*, reset in seconds left
	GitHub                       // x-ratelimit-* with used and resource
	RetryAfterOnly
	Silent // nothing at all
	styles
)

var styleNames = [styles]string{
	"draft-11", "draft-07", "draft-06", "draft-03", "x-ratelimit", "x-ratelimit-delta", "github", "retry-after", "none",
}

// Styles are the names that ParseStyle knows, the default first.
func Styles() []string { return append([]string(nil), styleNames[:]...) }

// ParseStyle reads a style's name; an empty one is the default.
func ParseStyle(name string) (Style, error) {
	if name == "" {
		return Draft11, nil
	}
	for i, n := range styleNames {
		if n == name {
			return Style(i), nil
		}
	}
	return Draft11, fmt.Errorf("dialect %q is not one of %s", name, strings.Join(styleNames[:], ", "))
}

func (s Style) String() string {
	if s < styles {
		return styleNames[s]
	}
	return "style-" + strconv.Itoa(int(s))
}

// Pair is one header to send.
type Pair struct{ Name, Value string }

// State is what a limiter says after a decision.
type State struct {
	OK        bool
	Limit     int64
	Remaining int64
	// RetryAfter is used for refusals; negative means that no wait helps, and
	// then nothing is promised.
	RetryAfter time.Duration
	ResetAfter time.Duration
	Window     time.Duration // 0 when the limit has none
	Policy     string        // name of the policy; empty is "default"
	Now        int64         // unix nanoseconds; for instants
	// Policies are the policies in force, as [Style.Policies] writes them. ""
	// is one policy of Limit and Window.
	Policies string
}

// Declared is one policy, as RateLimit-Policy names it.
type Declared struct {
	Name   string // empty is "default"
	Quota  int64
	Window time.Duration // 0 when the policy has none
	Unit   string        // of the quota; empty is requests
}

// sfMax is the largest Integer of a structured field (RFC 9651, 3.3.1).
const sfMax = 999_999_999_999_999

// Append appends the headers for st to dst. Waits are whole seconds, rounded
// up, so that a client that obeys them is never early.
//
// Where a draft wants its reset to be the instant of Retry-After, a refusal
// that has a wait writes that; everything else writes ResetAfter.
func (s Style) Append(dst []Pair, st State) []Pair {
	if s >= Silent {
		return dst
	}
	refusedFor := !st.OK && st.RetryAfter >= 0
	if refusedFor {
		dst = append(dst, Pair{"Retry-After", itoa(ceilSeconds(st.RetryAfter))})
	}
	limit := min(max(st.Limit, 0), sfMax)
	left := min(max(st.Remaining, 0), sfMax)
	reset := ceilSeconds(st.ResetAfter)
	until := reset
	if refusedFor {
		until = ceilSeconds(st.RetryAfter)
	}
	switch s {
	case Draft11:
		var room [64]byte
		state := append(appendQuoted(room[:0], st.Policy), ";r="...)
		state = strconv.AppendInt(state, left, 10)
		if refusedFor || st.ResetAfter >= 0 { // without t there is no hint
			state = strconv.AppendInt(append(state, ";t="...), until, 10)
		}
		dst = append(dst, Pair{"RateLimit-Policy", s.policies(&st)}, Pair{"RateLimit", string(state)})
	case Draft07:
		dst = s.appendIntPolicy(dst, &st)
		dst = append(dst, Pair{"RateLimit", "limit=" + itoa(limit) + ", remaining=" + itoa(left) + ", reset=" + itoa(until)})
	case Draft06, Draft03:
		first := itoa(limit)
		if s == Draft06 {
			dst = s.appendIntPolicy(dst, &st)
		} else if p := s.policies(&st); p != "" {
			first += ", " + p
		}
		dst = append(dst, Pair{"RateLimit-Limit", first},
			Pair{"RateLimit-Remaining", itoa(left)}, Pair{"RateLimit-Reset", itoa(until)})
	case XRateLimit, XRateLimitDelta, GitHub:
		at := reset
		if s != XRateLimitDelta {
			at = ceilUnix(st.Now, st.ResetAfter)
		}
		dst = append(dst, Pair{"X-RateLimit-Limit", itoa(limit)},
			Pair{"X-RateLimit-Remaining", itoa(left)}, Pair{"X-RateLimit-Reset", itoa(at)})
		if s == GitHub {
			resource := token(st.Policy)
			dst = append(dst, Pair{"X-RateLimit-Used", itoa(max(limit-left, 0))}, Pair{"X-RateLimit-Resource", resource})
		}
	}
	return dst
}

// policies are what st declares.
func (s Style) policies(st *State) string {
	if st.Policies != "" {
		return st.Policies
	}
	return s.Policies([]Declared{{Name: st.Policy, Quota: st.Limit, Window: st.Window}})
}

// Policies writes policies as the style does, for [State]; "" when it has no
// field for them or none can be written. They are the same in every answer, so
// they are written once.
func (s Style) Policies(all []Declared) string {
	switch s {
	case Draft11:
		return namedPolicies(all)
	case Draft07, Draft06, Draft03:
		return intPolicies(all)
	}
	return ""
}

// namedPolicies is draft 11's RateLimit-Policy.
func namedPolicies(all []Declared) string {
	var b []byte
	for i, p := range all {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendQuoted(b, p.Name)
		b = append(b, ";q="...)
		b = strconv.AppendInt(b, min(max(p.Quota, 0), sfMax), 10)
		if p.Unit != "" {
			b = append(b, ";qu="...)
			b = appendQuoted(b, p.Unit)
		}
		if w := ceilSeconds(p.Window); w > 0 {
			b = append(b, ";w="...)
			b = strconv.AppendInt(b, w, 10)
		}
	}
	return string(b)
}

func (s Style) appendIntPolicy(dst []Pair, st *State) []Pair {
	if p := s.policies(st); p != "" {
		return append(dst, Pair{"RateLimit-Policy", p})
	}
	return dst
}

// intPolicies are policies as drafts up to 07 write them. A window is required
// there, and a policy's only name is its quota: one without a window, and a
// second one of the same quota, are left out.
func intPolicies(all []Declared) string {
	var b []byte
	for i, p := range all {
		w := ceilSeconds(p.Window)
		if w == 0 || slices.ContainsFunc(all[:i], func(o Declared) bool { return o.Quota == p.Quota && o.Window > 0 }) {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, min(max(p.Quota, 0), sfMax), 10)
		b = append(b, ";w="...)
		b = strconv.AppendInt(b, w, 10)
	}
	return string(b)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// ceilSeconds is d in whole seconds, rounded up; negative is 0.
func ceilSeconds(d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	n := int64(d / time.Second)
	if d%time.Second != 0 {
		n++
	}
	return n
}

// ceilUnix is the unix second at or after now + d, at least 0. It adds seconds rather than
// nanoseconds, which could overflow.
func ceilUnix(now int64, d time.Duration) int64 {
	d = max(d, 0)
	t := instantOf(now)
	nanos := int64(t.nsec) + int64(d%time.Second)
	return max(t.sec+int64(d/time.Second)+(nanos+999_999_999)/1_000_000_000, 0)
}

// appendQuoted writes a policy's name as a String (RFC 9651, 3.3.3); what a
// String cannot hold becomes a question mark.
func appendQuoted(b []byte, name string) []byte {
	if name == "" {
		name = "default"
	}
	b = append(b, '"')
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c < 0x20 || c >= 0x7f:
			b = append(b, '?')
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// token makes a name that is safe in any field.
func token(name string) string {
	if name == "" {
		name = "core"
	}
	b := []byte(name)
	for i, c := range b {
		if !isTokenChar(c) {
			b[i] = '-'
		}
	}
	return string(b)
}
