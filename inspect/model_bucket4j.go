package inspect

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

func isBucket4j(e *Entry) bool {
	// It begins with a small number in four bytes.
	if e.Truncated || len(e.Text) < 4 || e.Text[0] != 0 {
		return false
	}
	_, err := readBucket4j(e.Text)
	return err == nil
}

// decodeBucket4j is a bucket with one or several limits, all of which must
// have tokens.
func decodeBucket4j(f *frame) *verdict {
	f.r.Algorithm = limit.TokenBucket.String()
	e := f.main()
	if e == nil {
		return nil
	}
	if e.Truncated {
		f.unreadable(errors.New("it is too long"))
		return nil
	}
	b, err := readBucket4j(e.Text)
	if err != nil {
		f.unreadable(err)
		return nil
	}
	most := int64(math.MaxInt64)
	for i := range b.limits {
		f.bucket4jLimit(&b.limits[i], len(b.limits) > 1)
		most = min(most, b.limits[i].capacity)
	}
	if b.version != nil {
		f.r.note(fmt.Sprintf("Its configuration has version %d.", *b.version))
	}
	f.r.note(fmt.Sprintf("%d tokens were consumed from this bucket so far.", b.consumed))
	if first := b.limits[0]; len(b.limits) == 1 && !first.intervally {
		f.setLimit(limit.Spec{Algorithm: limit.TokenBucket, Rate: limit.Rate{Units: first.refill, Per: time.Duration(first.period)}, Burst: first.capacity}, "state")
	}
	left := func(at int64) int64 {
		n := int64(math.MaxInt64)
		for i := range b.limits {
			n = min(n, b.limits[i].at(at))
		}
		return n
	}
	v := &verdict{most: most, passes: func(at, cost int64) bool { return left(at) >= cost }}
	f.held(v, float64(left(f.now)))
	return v
}

// bucket4jLimit says what is to be said of one limit.
func (f *frame) bucket4jLimit(l *bucket4jLimit, several bool) {
	if l.last > 0 && (f.r.LastUse == nil || l.last > *f.r.LastUse) {
		f.r.LastUse = &l.last
	}
	f.ahead("The last refill", l.last, 1e9)
	if l.size < 0 {
		f.r.problem("negative", fmt.Sprintf("It owes %d tokens: more was taken than was there, by a reservation or by ignoring the limit.", -max(l.size, -math.MaxInt64)))
	}
	if l.size > l.capacity {
		f.r.problem("above-capacity", fmt.Sprintf("It holds %d tokens, more than its capacity of %d.", l.size, l.capacity))
	}
	if !several && !l.intervally {
		return
	}
	name, how := "The limit", "bit by bit"
	if l.id != "" {
		name = "The limit " + shownValue(l.id)
	}
	if l.intervally {
		how = "all at once"
	}
	full := "never"
	if wait := l.fullIn(f.now); wait != limit.Never {
		full = "in " + shownWait(int64(wait))
	}
	f.r.note(fmt.Sprintf("%s gets %d each %s, %s, up to %d; it has %d now and is full %s.", name, l.refill, limit.ShortDuration(time.Duration(l.period)), how, l.capacity, l.at(f.now), full))
}

// fullIn is how long the limit takes to fill.
func (l *bucket4jLimit) fullIn(now int64) time.Duration {
	v := &verdict{most: l.capacity, passes: func(at, cost int64) bool { return l.at(at) >= cost }}
	return v.wait(now, l.capacity)
}
