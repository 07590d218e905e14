package dialect

import "time"

// Response is what Read looks at. It keeps none of it.
type Response struct {
	Status int
	// Fields are header lines, names in any case. Lines that are not
	// Interesting may be left out.
	Fields []Field
	// Body is as much of the body as there is, or nil; Read looks at no more
	// than BodyMax bytes.
	Body []byte
	// Now is the local clock at receipt, unix nanoseconds. It counts only
	// where the answer has no readable Date.
	Now int64
}

// BodyMax is how many bytes of a body are looked at.
const BodyMax = 4096

// Read fills a with everything that the response says about a limit. It
// forgets what a held before, and does not allocate.
//
// The wait to obey is chosen as follows. Orders to wait come first: the
// millisecond fields, Retry-After, other fields of that kind, the body. Where
// they differ by more than rounding, the largest is taken and Disagree is set.
// Only without an order do windows count: t or reset of what is used up, the
// longest of them. That Retry-After goes before a reset is the RateLimit
// draft's rule: the reset may be when all of the quota is back. A plain 2xx
// asks for no wait, whatever its fields say.
func Read(a *Answer, resp Response) {
	*a = Answer{}
	var seen uint32
	var kinds kinds
	for i := range resp.Fields {
		k := kindOf(resp.Fields[i].Name)
		seen |= 1 << k
		if i < len(kinds) {
			kinds[i] = k
		}
	}
	seen &^= 1<<plain | 1<<kDate | 1<<kAge
	body := bodyCounts(&resp, seen)
	if seen == 0 && !body {
		a.Limited = resp.Status == 429 || resp.Status == 509
		if resp.Status == 529 {
			a.Notes = OverloadNotLimit
		}
		return
	}
	read(a, &resp, &kinds, seen, body)
}

// kinds remembers what the first fields are; later ones are looked at again.
type kinds [48]kind

func (k *kinds) at(i int, name []byte) kind {
	if i < len(k) {
		return k[i]
	}
	return kindOf(name)
}

// reader is the scratch space of one Read.
type reader struct {
	a     *Answer
	notes Notes

	date    []byte
	age     int64 // seconds
	now     int64
	ref     instant
	clocked bool

	members [maxMembers]member
	n       int
	spare   member // takes what does not fit
	more    uint16

	other   Hint // waits from fields that are neither Retry-After nor Milli
	body    Hint
	text    Hint
	signals signal
	cost    cost
	envoy   bool
	stripe  bool // Stripe-Rate-Limited-Reason
	graph   bool // x-ms-throttle-*
	grpc    bool // grpc-status 8
	hadRA   bool
}

func read(a *Answer, resp *Response, kinds *kinds, seen uint32, body bool) {
	r := reader{a: a, now: resp.Now}
	states, policies := true, true
	for i := range resp.Fields {
		f := &resp.Fields[i]
		switch kinds.at(i, f.Name) {
		case kDate:
			r.date = f.Value
		case kAge:
			if v, ok := readNumber(trim(f.Value)); ok && !v.neg {
				r.age = int64(v.times(time.Second) / time.Second)
			}
		case kRateLimit:
			v := trim(f.Value)
			if isDictionary(v) {
				_, ok := validDictionary(v)
				states = states && ok
			} else {
				_, ok := validList(v)
				states = states && ok && len(v) > 0
			}
		case kPolicy:
			v := trim(f.Value)
			_, ok := validList(v)
			policies = policies && ok && len(v) > 0
		}
	}
	if !states {
		r.notes |= Malformed
	}
	const counts = 1<<kRateLimit | 1<<kPolicy | 1<<kCounts | 1<<kZendesk | 1<<kShopify
	fresh := r.age == 0
	if !fresh && seen&counts != 0 {
		r.notes |= Cached
	}
	for i := range resp.Fields {
		name := resp.Fields[i].Name
		k := kinds.at(i, name)
		if k == plain {
			continue
		}
		if counts&(1<<k) != 0 && !fresh {
			continue
		}
		v := trim(resp.Fields[i].Value)
		switch k {
		case kRateLimit:
			if states {
				r.state(v)
			}
		case kPolicy:
			if policies {
				r.policies(v)
			} else if !r.sloppyPolicy(v) {
				r.notes |= Malformed
			}
		case kCounts:
			r.counting(name, v)
		case kZendesk:
			r.zendesk(name, v)
		case kShopify:
			r.shopify(v)
		default:
			r.order(k, v)
		}
	}
	if body {
		r.readBody(resp)
	}
	r.finish(resp.Status)
}

// order reads the fields that are not about counts.
func (r *reader) order(k kind, v []byte) {
	a := r.a
	switch k {
	case kRetryAfter:
		r.hadRA = true
		r.retryAfter(v)
	case kRetryMS:
		r.millis(&a.Milli, RetryAfterMS, v)
	case kXMSRetry:
		r.millis(&a.Milli, XMSRetryAfterMS, v)
	case kAmzRetry:
		r.millis(&a.Milli, AmzRetryAfter, v)
	case kOracleRetry:
		r.millis(&r.other, NamedRetryAfter, v)
	case kNamedRetry:
		r.otherWait(NamedRetryAfter, v, asRetryAfter)
	case kRetryIn:
		r.otherWait(XRetryIn, v, asDuration)
	case kPushback:
		// gRPC A6: a value that is negative or no number means do not retry.
		if n, ok := readNumber(v); ok && !n.neg && !n.point {
			r.put(&r.other, GRPCPushback, wait{d: n.times(time.Millisecond), unit: Millis}, v)
		} else {
			a.Should = -1
		}
	case kShouldRetry:
		switch {
		case fold(v, "true"):
			a.Should = 1
		case fold(v, "false"):
			a.Should = -1
		default:
			r.notes |= Malformed
		}
	case kEnvoyLimited:
		r.envoy = r.envoy || !fold(v, "false")
	case kStripeReason:
		r.stripe = len(v) > 0
	case kThrottled:
		r.graph = true
	case kAWSError:
		if isThrottleCode(awsCode(v)) {
			r.signals |= sigAWS
		}
	case kGRPCStatus:
		r.grpc = string(v) == "8"
	}
}

func (r *reader) otherWait(s Source, v []byte, f form) {
	if w, ok := r.readWait(v, f); ok {
		r.put(&r.other, s, w, v)
	} else {
		r.bad(&r.other, s, v)
	}
}
