package dialect

import "strconv"

var sourceNames = [sources]string{
	RetryAfter:           "retry-after",
	RetryAfterMS:         "retry-after-ms",
	XMSRetryAfterMS:      "x-ms-retry-after-ms",
	AmzRetryAfter:        "x-amz-retry-after",
	RateLimitT:           "ratelimit",
	RateLimitReset:       "ratelimit-reset",
	XRateLimitReset:      "x-ratelimit-reset",
	XRateLimitResetAfter: "x-ratelimit-reset-after",
	XRetryIn:             "x-retry-in",
	VendorReset:          "vendor-reset",
	Body:                 "body",
	LimitField:           "limit",
	RemainingField:       "remaining",
	PolicyField:          "ratelimit-policy",
	XRateLimitRetryAfter: "x-ratelimit-retry-after",
	NamedRetryAfter:      "retry-after-*",
	GRPCPushback:         "grpc-retry-pushback-ms",
	BodyText:             "body-text",
}

// String is the header's name in lower case, or what stands for a group of
// them; empty for NoSource.
func (s Source) String() string {
	if s < sources {
		return sourceNames[s]
	}
	return "source-" + strconv.Itoa(int(s))
}

var unitNames = [units]string{
	Seconds:      "seconds",
	Millis:       "milliseconds",
	UnixSeconds:  "unix-seconds",
	UnixMillis:   "unix-milliseconds",
	HTTPDate:     "date",
	ISOTime:      "iso-time",
	DurationText: "duration",
}

// String is the unit's name; empty for NoUnit.
func (u Unit) String() string {
	if u < units {
		return unitNames[u]
	}
	return "unit-" + strconv.Itoa(int(u))
}

var familyNames = [...]string{
	NoFamily:    "",
	FamilyA:     "ratelimit-fields",
	FamilyB:     "ratelimit-dictionary",
	FamilyC:     "ratelimit-policies",
	FamilyX:     "x-ratelimit",
	FamilyOther: "vendor",
}

// String is the family's name; empty for NoFamily.
func (f Family) String() string {
	if int(f) < len(familyNames) {
		return familyNames[f]
	}
	return "family-" + strconv.Itoa(int(f))
}

// noteNames go with the bits of Notes, lowest first.
var noteNames = [...]string{
	"a field could not be read",
	"retry-after could not be used",
	"retry-after is not whole seconds",
	"a field came twice",
	"an instant lies in the past",
	"the wait is too long to be obeyed blindly",
	"503 with retry-after: overload rather than a limit",
	"retry-after is longer than the window: likely milliseconds",
	"remaining is above the limit",
	"a count of -1 or 0 means unknown or unlimited",
	"a policy without its number",
	"two hints disagree",
	"the date is not in a form that HTTP allows",
	"a lock or a billing state, not a limit",
	"a cached answer: its counts are not ours",
	"retry-after looks like a unix time",
	"a unix time where seconds left belong",
	"taken for a limit by a proxy's stock page only",
	"the service says that its capacity is reduced",
}

// Append appends a sentence for each note to dst.
func (n Notes) Append(dst []string) []string {
	for i, s := range noteNames {
		if n&(1<<i) != 0 {
			dst = append(dst, s)
		}
	}
	return dst
}

// Strings is a sentence for each note, in a fixed order; nil for none.
func (n Notes) Strings() []string { return n.Append(nil) }

// Text is the field's own text, cut to RawMax bytes. Bytes that a terminal
// would act on, and bytes outside ASCII, are escaped as in Go source.
func (h *Hint) Text() string { return printable(h.Raw[:min(int(h.RawLen), RawMax)]) }

// Title is the policy's name, escaped like [Hint.Text]; it may be empty.
func (p *Policy) Title() string { return printable(p.Name[:min(int(p.NameLen), len(p.Name))]) }

func printable(b []byte) string {
	for _, c := range b {
		if c < 0x20 || c >= 0x7f {
			q := strconv.AppendQuoteToASCII(nil, string(b))
			return string(q[1 : len(q)-1])
		}
	}
	return string(b)
}
