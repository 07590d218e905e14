package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// resultMax bounds a saved result: 64 MiB.
const resultMax = 64 << 20

// SchemaError is a document of another schema than the one that was wanted.
type SchemaError struct{ Got, Want string }

func (e *SchemaError) Error() string {
	return fmt.Sprintf("schema is %q, not %q", Clean(e.Got), e.Want)
}

// ReadResult reads what WriteJSON wrote.
func ReadResult(r io.Reader) (*Result, error) {
	raw, err := io.ReadAll(io.LimitReader(r, resultMax+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > resultMax {
		return nil, fmt.Errorf("longer than %d MiB", resultMax>>20)
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset >= int64(len(raw)) {
			return nil, errors.New("the document is cut off")
		}
		return nil, fmt.Errorf("not a result: %w", err)
	}
	if head.Schema != Schema {
		return nil, &SchemaError{head.Schema, Schema}
	}
	var out Result
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("not a result: %w", err)
	}
	return &out, nil
}

// View is a result as a viewer takes it: a snapshot at its end, without what
// only events can tell.
func (r *Result) View() *Snapshot {
	s := &Snapshot{At: clampNs(r.DurationS * 1e9), Totals: r.Totals, Series: r.PerSecond, Verdict: r.Verdict,
		Bound: r.Bound, Keys: r.PerKey, NKeys: len(r.PerKey), Targets: r.PerTarget, Status: r.Status,
		Errors: r.Errors, Hints: r.RetryAfter, Herd: r.Herd, Fairness: r.Fairness, Latency: r.Latency,
		Sender: r.Sender, Detail: &Detail{Waiting: -1}}
	t := newTrail(wholeTicks, true)
	t.Step = 1e9
	for _, sec := range r.PerSecond[:min(len(r.PerSecond), secondsMax)] {
		if sec.T < 0 || sec.T >= secondsMax {
			continue
		}
		t.at(sec.T * 1e9).add(Tick{tick(sec.Offered), tick(sec.Admitted), tick(sec.Refused), tick(sec.Failed)})
	}
	s.Detail.Fine, s.Detail.Whole = t.Trail, t.Trail
	for _, k := range r.PerKey {
		l := KeyLine{Key: k.Key, Offered: k.Offered, Admitted: k.Admitted, Refused: k.Refused, Failed: k.Failed,
			Most: -1, Bound: k.BoundIn["1s"], Excess: k.WorstExcess}
		if n, ok := k.MaxIn["1s"]; ok {
			l.Most = n
		}
		if k.Keys > 0 {
			s.NKeys += int(min(k.Keys, keysMax)) - 1
			l.Key = fmt.Sprintf("(%s others)", Count(k.Keys))
		} else if r.Bound != nil {
			l.Share = ratio(float64(k.Admitted), r.Bound.Allows)
		}
		s.Detail.Keys = append(s.Detail.Keys, l)
	}
	for _, f := range r.Findings {
		s.Detail.Findings = append(s.Detail.Findings, Found{f, s.At})
	}
	if r.Herd.Retries > 0 && r.Herd.AroundFromS >= 0 {
		s.Detail.Returns = Bins{clampNs(r.Herd.AroundFromS * 1e9), r.Herd.Around}
	}
	return s
}

// tick keeps a count from outside in a Tick's range.
func tick(n int64) uint32 { return uint32(min(max(n, 0), 1<<32-1)) }
