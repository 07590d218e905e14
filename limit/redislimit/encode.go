package redislimit

import (
	"fmt"
	"math"
	"strconv"
)

const (
	// maxParts bounds the limits of one request.
	maxParts = 16
	// storeTime stands for the store's own clock where a time is asked for.
	storeTime = math.MinInt64
	// lastMicro is the latest time that is told apart, in the year 2116.
	lastMicro = 1 << 62 / 1000
)

// checkParts reports what makes parts no request.
func checkParts(parts []Part) error {
	if len(parts) > maxParts {
		return fmt.Errorf("redislimit: %d limits in one request, %d are the most", len(parts), maxParts)
	}
	for i := range parts {
		switch {
		case parts[i].Rule == nil:
			return fmt.Errorf("redislimit: part %d has no rule", i)
		case parts[i].Key == "":
			return fmt.Errorf("redislimit: part %d has no key", i)
		}
		if err := checkHolder(&parts[i]); err != nil {
			return fmt.Errorf("redislimit: part %d: %w", i, err)
		}
		for j := range parts[:i] {
			if parts[j].Key == parts[i].Key {
				return fmt.Errorf("redislimit: parts %d and %d are the same key %q, which would be charged once", j, i, parts[i].Key)
			}
		}
	}
	return nil
}

// encode appends a check's arguments to dst. now is in unix ns, or storeTime.
func encode(dst []any, now int64, parts []Part) (keys []string, args []any) {
	keys, dst = make([]string, len(parts)), append(dst, micros(now))
	for i := range parts {
		keys[i], dst = parts[i].Key, appendPart(dst, &parts[i])
	}
	return keys, dst
}

// micros is a time as scripts read it; those before 1970 and after 2116 count
// as the first and the last.
func micros(now int64) string {
	if now == storeTime {
		return ""
	}
	return strconv.FormatInt(min(max(now, 0)/1000, lastMicro), 10)
}

// appendPart cuts the cost to what can be told apart: below zero, and more
// than can ever pass.
func appendPart(dst []any, p *Part) []any {
	cost := min(max(p.Cost, -1), p.Rule.most+1)
	// Pointers to what never changes, since strings in an any are allocated.
	dst = append(dst, &p.Rule.letter, cost, p.ID)
	for i := range p.Rule.numbers {
		if p.Rule.numbers[i] == "" {
			dst = append(dst, "0")
		} else {
			dst = append(dst, &p.Rule.numbers[i])
		}
	}
	return dst
}
