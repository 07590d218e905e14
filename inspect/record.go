package inspect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kinds of a [Record].
const (
	RecordRules   = "rules"   // what gateways enforce
	RecordHistory = "history" // its last changes
	RecordMeter   = "meter"   // what one gateway let through, for metering
)

// Record is a key that weir keeps beside limits and that is none. It holds
// nothing of the rules' text, which has customers' keys in it. Times are unix
// ns; 0 is not known.
type Record struct {
	Kind string `json:"kind"`
	Key  string `json:"key"`
	Size int64  `json:"size"` // bytes of the rules, changes of a history, fields of a meter
	// Version, At, Who and Reason are of the rules in force, or of a history's
	// newest change. Who wrote rules stands in the history alone.
	Version int64  `json:"version,omitempty"`
	At      int64  `json:"at,omitempty"`
	Who     string `json:"who,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Strange is true of rules that their history does not know: somebody wrote
	// them by another way than a push.
	Strange bool `json:"strange,omitempty"`

	Sum string `json:"sum,omitempty"` // SHA-256 of the rules' text; "" when not all of it was read
}

// meterName is how the keys of meters begin.
const meterName = "rl:meter:"

var (
	rulesVersion = regexp.MustCompile(`(?:^|[\n{,])[ \t]*"?version"?[ \t]*:[ \t]*([0-9]{1,18})\b`)
	rulesList    = regexp.MustCompile(`(?:^|[\n{,])[ \t]*"?rules"?[ \t]*:`)
)

// Bounds of what a change of the rules says of itself, in bytes.
const (
	maxRecordWho    = 100
	maxRecordReason = 400
	maxRecordEntry  = 4 << 10
)

// RecordOf recognises one by what it holds. It is asked about keys that no
// layout fits.
func RecordOf(e *Entry) (Record, bool) {
	r := Record{Key: e.Key, Size: e.Len}
	if e.Problem != "" || !e.Exists() {
		return r, false
	}
	switch e.Type {
	case "string":
		r.Kind = RecordRules
		return r, r.rules(e)
	case "list":
		r.Kind = RecordHistory
		return r, r.history(e)
	case "hash":
		r.Kind = RecordMeter
		return r, strings.HasPrefix(e.Key, meterName) && isMeter(e.Fields)
	}
	return r, false
}

func (r *Record) rules(e *Entry) bool {
	found := rulesVersion.FindSubmatch(e.Text)
	// A long text may have its rules behind what was read.
	if found == nil || !e.Truncated && !rulesList.Match(e.Text) {
		return false
	}
	if !e.Truncated {
		sum := sha256.Sum256(e.Text)
		r.Sum = hex.EncodeToString(sum[:])
	}
	r.Version, _ = strconv.ParseInt(string(found[1]), 10, 64) // digits
	return r.Version > 0 && bytes.IndexByte(e.Text, 0) < 0
}

func (r *Record) history(e *Entry) bool {
	if len(e.Members) == 0 || len(e.Members[0].Name) > maxRecordEntry {
		return false
	}
	var c struct {
		Version int64     `json:"version"`
		At      time.Time `json:"at"`
		Who     string    `json:"who"`
		Reason  string    `json:"reason"`
		SHA256  string    `json:"sha256"`
	}
	if json.Unmarshal([]byte(e.Members[0].Name), &c) != nil || c.Version < 1 || c.At.IsZero() || len(c.SHA256) != 2*sha256.Size {
		return false
	}
	r.Version, r.At, r.Sum = c.Version, c.At.UnixNano(), c.SHA256
	r.Who, r.Reason = firstBytes(c.Who, maxRecordWho), firstBytes(c.Reason, maxRecordReason)
	return true
}

func several(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func firstBytes(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

// isMeter reports whether each field is a running total: five numbers, under a
// kind of record.
func isMeter(fields map[string]string) bool {
	for field, value := range fields {
		switch kind, _, _ := strings.Cut(field, " "); kind {
		case "begin", "total", "beat", "end":
		default:
			return false
		}
		if len(value) > 200 || strings.Count(value, " ") != 4 {
			return false
		}
		for part := range strings.SplitSeq(value, " ") {
			if _, err := strconv.ParseInt(part, 10, 64); err != nil {
				return false
			}
		}
	}
	return len(fields) > 0
}

// HistoryKey is where the changes of the rules under a key are kept, in the
// same slot of a cluster.
func HistoryKey(rules string) string {
	if strings.Contains(rules, "{") {
		return rules + ":history"
	}
	return "{" + rules + "}:history"
}

// By takes over from a history who wrote the rules.
func (r *Record) By(history *Record) {
	if r.Strange = r.Version != history.Version || r.Sum != "" && r.Sum != history.Sum; !r.Strange {
		r.At, r.Who, r.Reason = history.At, history.Who, history.Reason
	}
}

// Sentences say what it is, at an instant in unix ns.
func (r *Record) Sentences(now int64) []string {
	key := shownKey(r.Key)
	switch r.Kind {
	case RecordRules:
		out := []string{fmt.Sprintf("%s is no limit of a customer: it holds weir's rules, version %d, which its gateways follow.", key, r.Version)}
		switch {
		case r.Strange:
			out = append(out, "The history beside it does not know this text: it was written by another way than weir serve rules push.")
		case r.At != 0:
			out = append(out, "In Redis since "+r.change(now)+".")
		}
		return append(out, "It needs no time to live; weir serve rules check redis says whether it is sound.")
	case RecordHistory:
		return []string{
			fmt.Sprintf("%s is no limit of a customer: it holds who changed weir's rules, %s.", key, several(r.Size, "change")),
			fmt.Sprintf("The newest, to version %d, is of %s.", r.Version, r.change(now)),
			"It needs no time to live; weir serve rules history lists it.",
		}
	}
	return []string{fmt.Sprintf("%s is no limit of a customer: it holds what a gateway let through, for metering, in %s.", key, several(r.Size, "record")),
		"It is kept for 35 days after its last flush; weir serve metered adds such keys up."}
}

func (r *Record) change(now int64) string {
	text := shownTime(r.At)
	if ago := now - r.At; ago >= 0 {
		text += ", " + shownWait(ago) + " ago"
	}
	if r.Who != "" {
		text += ", by " + shownKey(r.Who)
	}
	if r.Reason != "" {
		text += `, because "` + shownKey(r.Reason) + `"`
	}
	return text
}
