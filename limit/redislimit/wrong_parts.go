package redislimit

import (
	"context"
	"strconv"
)

// Checker is what decides on all of a request's limits at once, as a [Store]
// does.
type Checker interface {
	Take(ctx context.Context, parts ...Part) (Answer, error)
}

// WrongTwoCalls is a checker that is wrong on purpose: it asks for one limit
// after the other, in calls of their own, and stops at the first that refuses.
// What the limits before it took is gone, though the request does not pass: a
// customer whose plan is used up pays for every refusal with tokens of the
// other limit. One script call takes all or nothing. Safe for concurrent use if
// Checker is.
type WrongTwoCalls struct{ Checker Checker }

// Take asks for each part on its own.
func (w WrongTwoCalls) Take(ctx context.Context, parts ...Part) (Answer, error) {
	a := Answer{By: -1}
	for i := range parts {
		one, err := w.Checker.Take(ctx, parts[i])
		if err != nil {
			return Answer{}, err
		}
		a.At = one.At
		a.Unreadable += one.Unreadable
		a.Parts = append(a.Parts, one.Decision)
		if !one.OK {
			break
		}
	}
	a.join()
	return a, nil
}

// WrongVersionKey is a key that is wrong on purpose: it has the rule's version
// in it. A new version finds no state and starts full, while gateways that are
// still on the old one go on with theirs, so that a customer has both limits
// for as long as the roll-out takes. A key without the version is one bucket,
// which a changed rule clamps and never fills.
func WrongVersionKey(key string, version int64) string {
	return key + ":v" + strconv.FormatInt(version, 10)
}
