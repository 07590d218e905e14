package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
)

func newReplayStatsCmd(a *app) *cobra.Command {
	var out *output
	var t *traceFlags
	cmd := &cobra.Command{
		Use:   "stats TRACE",
		Short: "Say what a trace holds",
		Long: `Reads a trace and counts: calls, keys, how long, how fast, the busiest second and
the busiest keys, what the trace says became of its calls, and what in it cannot
be read. TRACE may be - for stdin.`,
		Example: `  weir replay stats access.log
  weir replay stats app.ndjson --key-field user.id --json`,
		Args: argNames("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			tr, err := t.open(cmd.Context(), a, args[0], nil)
			if err != nil {
				return err
			}
			defer tr.close()
			s, err := replay.Measure(cmd.Context(), tr.Source, tr.name, t.hidden())
			if err != nil {
				return traceError(args[0], err)
			}
			if s.Trace.Calls == 0 && !s.Interrupted {
				return emptyTrace(args[0], &s.Trace)
			}
			err = out.write(a, func(w io.Writer) error {
				if out.format == "json" {
					return writeJSON(w, s)
				}
				return writeStats(w, s)
			})
			if err == nil && s.Interrupted {
				return errInterrupted
			}
			return err
		},
	}
	t = newTraceFlags(cmd.Flags())
	t.newKeyNames(cmd.Flags())
	out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

func writeStats(w io.Writer, s *replay.Stats) error {
	fmt.Fprint(w, replayText(&report.Replay{Trace: s.Trace}))
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "%-12s %s\n", label, fmt.Sprintf(format, args...))
	}
	line("from", "%s", s.From)
	line("to", "%s", s.To)
	line("rate", "%.1f calls a second on average; at most %s in the second from %s", s.MeanPerS, report.Count(s.PeakCalls), s.PeakAt)
	line("cost", "%s units, %s in one call at most", report.Count(s.Cost), report.Count(s.MostCost))
	if s.Admitted+s.Refused > 0 {
		line("recorded", "admitted %s, refused %s", report.Count(s.Admitted), report.Count(s.Refused))
	}
	keys := plural(int(s.Keys), "key")
	if s.KeysOver {
		keys = "at least " + keys
	}
	line("keys", "%s", keys)
	for _, k := range s.Busiest {
		line("", "%s: %s calls, at most %s in a second", k.Key, report.Count(k.Calls), report.Count(k.PeakPerS))
	}
	for _, sc := range s.Scripts {
		line("script", "%s: %s calls", report.Clean(sc.SHA), report.Count(sc.Calls))
	}
	return nil
}
