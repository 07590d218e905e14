package replay

import (
	"bytes"
	"slices"

	"github.com/weir-cli/weir/report"
)

// Call is one line of a trace: somebody asked for something. Its bytes belong
// to the reader and change at the next call.
type Call struct {
	At   int64 // unix ns, or ns since the start in a trace with times of its own
	Key  []byte
	Cost int64 // at least 1
	// Recorded is what the trace says became of the call; InFlight, the zero
	// value, is nothing.
	Recorded report.Verdict
	Line     int64 // from 1; 0 for a generated call
	// Values are those of Options.Fields, in their order; nil where missing.
	Values [][]byte
	// Keys and Args are those of a captured EVALSHA, or the columns of a CSV
	// without names from the fourth on.
	Keys, Args [][]byte

	unavailable bool // Recorded is Admitted for a status of 503
}

// record notes what the trace says became of the call.
func (c *Call) record(text []byte, refused []int64) {
	c.Recorded = verdictOf(text, refused)
	c.unavailable = c.Recorded == report.Admitted && string(text) == "503"
}

// verdictOf reads what a trace says became of a call: a status, where refused
// lists the statuses of a refusal, or a word.
func verdictOf(text []byte, refused []int64) report.Verdict {
	if len(text) == 3 && text[0] >= '1' && text[0] <= '5' {
		if n, ok := wholeNumber(text); ok {
			if slices.Contains(refused, n) {
				return report.Refused
			}
			return report.Admitted
		}
	}
	var low [16]byte
	if len(text) == 0 || len(text) > len(low) {
		return report.InFlight
	}
	for i, c := range text {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	switch string(low[:len(text)]) {
	case "1", "true", "yes", "ok", "pass", "passed", "allow", "allowed", "admit", "admitted", "accepted":
		return report.Admitted
	case "0", "false", "no", "deny", "denied", "refuse", "refused", "reject", "rejected", "limited", "throttled", "blocked":
		return report.Refused
	case "failed", "error":
		return report.Failed
	}
	return report.InFlight
}

// wholeNumber reads decimal digits, at most 18 of them.
func wholeNumber(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// maxCost bounds what one call may ask for.
const maxCost = 1_000_000_000

// costOf reads a cost; an empty one is 1.
func costOf(b []byte) (int64, bool) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || string(b) == "-" {
		return 1, true
	}
	n, ok := wholeNumber(b)
	return n, ok && n >= 1 && n <= maxCost
}
