package main

import (
	"errors"
	"fmt"
	"io"
	"os"

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
		Use:   "report FILE",
		Short: "Report on a saved run again, with another promise or other checks",
		Long: `Reads the events that weir load --events wrote and makes the whole report from
them again: same figures, same checks, same findings. --limit judges the run by
another promise than its own. A file that was cut off is read as far as it goes,
and the report says so.`,
		Example: `  weir report herd.ndjson
  weir report herd.ndjson --limit 20/s,burst=40 --check 'refused_share<50%' --json`,
		Args: argNames("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
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
	f, err := os.Open(path)
	if err != nil {
		return nil, reachError(err, "weir load http://127.0.0.1:8080/ --events "+path)
	}
	defer f.Close()
	saved, err := report.NewEventReader(f)
	if err != nil {
		return nil, savedError(path, err)
	}
	r, err := report.Rebuild(saved, promise)
	if err != nil {
		return nil, savedError(path, err)
	}
	r.AddChecks(checks)
	return r, nil
}

func savedError(path string, err error) error {
	var se *report.SavedError
	if errors.As(err, &se) {
		return usageError(fmt.Errorf("%s: %w", path, err), "weir report takes what weir load --events FILE wrote")
	}
	return reachError(err, "weir report takes what weir load --events FILE wrote")
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
