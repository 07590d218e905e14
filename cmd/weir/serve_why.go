package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/journal"
)

func newServeWhyCmd(a *app) *cobra.Command {
	var (
		out          *output
		logs         []string
		since, until string
	)
	cmd := &cobra.Command{
		Use:   "why KEY",
		Short: "Say why a caller was refused, from a decision log",
		Long: `Reads what weir serve --decision-log wrote and says which rules held a caller,
at what rate, from whose limit, since when, and who refused: the store, a
refusal that was remembered, or what stands in for a store that does not answer.

KEY is the caller's key or address, as it is or as the log hides it. Logs of
several processes count together.`,
		Example: `  weir serve why k-7 --log decisions.ndjson
  weir serve why k-7 --log decisions.ndjson --since 14:00 --until 14:05
  weir serve why k-7 --log gw-1.ndjson --log gw-2.ndjson --since 2h --json`,
		Args: argNames("KEY"),
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&logs, "log", nil, "the decision log, a `FILE` or - for stdin (repeatable)")
	fs.StringVar(&since, "since", "", "only from this `TIME` on, such as 2h (ago), 14:00 (UTC) or 2026-08-01T14:00:00Z")
	fs.StringVar(&until, "until", "", "only up to this `TIME`")
	out = newOutput(fs, "text", "json")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(logs) == 0 {
			return usagef("weir serve why KEY --log decisions.ndjson", "no --log to read")
		}
		from, err := parseWhen("since", since, a.now())
		if err != nil {
			return err
		}
		to, err := parseWhen("until", until, a.now())
		if err != nil {
			return err
		}
		if _, clock := clockOfDay(until); clock && to.Before(from) {
			to = to.AddDate(0, 0, 1) // past midnight, or still to come
		}
		if !from.IsZero() && !to.IsZero() && to.Before(from) {
			return usagef("weir serve why KEY --log FILE --since 2h --until 1h", "--until %s is before --since %s", until, since)
		}
		q := journal.NewInquiry(gateway.ShownNames(args[0]), from, to)
		bad := 0
		for _, path := range logs {
			n, err := readJournal(a, path, q)
			if err != nil {
				return err
			}
			bad += n
		}
		answer := q.Answer()
		return out.write(a, func(w io.Writer) error {
			if out.format == "json" {
				return writeJSON(w, struct {
					Schema string `json:"schema"`
					Asked  string `json:"asked"`
					*journal.Answer
					BadLines int `json:"bad_lines"`
				}{whySchema, exact(args[0]), answer, bad})
			}
			return writeWhy(w, args[0], answer, bad, a.width())
		})
	}
	return cmd
}

// whySchema names the document of weir serve why --json.
const whySchema = "weir.why/v1"

// readJournal puts one log's lines to q. A file in which no line is one is
// something else.
func readJournal(a *app, path string, q *journal.Inquiry) (bad int, err error) {
	f, err := openInput(a, path, "weir serve --decision-log "+path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	good := 0
	bad, err = eachLine(f, func(line []byte) bool {
		l := journal.Parse(line)
		if l == nil {
			return false
		}
		good++
		q.Add(l)
		return true
	})
	switch {
	case err != nil:
		return bad, reachError(fmt.Errorf("%s: %w", path, err), "")
	case good == 0 && bad > 0:
		return bad, usagef("weir serve --decision-log FILE", "%s is no decision log", path)
	}
	return bad, nil
}

// clockForms are times of day, and dayForms times without a zone. Both are in
// UTC, as answers and logs show them.
var (
	clockForms = []string{"15:04", time.TimeOnly}
	dayForms   = []string{time.DateOnly, "2006-01-02 15:04", time.DateTime, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04Z"}
)

// parseWhen reads a time, or how long ago it is. A time of day is the last one
// that has been.
func parseWhen(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if t, ok := clockOfDay(text); ok {
		y, m, d := now.UTC().Date()
		t = time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	for _, form := range append([]string{time.RFC3339}, dayForms...) {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("weir serve why KEY --log FILE --"+flag+" 14:00", "--%s %q is neither a duration nor a time such as 14:00 or 2026-08-01T14:00:00Z", flag, text)
}

func clockOfDay(text string) (time.Time, bool) {
	for _, form := range clockForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
