package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// replyError is an error that a server answered with.
type replyError string

func (e replyError) Error() string { return string(e) }

// element is the n-th of a list, or all of the reply for 0.
func element(reply any, n int) any {
	if n == 0 {
		return reply
	}
	if list, ok := reply.([]any); ok && n <= len(list) {
		return list[n-1]
	}
	return nil
}

// replyText is a reply on one line, cut short.
func replyText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, 0, len(v))
		for i, x := range v {
			if i == 16 {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, replyText(x))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprint(v)
}

// Meaning tells what a reply says.
type Meaning struct {
	admitted condition
	given    bool // false guesses by the usual forms
	wait     int
	waitUnit time.Duration // 0 when no wait is told
}

// condition compares an element with a text.
type condition struct {
	at    int
	op    string
	value string
}

// ParseMeaning reads `reply[1]==1`, with one of == != < <= > >=, and
// `reply[2] ms`, with the unit of the wait. Both may be empty.
func ParseMeaning(admitted, wait string) (Meaning, error) {
	var m Meaning
	if admitted != "" {
		i := strings.IndexAny(admitted, "=!<>")
		if i < 0 {
			return m, fmt.Errorf("--admitted-if %q compares nothing", admitted)
		}
		for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
			if strings.HasPrefix(admitted[i:], op) {
				m.admitted.op = op
				break
			}
		}
		at, ok := replyPlace(admitted[:i])
		if m.admitted.op == "" || !ok {
			return m, fmt.Errorf("--admitted-if %q is not like reply[1]==1", admitted)
		}
		m.admitted.at, m.given = at, true
		m.admitted.value = strings.Trim(strings.TrimSpace(admitted[i+len(m.admitted.op):]), `'"`)
	}
	if wait != "" {
		text, unit, _ := strings.Cut(strings.TrimSpace(wait), " ")
		at, ok := replyPlace(text)
		units := map[string]time.Duration{"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond}
		m.waitUnit = units[strings.TrimSpace(unit)]
		if !ok || m.waitUnit == 0 {
			return m, fmt.Errorf("--wait %q is not like 'reply[2] ms', with s, ms or us", wait)
		}
		m.wait = at
	}
	return m, nil
}

func replyPlace(text string) (int, bool) {
	text = strings.TrimSpace(text)
	if text == "reply" {
		return 0, true
	}
	return indexed(text, "reply")
}

// MeaningError is a reply that tells nobody whether the call passed.
type MeaningError struct{ Reply string }

func (e *MeaningError) Error() string {
	return "the reply " + e.Reply + " does not say whether the call passed"
}

// read is whether the call passed, and how long a refused one was told to
// wait; below 0 is not told.
func (m *Meaning) read(reply any, cost int64) (ok bool, wait time.Duration, err error) {
	if m.given {
		value := m.admitted.value
		if value == "{cost}" {
			value = strconv.FormatInt(cost, 10)
		}
		ok = compare(replyText(element(reply, m.admitted.at)), m.admitted.op, value)
	} else if ok, err = guessMeaning(reply); err != nil {
		return false, -1, err
	}
	wait = -1
	if !ok && m.waitUnit > 0 {
		if f, err := strconv.ParseFloat(replyText(element(reply, m.wait)), 64); err == nil && f >= 0 && f < 1e12 {
			wait = time.Duration(math.Ceil(f * float64(m.waitUnit)))
		}
	}
	return ok, wait, nil
}

// compare compares as numbers where both are, else as texts.
func compare(a, op, b string) bool {
	c := strings.Compare(a, b)
	x, err1 := strconv.ParseFloat(a, 64)
	if y, err2 := strconv.ParseFloat(b, 64); err1 == nil && err2 == nil {
		c = 0
		if x < y {
			c = -1
		} else if x > y {
			c = 1
		}
	} else if op != "==" && op != "!=" {
		return false // nothing is above a text
	}
	switch op {
	case "==":
		return c == 0
	case "!=":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// guessMeaning takes 1 and 0, alone or first in a list, nothing, and the usual
// words.
func guessMeaning(reply any) (bool, error) {
	v := reply
	if list, ok := reply.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	if v == nil {
		return false, nil
	}
	switch strings.ToLower(replyText(v)) {
	case "1", "ok", "true", "allowed", "admitted", "allow":
		return true, nil
	case "0", "false", "denied", "refused", "limited", "deny":
		return false, nil
	}
	return false, &MeaningError{replyText(reply)}
}
