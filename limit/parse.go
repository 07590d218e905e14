package limit

import (
	"errors"
	"strings"
	"time"
)

// ParseSpec reads a limit: `10/s,burst=20` for a token bucket, or
// `ALGORITHM:key=value,…` with
//
//	token-bucket     rate, burst
//	gcra             rate, burst
//	fixed-window     limit, window
//	sliding-log      limit, window
//	sliding-counter  limit, window
//	leaky-queue      rate, queue
//	leaky-meter      rate, burst (or capacity, the same)
//	concurrency      limit
//
// Rates are as in [ParseRate], counts as in [ParseCount], windows are Go
// durations. A burst left out is the rate a second rounded down, at least 1;
// nothing else may be left out. The result is valid. Every error is a
// *SpecError.
func ParseSpec(text string) (Spec, error) {
	name, rest, named := strings.Cut(text, ":")
	s := Spec{Algorithm: TokenBucket}
	if named {
		a, err := ParseAlgorithm(strings.TrimSpace(name))
		if err != nil {
			return Spec{}, err
		}
		s.Algorithm = a
	} else {
		rest = text
		if bare, _, _ := strings.Cut(text, ","); strings.TrimSpace(bare) == "" {
			return Spec{}, &SpecError{Value: text, Reason: "has no limit in it", Hint: syntaxes[TokenBucket].example}
		} else if a, err := ParseAlgorithm(strings.TrimSpace(bare)); err == nil {
			return Spec{}, &SpecError{Value: text, Reason: "names an algorithm without its numbers", Hint: syntaxes[a].example}
		}
	}
	seen := map[string]bool{}
	for i, item := range strings.Split(rest, ",") {
		field, value, ok := strings.Cut(item, "=")
		if !ok && i == 0 && !named {
			field, value = "rate", item
		} else if !ok {
			return Spec{}, &SpecError{Value: text, Reason: "has a part that is not key=value", Hint: syntaxes[s.Algorithm].example}
		}
		field, value = strings.TrimSpace(field), strings.TrimSpace(value)
		if field == "capacity" && s.Algorithm == LeakyMeter {
			field = "burst"
		}
		if seen[field] {
			return Spec{}, &SpecError{Field: field, Value: value, Reason: "is given twice", Hint: syntaxes[s.Algorithm].example}
		}
		seen[field] = true
		if err := s.set(field, value); err != nil {
			return Spec{}, err
		}
	}
	for _, field := range syntaxes[s.Algorithm].fields {
		switch {
		case seen[field]:
		case field == "burst":
			s.Burst = max(1, s.Rate.perSecond())
		default:
			return Spec{}, &SpecError{Field: field, Reason: "is missing", Hint: syntaxes[s.Algorithm].example}
		}
	}
	if err := s.Validate(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// set reads one field's value.
func (s *Spec) set(field, value string) error {
	syn := syntaxes[s.Algorithm]
	known := false
	for _, f := range syn.fields {
		known = known || f == field
	}
	if !known {
		return &SpecError{Field: field, Value: value, Reason: "is not a field of " + syn.name + ", which has " + strings.Join(syn.fields, " and "), Hint: syn.example}
	}
	var err error
	switch field {
	case "rate":
		s.Rate, err = ParseRate(value)
	case "window":
		s.Window, err = time.ParseDuration(value)
		if err != nil {
			reason := "is not a duration such as 60s or 1h30m"
			if strings.HasSuffix(value, "d") {
				reason = "is not a duration; days are written in hours"
			}
			return &SpecError{Field: field, Value: value, Reason: reason, Hint: syn.example}
		}
	default:
		var n int64
		n, err = ParseCount(value)
		switch field {
		case "burst":
			s.Burst = n
		case "queue":
			s.Queue = n
		case "limit":
			s.Limit = n
		}
	}
	var bad *SpecError
	if errors.As(err, &bad) {
		bad.Field, bad.Hint = field, syn.example
	}
	return err
}
