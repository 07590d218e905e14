package dialect

import (
	"strings"
	"testing"
	"time"
)

// noon is Sat, 14 Mar 2026 10:00:00 GMT, the Date of every answer here unless
// a test says otherwise.
const noon int64 = 1773482400

const dateLine = "Date: Sat, 14 Mar 2026 10:00:00 GMT"

func fieldsOf(lines ...string) []Field {
	var fs []Field
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ":")
		fs = append(fs, Field{Name: []byte(name), Value: []byte(value)})
	}
	return fs
}

// answer reads an answer that carries Date; the local clock is an hour off, so
// that a reading by the wrong clock shows.
func answer(t testing.TB, status int, body string, lines ...string) *Answer {
	t.Helper()
	a := new(Answer)
	resp := Response{
		Status: status, Fields: fieldsOf(append([]string{dateLine}, lines...)...),
		Body: []byte(body), Now: (noon + 3600) * 1e9,
	}
	Read(a, resp)
	if err := broken(a); err != "" {
		t.Fatalf("%q: %s", lines, err)
	}
	var again Answer
	again.Notes, again.Retry.RawLen = 1<<31, 9
	Read(&again, resp)
	if again != *a {
		t.Fatalf("%q: a second Read into a used Answer differs:\n%+v\n%+v", lines, *a, again)
	}
	return a
}

// broken says which promise that holds for every answer does not hold for a.
func broken(a *Answer) string {
	for _, h := range []*Hint{&a.Wait, &a.Retry, &a.Milli, &a.Reset} {
		switch {
		case h.Wait < 0:
			return "a wait is negative"
		case h.Wait > MaxWait:
			return "a wait is above MaxWait"
		case h.RawLen > RawMax:
			return "raw text is too long"
		case !h.Has && h.Wait != 0:
			return "a wait without Has"
		case h.Has && (h.Source == NoSource || h.Unit == NoUnit):
			return "a wait without a source or unit"
		case h.Has && h.Wait >= SaneWait && h != &a.Reset && a.Notes&TooLong == 0:
			return "a long wait is not noted"
		}
	}
	switch {
	case a.Wait.Has && a.Retry.Has && a.Wait.Wait < a.Retry.Wait && a.Milli.Wait == 0:
		return "the chosen wait is shorter than Retry-After"
	case a.HasLimit && a.Limit < 0, !a.HasLimit && a.Limit != 0:
		return "limit"
	case a.HasRemaining && a.Remaining < 0, !a.HasRemaining && a.Remaining != 0:
		return "remaining"
	case a.HasLimit != (a.LimitFrom != NoSource), a.HasRemaining != (a.RemainingFrom != NoSource):
		return "a count and where it came from do not go together"
	case int(a.NPolicies) > len(a.Policies), a.MorePolicies > 0 && int(a.NPolicies) != len(a.Policies) && a.MorePolicies < maxMembers:
		return "policy count"
	case a.Notes >= noteEnd:
		return "unknown note"
	case a.Notes&BadRetryAfter != 0 && (a.Retry.Has || a.Notes&Malformed == 0):
		return "a bad Retry-After is usable or not malformed"
	case a.Should < -1 || a.Should > 1:
		return "should"
	case len(a.Notes.Strings()) > len(noteNames):
		return "notes"
	}
	for _, p := range a.Policies[:a.NPolicies] {
		if p.Quota < 0 || p.Remaining < 0 || p.Window < 0 || p.Window > MaxWait || p.Reset < 0 || p.Reset > MaxWait || int(p.NameLen) > len(p.Name) {
			return "policy out of range"
		}
	}
	return ""
}

const (
	sec = time.Second
	ms  = time.Millisecond
)
