package limit

import (
	"math"
	"strings"
)

// ParseCount reads a whole number from 0 up, with k and M for thousands and
// millions: `20`, `10k`, `1.5M`.
func ParseCount(s string) (int64, error) {
	d, reason := parseDecimal(strings.TrimSpace(s))
	if reason == "" && d.num%d.den != 0 {
		reason = "is not a whole number"
	}
	if reason != "" {
		return 0, &SpecError{Field: "count", Value: s, Reason: reason, Hint: "20"}
	}
	return d.num / d.den, nil
}

// decimal is num/den, den a power of ten.
type decimal struct{ num, den int64 }

// parseDecimal reads digits, an optional fraction, and an optional k or M. It
// returns the reason when it cannot.
func parseDecimal(s string) (d decimal, reason string) {
	if s == "" {
		return d, "is empty"
	}
	if s[0] == '-' {
		return d, "must not be negative"
	}
	scale := int64(1)
	digits := s
	switch s[len(s)-1] {
	case 'k':
		scale, digits = 1_000, s[:len(s)-1]
	case 'M':
		scale, digits = 1_000_000, s[:len(s)-1]
	case 'K', 'm':
		return d, "has a suffix that is not k (thousand) or M (million)"
	}
	whole, fraction, dot := strings.Cut(digits, ".")
	if whole == "" || dot && fraction == "" {
		return d, "is not a number"
	}
	fraction = strings.TrimRight(fraction, "0")
	d = decimal{0, 1}
	for i, part := range [2]string{whole, fraction} {
		for _, c := range []byte(part) {
			if c < '0' || c > '9' {
				return d, "is not a number"
			}
			digit := int64(c - '0')
			if d.num > (math.MaxInt64-digit)/10 || i == 1 && d.den > math.MaxInt64/10 {
				return d, "has more digits than fit in 64 bits"
			}
			d.num = d.num*10 + digit
			if i == 1 {
				d.den *= 10
			}
		}
	}
	// A suffix takes the point to the right before it makes the number larger.
	for scale > 1 && d.den > 1 {
		scale, d.den = scale/10, d.den/10
	}
	if d.num > math.MaxInt64/scale {
		return d, "has more digits than fit in 64 bits"
	}
	d.num *= scale
	return d, ""
}
