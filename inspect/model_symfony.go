package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// symfonyState is an object of Symfony's RateLimiter.
type symfonyState struct {
	kind string // TokenBucket, Window or SlidingWindow
	id   string // the limiter's name and the customer's

	at     float64 // unix seconds: the last refill, the window's start, or its end
	tokens int64   // of a bucket
	burst  int64   // of a bucket; a window's limit
	rate   string  // of a bucket, as P0Y0M0DT00H15M0S-5

	hits, before int64
	interval     int64 // of a window, seconds
}

const symfonyClass = `Symfony\Component\RateLimiter\Policy\`

var errSymfony = errors.New("it is none of the objects that the rate limiter keeps")

func readSymfony(value []byte) (*symfonyState, error) {
	o, err := readPHP(value)
	if err != nil {
		return nil, err
	}
	kind, ok := strings.CutPrefix(o.class, symfonyClass)
	if !ok {
		return nil, errSymfony
	}
	s := &symfonyState{kind: kind}
	ok = false
	switch n := len(o.keys); {
	case n == 5:
		ok = s.named(o.values)
	case kind == "TokenBucket" && n == 2 && len(o.keys[0]) > 4:
		var ok1, ok2 bool
		s.burst, s.id, s.rate = packed(o.keys[0], 0), o.keys[0][4:], o.keys[1]
		s.tokens, ok1 = o.values[0].(int64)
		s.at, ok2 = seconds(o.values[1])
		ok = ok1 && ok2
	case kind == "Window" && n == 2 && len(o.keys[1]) == 8:
		var ok1, ok2 bool
		s.id, s.hits, s.interval = o.keys[0], packed(o.keys[1], 0), packed(o.keys[1], 4)
		s.at, ok1 = seconds(o.values[0])
		s.burst, ok2 = o.values[1].(int64)
		ok = ok1 && ok2
	case kind == "SlidingWindow" && n == 1 && len(o.keys[0]) > 12:
		k := o.keys[0]
		s.hits, s.before, s.interval, s.id = packed(k, 0), packed(k, 4), packed(k, 8), k[12:]
		s.at, ok = seconds(o.values[0])
	}
	if !ok || kind != "TokenBucket" && s.interval <= 0 {
		return nil, errSymfony
	}
	return s, nil
}

// named reads the five properties that older versions wrote, in their order.
func (s *symfonyState) named(v []any) bool {
	whole := func(i int, to *int64) bool { n, ok := v[i].(int64); *to = n; return ok }
	id, ok := v[0].(string)
	s.id = id
	switch s.kind {
	case "TokenBucket":
		s.rate, _ = v[4].(string)
		at, timed := seconds(v[2])
		s.at = at
		return ok && timed && whole(1, &s.tokens) && whole(3, &s.burst)
	case "Window":
		at, timed := seconds(v[4])
		s.at = at
		return ok && timed && whole(1, &s.hits) && whole(2, &s.interval) && whole(3, &s.burst)
	case "SlidingWindow":
		at, timed := seconds(v[4])
		s.at = at
		return ok && timed && whole(1, &s.hits) && whole(2, &s.interval) && whole(3, &s.before)
	}
	return false
}

func packed(s string, at int) int64 { return int64(binary.BigEndian.Uint32([]byte(s[at:]))) }

func seconds(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, math.Abs(v) < 1e11
	case int64:
		return float64(v), v > -1e11 && v < 1e11
	}
	return 0, false
}

func isSymfony(e *Entry) bool {
	_, err := readSymfony(e.Text)
	return err == nil && !e.Truncated
}

var symfonyRate = regexp.MustCompile(`\AP(\d{1,6})Y(\d{1,6})M(\d{1,6})DT(\d{1,6})H(\d{1,6})M(\d{1,9})S-(\d{1,9})\z`)

// refill is how much a bucket gets and how often. Months and years are those
// that begin at now.
func (s *symfonyState) refill(now int64) (rate limit.Rate, ok bool) {
	m := symfonyRate.FindStringSubmatch(s.rate)
	if m == nil {
		return limit.Rate{}, false
	}
	var n [7]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1])
	}
	if n[0] > 100 || n[1] > 1200 || n[2] > 36500 || n[3] > 876000 {
		return limit.Rate{}, false
	}
	from := time.Unix(0, now).UTC()
	per := from.AddDate(n[0], n[1], n[2]).Sub(from) + time.Duration(n[3])*time.Hour + time.Duration(n[4])*time.Minute + time.Duration(n[5])*time.Second
	return limit.Rate{Units: int64(n[6]), Per: per}, per > 0 && n[6] > 0
}

func decodeSymfony(f *frame) *verdict {
	e := f.main()
	if e == nil {
		return nil
	}
	if e.Truncated {
		f.unreadable(errors.New("it is too long"))
		return nil
	}
	s, err := readSymfony(e.Text)
	if err != nil {
		f.unreadable(err)
		return nil
	}
	f.r.ID = s.id
	if math.Abs(s.at-float64(f.now)/1e9) > 2*float64(plausible)/1e9 {
		f.r.problem("not-a-time", "Its time is none in seconds.")
		return nil
	}
	at := int64(s.at * 1e9)
	switch s.kind {
	case "TokenBucket":
		return f.symfonyBucket(s, at)
	case "Window":
		return f.symfonyWindow(s, at)
	}
	return f.symfonySliding(s, at)
}

// microtime is the clock of PHP, in seconds.
func microtime(at int64) float64 { return float64(at/1000) / 1e6 }

func (f *frame) symfonyBucket(s *symfonyState, at int64) *verdict {
	f.r.Algorithm = limit.TokenBucket.String()
	f.ahead("The last refill", at, 1e9)
	if s.tokens < 0 {
		f.r.problem("negative", fmt.Sprintf("It owes %d tokens, to reservations.", -max(s.tokens, -math.MaxInt64)))
	}
	rate, ok := s.refill(f.now)
	if !ok || s.burst <= 0 {
		f.r.note(fmt.Sprintf("It held %d of %d tokens at its last refill; how it refills, %s, cannot be read.", s.tokens, s.burst, shownValue(s.rate)))
		return nil
	}
	f.setLimit(limit.Spec{Algorithm: limit.TokenBucket, Rate: rate, Burst: s.burst}, "state")
	left := func(at int64) float64 {
		cycles := math.Floor(math.Max(0, microtime(at)-s.at) / rate.Per.Seconds())
		return math.Min(float64(s.burst), float64(s.tokens)+cycles*float64(rate.Units))
	}
	f.r.note(fmt.Sprintf("It refills by %d at once, each %s.", rate.Units, limit.ShortDuration(rate.Per)))
	v := &verdict{most: s.burst, passes: func(at, cost int64) bool { return left(at) >= float64(cost) }}
	f.held(v, left(f.now))
	return v
}

func (f *frame) symfonyWindow(s *symfonyState, start int64) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	f.ahead("The window's start", start, 1e9)
	if s.burst <= 0 {
		return nil
	}
	f.setLimit(limit.Spec{Algorithm: limit.FixedWindow, Limit: s.burst, Window: time.Duration(s.interval) * time.Second}, "state")
	end := start + s.interval*1e9
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	over := func(at int64) bool { return microtime(at)-s.at > float64(s.interval) }
	used := s.hits
	if over(f.now) {
		used = 0
	}
	f.r.Used = &used
	return &verdict{most: s.burst, passes: func(at, cost int64) bool {
		if over(at) {
			return cost <= s.burst
		}
		return cost <= s.burst-s.hits
	}}
}

func (f *frame) symfonySliding(s *symfonyState, end int64) *verdict {
	f.r.Algorithm = limit.SlidingCounter.String()
	most, w, known := f.window(limit.SlidingCounter)
	if real := time.Duration(s.interval) * time.Second; known && w != real {
		f.r.note(fmt.Sprintf("The window is %s long, as the state says.", limit.ShortDuration(real)))
		f.r.Limit.Window = real
	}
	start := end - s.interval*1e9
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	interval := float64(s.interval)
	hits := func(at int64) int64 {
		now, until, before, hits := microtime(at), s.at, s.before, s.hits
		if now > until {
			until += interval
			before, hits = s.hits, 0
			if now >= until {
				return 0
			}
		}
		part := math.Min((now-(until-interval))/interval, 1)
		return floorInt(float64(before)*(1-part) + float64(hits))
	}
	used := hits(f.now)
	f.r.Used = &used
	if !known {
		return nil
	}
	return &verdict{most: most, passes: func(at, cost int64) bool { return most-hits(at) >= cost }}
}
