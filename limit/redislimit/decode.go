package redislimit

import (
	"fmt"
	"time"

	"github.com/weir-cli/weir/limit"
)

// partNumbers is how many numbers a reply has for each part.
const partNumbers = 6

// numbers reads a reply of exactly n whole numbers, none of which a script
// could not have counted to. The first is a time and becomes unix ns.
func numbers(reply any, n int) ([]int64, error) {
	if out, ok := reply.([]int64); ok {
		return checked(out, n)
	}
	list, ok := reply.([]any)
	if !ok || len(list) != n {
		return nil, fmt.Errorf("redislimit: the script's reply is not a list of %d numbers but %T of %d", n, reply, len(list))
	}
	out := make([]int64, n)
	for i, x := range list {
		if out[i], ok = x.(int64); !ok {
			return nil, fmt.Errorf("redislimit: number %d of the script's reply is none: %.40q", i, fmt.Sprint(x))
		}
	}
	return checked(out, n)
}

// checked is numbers of what was read as such.
func checked(out []int64, n int) ([]int64, error) {
	if len(out) != n {
		return nil, fmt.Errorf("redislimit: the script's reply is not a list of %d numbers but of %d", n, len(out))
	}
	for i, x := range out {
		if x < -2 || x > maxExact {
			return nil, fmt.Errorf("redislimit: number %d of the script's reply is none: %d", i, x)
		}
	}
	if out[0] < 0 {
		return nil, fmt.Errorf("redislimit: the script's time is below zero: %d", out[0])
	}
	out[0] *= 1000
	return out, nil
}

// wait is µs as a duration; limit.Never and limit.Unknown stay.
func wait(us int64) time.Duration {
	if us < 0 {
		return time.Duration(us)
	}
	return time.Duration(us) * time.Microsecond
}

// decode reads the reply to a check of parts.
func decode(reply any, parts []Part) (Answer, error) {
	list, err := numbers(reply, 1+partNumbers*len(parts))
	if err != nil {
		return Answer{}, err
	}
	a := Answer{At: list[0], Parts: make([]limit.Decision, len(parts))}
	for i := range parts {
		n := list[1+partNumbers*i:]
		d := limit.Decision{
			OK: n[0] == 1, Limit: parts[i].Rule.most, Remaining: n[2],
			RetryAfter: wait(n[1]), ResetAfter: wait(n[3]), Delay: wait(n[4]),
		}
		if n[0] != 0 && n[0] != 1 || d.OK != (d.RetryAfter == 0) || d.Remaining < 0 || d.Remaining > d.Limit || d.Delay < 0 || d.ResetAfter == limit.Never {
			return Answer{}, fmt.Errorf("redislimit: part %d of the script's reply cannot be right: %d", i, n[:partNumbers])
		}
		if n[5] != 0 {
			a.Unreadable++
		}
		a.Parts[i] = d
	}
	a.join()
	return a, nil
}

// join makes the parts' decisions one. When the request does not pass, no part
// has a call to hold back.
func (a *Answer) join() {
	var j limit.Joint
	for i := range a.Parts {
		j.Add(&a.Parts[i])
	}
	a.Decision, a.By = j.Decision()
	if a.OK {
		return
	}
	for i := range a.Parts {
		a.Parts[i].Delay = 0
	}
}
