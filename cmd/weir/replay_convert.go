package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/replay"
)

func newReplayConvertCmd(a *app) *cobra.Command {
	var (
		out       *output
		t         *traceFlags
		limitText string
		fields    []string
	)
	cmd := &cobra.Command{
		Use:   "convert [TRACE]",
		Short: "Write a trace of any form as CSV or NDJSON",
		Long: `Reads a trace of any form, or makes one of a profile, and writes one line per
call: t (seconds since 1970, or since the start where the trace counts so), key,
cost, the verdict if the trace has one, and the fields that --field names. Lines
that cannot be read are left out. TRACE may be - for stdin.`,
		Example: `  weir replay convert access.log --format ndjson --field path
  weir replay convert --profile retry-storm --duration 30s --limit 10/s,burst=20 --out storm.csv`,
		Args: atMost("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			if (path == "") == (t.profile == "") {
				return usagef(usageLine(cmd), "%sneeds TRACE or --profile, and not both", about(cmd))
			}
			if err := out.check(); err != nil {
				return err
			}
			spec, promise, err := parseLimit(limitText)
			if err != nil {
				return err
			}
			var against *limit.Spec
			if promise != nil {
				against = &spec
			}
			for _, f := range fields {
				if !replay.JSONField(f) {
					return usagef("--field path", "--field %q names no field", f)
				}
			}
			t.options.Fields = fields
			tr, err := t.open(cmd.Context(), a, path, against)
			if err != nil {
				return err
			}
			defer tr.close()
			var cut error
			err = out.writeOnce(a, func(w io.Writer) error {
				cut = replay.Convert(cmd.Context(), w, tr.Source, out.format, fields)
				return nil
			})
			switch {
			case err != nil:
				return err
			case cut != nil && cmd.Context().Err() != nil:
				return errInterrupted
			case cut != nil:
				return traceError(path, cut)
			}
			if seen := tr.Seen(); seen.Calls == 0 {
				p := replay.TraceOf(tr.name, &seen)
				return emptyTrace(path, &p)
			}
			return nil
		},
	}
	fs := cmd.Flags()
	t = newTraceFlags(fs)
	t.newProfileFlags(fs)
	fs.StringVar(&limitText, "limit", "", "the limit that a profile's clients run against, such as `10/s,burst=20`")
	fs.StringArrayVar(&fields, "field", nil, "write this `FIELD` of the trace too (repeatable)")
	out = newOutput(fs, "csv", "ndjson")
	return cmd
}
