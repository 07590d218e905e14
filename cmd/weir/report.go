package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/report"
)

func newReportCmd(a *app) *cobra.Command {
	var (
		out      *output
		console  *console
		checks   *[]string
		limitArg string
	)
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Report on a saved run again, by another promise, or compare several",
		Long: `Reads the events that weir load --events wrote and makes the whole report from
them again: same figures, same checks, same findings. --limit judges the run by
another promise than its own. A file that was cut off is read as far as it goes,
and the report says so. What --json wrote is read too; it is judged already, so
that --limit cannot judge it again.

Several files are put side by side: what each came to, and a table of figures.
JSON and CSV have every figure of each.`,
		Example: `  weir report herd.ndjson
  weir report before.ndjson after.ndjson
  weir report herd.ndjson --limit 20/s,burst=40 --check 'refused_share<50%' --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return argNames("FILE")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return compareSaved(a, args, limitArg, *checks, out)
			}
			r, err := reportOn(args[0], limitArg, *checks)
			if err != nil {
				return err
			}
			err = out.write(a, func(w io.Writer) error {
				return renderResult(a, w, r, out, console)
			})
			if err != nil {
				return err
			}
			return verdictError(r)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&limitArg, "limit", "", "judge by this promise, such as `10/s,burst=20` (default: the run's own)")
	checks = newChecks(fs)
	console = newConsole(fs)
	out = newOutput(fs, "text", "json", "csv", "junit")
	return cmd
}

// reportOn judges a saved run.
func reportOn(path, limitText string, exprs []string) (*report.Result, error) {
	_, promise, err := parsePromise(limitText)
	if err != nil {
		return nil, err
	}
	checks, err := parseChecks(exprs)
	if err != nil {
		return nil, err
	}
	r, err := readRun(path, promise)
	if err != nil {
		return nil, err
	}
	r.AddChecks(checks)
	return r, nil
}

// readRun reads the events of a run, or its result.
func readRun(path string, promise *report.Promise) (*report.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unopened(err, "weir load http://127.0.0.1:8080/ --events "+shellQuote(path))
	}
	defer f.Close()
	in, err := savedReader(f)
	if err != nil {
		return nil, usageError(fmt.Errorf("%s: %w", path, err), "gunzip --keep "+shellQuote(path))
	}
	if isResult(in) {
		if promise != nil {
			return nil, usageError(fmt.Errorf("%s: %w", path, errLimitOnResult), "weir report "+shellQuote(path))
		}
		r, err := report.ReadResult(in)
		if err != nil {
			return nil, usageError(fmt.Errorf("%s: %w", path, err), savedHint)
		}
		return r, nil
	}
	saved, err := report.NewEventReader(in)
	if err != nil {
		return nil, savedError(path, err)
	}
	r, err := report.Rebuild(saved, promise)
	if err != nil {
		return nil, savedError(path, err)
	}
	return r, nil
}

var errPacked = errors.New("it is packed with gzip")

// savedReader reads a saved run, past the mark that editors put before UTF-8.
func savedReader(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(3)
	switch {
	case string(head) == "\xef\xbb\xbf":
		_, _ = in.Discard(len(head))
	case strings.HasPrefix(string(head), "\x1f\x8b"):
		return nil, errPacked
	}
	return in, nil
}

// isResult reports whether in holds an indented document and not lines of
// events: its first line is a brace alone.
func isResult(in *bufio.Reader) bool {
	head, _ := in.Peek(512)
	line, _, _ := strings.Cut(string(head), "\n")
	return strings.TrimSpace(line) == "{"
}

// compareSaved puts several saved runs side by side.
func compareSaved(a *app, paths []string, limitText string, exprs []string, out *output) error {
	if len(exprs) > 0 {
		return usagef("weir report "+shellQuote(paths[0])+" --check "+shellQuote(exprs[0]), "--check judges one run, and there are %d files", len(paths))
	}
	if out.format == "junit" {
		return usagef("--format json", "--format junit is the result of one run, and there are %d files", len(paths))
	}
	_, promise, err := parsePromise(limitText)
	if err != nil {
		return err
	}
	var runs savedRuns
	for _, path := range paths {
		r, err := readRun(path, promise)
		if err != nil {
			return err
		}
		runs = append(runs, savedRun{path, r.Name, r.Verdict, report.Headline(r), report.Figures(r)})
	}
	return out.write(a, func(w io.Writer) error { return runs.write(w, out.format, a.width()) })
}

const savedHint = "weir report takes what weir load --events FILE or --json --out FILE wrote"

func savedError(path string, err error) error {
	var se *report.SavedError
	if errors.As(err, &se) {
		return usageError(fmt.Errorf("%s: %w", path, err), savedHint)
	}
	return reachError(err, savedHint)
}

// parseChecks reads --check.
func parseChecks(exprs []string) ([]report.CheckExpr, error) {
	return eachCheck(exprs, report.ParseCheck, "--check 'refused_share<5%'")
}

// eachCheck reads --check with parse. hint is for where no known figure is near
// what was typed.
func eachCheck(exprs []string, parse func(string) (report.CheckExpr, error), hint string) ([]report.CheckExpr, error) {
	var checks []report.CheckExpr
	for _, e := range exprs {
		c, err := parse(e)
		if err != nil {
			var ce *report.CheckError
			if errors.As(err, &ce) && len(ce.Near) > 0 {
				hint = fmt.Sprintf("--check '%s<5'", ce.Near[0])
			}
			return nil, usageError(err, hint)
		}
		checks = append(checks, c)
	}
	return checks, nil
}
