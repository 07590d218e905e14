package httpdo

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-cli/weir/report"
)

// StatusSet is a set of HTTP statuses; the zero value is empty.
type StatusSet struct{ bits [10]uint64 }

// ParseStatusSet reads `429,503` or `200-399`.
func ParseStatusSet(s string) (StatusSet, error) {
	var set StatusSet
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 100 || b > 599 || a > b {
			return StatusSet{}, fmt.Errorf("%q is not a status or a range of them between 100 and 599", part)
		}
		for ; a <= b; a++ {
			set.bits[a/64] |= 1 << (a % 64)
		}
	}
	return set, nil
}

// Has reports whether a status is in the set.
func (s *StatusSet) Has(status int) bool {
	return status >= 0 && status < 640 && s.bits[status/64]&(1<<(status%64)) != 0
}

func (s *StatusSet) empty() bool { return *s == StatusSet{} }

// Statuses lists the set in order.
func (s *StatusSet) Statuses() []int {
	var out []int
	for i := range 640 {
		if s.Has(i) {
			out = append(out, i)
		}
	}
	return out
}

// Refusal says which answers are refusals: a status, or any of the matches.
type Refusal struct {
	Status StatusSet
	// Header matches a field that is present and, when Value is not empty,
	// holds Value.
	Header Line
	// Body matches a text within the first bytes of the body.
	Body string
}

// verdict judges a complete answer.
func (c *Config) verdict(status int, headerMatch bool, body []byte) (report.Verdict, report.Class) {
	switch {
	case c.Refused.Status.Has(status), headerMatch,
		c.Refused.Body != "" && bytes.Contains(body, []byte(c.Refused.Body)):
		return report.Refused, report.NoError
	case c.Admitted.empty() && status >= 200 && status < 400, c.Admitted.Has(status):
		return report.Admitted, report.NoError
	}
	return report.Failed, report.BadStatus
}

// headerMatches reports whether one field is the refusal's.
func (r *Refusal) headerMatches(name, value []byte) bool {
	return r.Header.Name != "" && len(name) == len(r.Header.Name) && strings.EqualFold(string(name), r.Header.Name) &&
		bytes.Contains(value, []byte(r.Header.Value))
}
