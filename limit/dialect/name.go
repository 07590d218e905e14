package dialect

import "time"

// kind is what a header name is to us. Kinds fit a 32 bit set.
type kind uint8

const (
	plain kind = iota // of no interest
	kDate
	kAge
	kRetryAfter
	kNamedRetry // Retry-After-short, X-Retry-After
	kRetryMS
	kXMSRetry
	kAmzRetry
	kRetryIn
	kOracleRetry
	kPushback
	kRateLimit
	kPolicy
	kCounts // any name with ratelimit or rate-limit in it
	kZendesk
	kShopify
	kShouldRetry
	kEnvoyLimited
	kStripeReason
	kThrottled // x-ms-throttle-scope and -information
	kAWSError
	kGRPCStatus
)

// Interesting reports whether Read looks at a header of this name, in any
// case. A parser may drop all others.
func Interesting(name []byte) bool { return kindOf(name) != plain }

// kindOf runs for every header of every answer, so most names leave at the
// first switch.
func kindOf(n []byte) kind {
	if len(n) < 3 {
		return plain
	}
	switch n[0] | 0x20 {
	case 'd':
		if len(n) == 4 && fold(n, "date") {
			return kDate
		}
	case 'a':
		if len(n) == 3 && fold(n, "age") {
			return kAge
		}
		if len(n) > 20 && hasFold(n, "anthropic-ratelimit-") {
			return kCounts
		}
	case 'r':
		return kindR(n)
	case 'x':
		if n[1] == '-' {
			return kindX(n)
		}
	case 'f':
		if hasFold(n, "fastly-ratelimit-") {
			return kCounts
		}
	case 'z':
		if hasFold(n, "zendesk-ratelimit-") {
			return kZendesk
		}
	case 's':
		switch {
		case len(n) == 19 && fold(n, "stripe-should-retry"):
			return kShouldRetry
		case len(n) == 26 && fold(n, "stripe-rate-limited-reason"):
			return kStripeReason
		}
	case 'g':
		switch {
		case len(n) == 11 && fold(n, "grpc-status"):
			return kGRPCStatus
		case len(n) == 22 && fold(n, "grpc-retry-pushback-ms"):
			return kPushback
		}
	}
	return plain
}

func kindR(n []byte) kind {
	switch {
	case len(n) < 9:
	case hasFold(n, "retry-after"):
		switch {
		case len(n) == 11:
			return kRetryAfter
		case len(n) == 14 && fold(n[11:], "-ms"):
			return kRetryMS
		case len(n) > 12 && n[11] == '-':
			return kNamedRetry
		}
	case hasFold(n, "ratelimit"):
		switch {
		case len(n) == 9:
			return kRateLimit
		case n[9] != '-':
		case len(n) == 16 && fold(n[10:], "policy"):
			return kPolicy
		default:
			return kCounts
		}
	case hasFold(n, "rate-limit-"):
		return kCounts
	case hasFold(n, "requestlimit-") && len(n) > 23 && fold(n[len(n)-11:], "-retryafter"):
		return kOracleRetry
	}
	return plain
}

func kindX(n []byte) kind {
	if len(n) < 10 {
		return plain
	}
	switch n[2] | 0x20 {
	case 'r':
		if len(n) == 10 && fold(n, "x-retry-in") {
			return kRetryIn
		}
		if len(n) == 13 && fold(n, "x-retry-after") {
			return kNamedRetry
		}
	case 'm':
		switch {
		case len(n) == 19 && fold(n, "x-ms-retry-after-ms"):
			return kXMSRetry
		case fold(n, "x-ms-throttle-scope"), fold(n, "x-ms-throttle-information"):
			return kThrottled
		}
	case 'a':
		switch {
		case len(n) == 17 && fold(n, "x-amz-retry-after"):
			return kAmzRetry
		case len(n) == 16 && fold(n, "x-amzn-errortype"):
			return kAWSError
		}
	case 's':
		switch {
		case len(n) == 14 && fold(n, "x-should-retry"):
			return kShouldRetry
		case len(n) == 29 && fold(n, "x-shopify-shop-api-call-limit"):
			return kShopify
		}
	case 'e':
		if len(n) == 19 && fold(n, "x-envoy-ratelimited") {
			return kEnvoyLimited
		}
	}
	if at, _ := findRateLimit(n); at >= 0 {
		return kCounts
	}
	return plain
}

// findRateLimit returns where the word ratelimit or rate-limit begins in n and
// where it ends, or -1. It must be a whole word.
func findRateLimit(n []byte) (at, end int) {
	for i := 0; i+9 <= len(n); i++ {
		if n[i]|0x20 != 'r' || i > 0 && n[i-1] != '-' || !fold(n[i:i+4], "rate") {
			continue
		}
		end = i + 4
		if n[end] == '-' {
			end++
		}
		if end+5 <= len(n) && fold(n[end:end+5], "limit") {
			end += 5
			if end == len(n) || n[end] == '-' {
				return i, end
			}
		}
	}
	return -1, -1
}

// word is what a counting header is about.
type word uint8

const (
	noWord word = iota
	wLimit
	wRemaining
	wUsed
	wReset      // seconds left or an instant, told apart by magnitude
	wResetAfter // seconds left
	wResetMS    // milliseconds left
	wResetTime  // an instant that stands beside wReset
	wRetryAfter
	wWindow   // seconds
	wWindowMS // milliseconds
	wFill     // units added per window, or per second without one
)

// counting is a taken-apart name such as x-ratelimit-remaining-requests.
type counting struct {
	word   word
	family Family
	prefix []byte        // a vendor or rule before the word ratelimit
	name   []byte        // a resource or period after it
	window time.Duration // when the name says a period, else 0
}

func parseCounting(n []byte) (c counting) {
	at, end := findRateLimit(n)
	if at < 0 {
		return c
	}
	c.family = FamilyA
	head := n[:at]
	if len(head) >= 2 && head[0]|0x20 == 'x' && head[1] == '-' {
		c.family = FamilyX
		head = head[2:]
	}
	if len(head) > 0 {
		c.family = FamilyOther
		c.prefix = head[:len(head)-1]
	}
	rest := n[end:]
	if len(rest) < 2 {
		c.word = wLimit // X-Rate-Limit: 400
		return c
	}
	rest = rest[1:]
	first, tail := cutDash(rest)
	if c.word, tail = wordOf(first, tail); c.word != noWord {
		c.name = tail
	} else {
		i := len(rest)
		for i > 0 && rest[i-1] != '-' {
			i--
		}
		switch w, left := wordOf(rest[i:], nil); {
		case i > 0 && w != noWord && left == nil:
			c.word, c.name = w, rest[:i-1]
		case periodOf(rest) > 0: // X-HubSpot-RateLimit-Daily
			c.word, c.name = wLimit, rest
		default:
			return c
		}
	}
	if len(c.name) > 4 && hasFold(c.name, "per-") { // -Limit-Per-Second[-Objects]
		p, tail := cutDash(c.name[4:])
		if c.window = periodOf(p); c.window > 0 {
			c.name = tail
			return c
		}
	}
	i := len(c.name)
	for i > 0 && c.name[i-1] != '-' {
		i--
	}
	c.window = periodOf(c.name[i:])
	return c
}

func cutDash(b []byte) (first, tail []byte) {
	for i, c := range b {
		if c == '-' {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// wordOf reads the word w, which may need the next one of tail; it returns
// what of tail is left.
func wordOf(w, tail []byte) (word, []byte) {
	next, after := cutDash(tail)
	switch {
	case fold(w, "limit"), fold(w, "max"):
		return wLimit, tail
	case fold(w, "remaining"):
		return wRemaining, tail
	case fold(w, "used"):
		return wUsed, tail
	case fold(w, "next"), fold(w, "resettime"):
		return wResetTime, tail
	case fold(w, "reset"):
		switch {
		case fold(next, "after"):
			return wResetAfter, after
		case fold(next, "ms"), fold(next, "milliseconds"):
			return wResetMS, after
		case fold(next, "time"), fold(next, "at"):
			return wResetTime, after
		}
		return wReset, tail
	case fold(w, "retry") && fold(next, "after"):
		return wRetryAfter, after
	case fold(w, "interval"):
		switch {
		case fold(next, "ms"), fold(next, "milliseconds"):
			return wWindowMS, after
		case fold(next, "seconds"):
			return wWindow, after
		}
		return wWindow, tail
	case fold(w, "fillrate"):
		return wFill, tail
	case fold(w, "replenish") && fold(next, "rate"):
		return wFill, after
	case fold(w, "burst") && fold(next, "capacity"):
		return wLimit, after
	}
	return noWord, tail
}

// periodOf is the length of a period's name, 0 when it is none. Months and
// years are counted as Envoy does: 30 and 365 days.
func periodOf(b []byte) time.Duration {
	const day = 24 * time.Hour
	switch {
	case len(b) < 2:
		return 0
	case b[0] >= '1' && b[0] <= '9':
		n, i := scanNumber(b)
		var u time.Duration
		switch {
		case fold(b[i:], "s"):
			u = time.Second
		case fold(b[i:], "m"), fold(b[i:], "min"):
			u = time.Minute
		case fold(b[i:], "h"):
			u = time.Hour
		case fold(b[i:], "d"):
			u = day
		default:
			return 0
		}
		return n.times(u)
	case fold(b, "second"), fold(b, "secondly"):
		return time.Second
	case fold(b, "minute"), fold(b, "minutely"):
		return time.Minute
	case fold(b, "hour"), fold(b, "hourly"):
		return time.Hour
	case fold(b, "day"), fold(b, "daily"):
		return day
	case fold(b, "month"), fold(b, "monthly"):
		return 30 * day
	case fold(b, "year"), fold(b, "yearly"):
		return 365 * day
	}
	return 0
}

// fold reports whether b equals s, which is in lower case, in any case.
func fold(b []byte, s string) bool {
	return len(b) == len(s) && hasFold(b, s)
}

// hasFold reports whether b begins with s, which is in lower case.
func hasFold(b []byte, s string) bool {
	if len(b) < len(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

func sameFold(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i, c := range a {
		d := b[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if d >= 'A' && d <= 'Z' {
			d |= 0x20
		}
		if c != d {
			return false
		}
	}
	return true
}
