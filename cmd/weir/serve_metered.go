package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/limit/metering"
	"github.com/weir-cli/weir/report"
)

// meterSchema names the document of weir serve metered --json.
const meterSchema = "weir.meter/v1"

// meterDoc is what meters add up to. Fields may be added, none renamed.
type meterDoc struct {
	Schema    string              `json:"schema"`
	Newest    time.Time           `json:"newest"` // instant of the newest record
	Units     int64               `json:"units"`
	Keys      []metering.KeyTotal `json:"keys"`
	Instances []meterInstance     `json:"instances"`
	BadLines  int                 `json:"bad_lines"`
}

// meterInstance is one gateway process.
type meterInstance struct {
	metering.Instance
	// Lost: it was not heard of for --silent and did not say that it ended, so
	// what it admitted after its last flush is in no record.
	Lost bool `json:"lost"`
}

func newServeMeteredCmd(a *app) *cobra.Command {
	var (
		out    *output
		silent time.Duration
		asked  []string
		store  *redisFlags
	)
	cmd := &cobra.Command{
		Use:   "metered FILE…",
		Short: "Add up what each key used, from what meters wrote",
		Long: `Reads what weir serve --meter wrote, to files or to a Redis, and adds up what
each key used over all gateways. Records are running totals, so that one that is
there twice, late or missing in the middle changes nothing. Files and a --redis
count together.

--key shows one customer's alone, by the name that the customer has for you,
also where the meter hides it.

A gateway process that went without its end record is named: what it admitted
after its last flush is lost. Then, and when records are missing or contradict
one another, the exit code is 1.`,
		Example: `  weir serve metered meter.ndjson
  weir serve metered gw-1.ndjson gw-2.ndjson --json
  weir serve metered --redis redis://127.0.0.1:6379
  weir serve metered meter.ndjson --key k-7`,
		Args: cobra.ArbitraryArgs, // each is a file
	}
	fs := cmd.Flags()
	fs.DurationVar(&silent, "silent", 30*time.Second, "how long a gateway that has not ended may say nothing")
	fs.StringArrayVar(&asked, "key", nil, "show this `KEY` alone, as it is or as the meter hides it (repeatable)")
	store = newRedisFlags(fs)
	out = newOutput(fs, "text", "json", "csv")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		switch {
		case len(files) == 0 && !store.given():
			return usagef(usageLine(cmd), "no FILE and no --redis to read")
		case silent < 0:
			return usagef("weir serve metered FILE --silent 30s", "--silent %v is negative", silent)
		case store.embedded():
			return usagef(usageLine(cmd), "--redis embedded is empty: it lives as long as one weir serve")
		}
		doc, err := readMeters(cmd.Context(), a, files, store, silent)
		if err != nil {
			return err
		}
		if len(asked) > 0 {
			doc.Keys = doc.of(asked)
		}
		err = out.write(a, func(w io.Writer) error {
			switch out.format {
			case "json":
				return writeJSON(w, doc)
			case "csv":
				return writeMeterCSV(w, doc)
			}
			return writeMeter(w, doc, asked, a.width())
		})
		if err == nil && !doc.whole() {
			return errCheckFailed
		}
		return err
	}
	return cmd
}

// readMeters folds files and, when it is given, a Redis.
func readMeters(ctx context.Context, a *app, files []string, store *redisFlags, silent time.Duration) (*meterDoc, error) {
	var b metering.Book
	doc := &meterDoc{Schema: meterSchema}
	for _, path := range files {
		bad, err := readMeterFile(a, path, &b)
		if err != nil {
			return nil, err
		}
		doc.BadLines += bad
	}
	if store.given() {
		c, err := store.open(ctx, a)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		bad, err := gateway.ReadMeters(ctx, c, func(r metering.Record) { _ = b.Apply(r) }) // checked already
		if err != nil {
			return nil, redisError(err)
		}
		doc.BadLines += bad
	}
	doc.Newest, doc.Units, doc.Keys = b.Newest(), b.Units(), b.Keys()
	for _, in := range b.Instances() {
		doc.Instances = append(doc.Instances, meterInstance{in, in.Silent(a.now(), silent)})
	}
	return doc, nil
}

func readMeterFile(a *app, path string, b *metering.Book) (bad int, err error) {
	f, err := openInput(a, path, "weir serve --meter "+path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	good := 0
	bad, err = eachLine(f, func(line []byte) bool {
		var r metering.Record
		if json.Unmarshal(line, &r) != nil || b.Apply(r) != nil {
			return false
		}
		good++
		return true
	})
	switch {
	case err != nil:
		return bad, reachError(fmt.Errorf("%s: %w", path, err), "")
	case good == 0 && bad > 0:
		return bad, usagef("weir serve --meter FILE", "%s is no meter's file", path)
	}
	return bad, nil
}

// of are the totals of the keys that were asked for, by the names that they were
// asked by; 0 of one that is in no record.
func (d *meterDoc) of(asked []string) []metering.KeyTotal {
	by := make(map[string]*metering.KeyTotal, len(d.Keys))
	for i := range d.Keys {
		by[d.Keys[i].Key] = &d.Keys[i]
	}
	out := make([]metering.KeyTotal, 0, len(asked))
	for _, name := range asked {
		total := metering.KeyTotal{Key: name}
		for _, shown := range []string{name, gateway.HashedKey(name)} {
			if k := by[shown]; k != nil {
				total.Units += k.Units
				total.Requests += k.Requests
			}
		}
		out = append(out, total)
	}
	return out
}

// whole reports whether the totals are all there is to know.
func (d *meterDoc) whole() bool {
	for i := range d.Instances {
		if in := &d.Instances[i]; in.Lost || in.Missing > 0 || in.Contradicts {
			return false
		}
	}
	return true
}

// meterRows bounds the table of keys in text.
const meterRows = 50

func writeMeter(w io.Writer, d *meterDoc, asked []string, width int) error {
	say := func(format string, args ...any) { fmt.Fprintln(w, fold(fmt.Sprintf(format, args...), "", width)) }
	if len(d.Instances) == 0 {
		say("No meter wrote anything here.")
		return nil
	}
	who := plural(len(d.Keys), "key")
	if len(asked) > 0 {
		who = "All keys together"
	}
	say("%s used %s, counted by %s up to %s.", who, plural(int(d.Units), "unit"),
		plural(len(d.Instances), "gateway"), d.Newest.UTC().Format(time.RFC3339))
	if len(d.Keys) > 0 {
		fmt.Fprintln(w)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "key\tunits\trequests")
		for i, k := range d.Keys {
			if i == meterRows {
				fmt.Fprintf(table, "… and %s more\n", report.Count(int64(len(d.Keys)-i)))
				break
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", report.Clean(k.Key), report.Count(k.Units), report.Count(k.Requests))
		}
		table.Flush()
		fmt.Fprintln(w)
	}
	for i := range d.Instances {
		in := &d.Instances[i]
		name := fmt.Sprintf("gateway %d (%s)", in.Gateway, report.Clean(in.Name))
		last := in.Last.UTC().Format(time.RFC3339)
		switch {
		case in.Lost:
			say("LOST %s went without its end record: its last is of %s, and what it admitted after that is not in the totals.", name, last)
		case !in.Ended:
			say("open %s has not ended; its last record is of %s.", name, last)
		}
		if in.Missing > 0 {
			say("LOST %s counted %s that no record here has.", name, plural(int(in.Missing), "more unit"))
		}
		if in.Contradicts {
			say("WRONG %s contradicts itself: a total fell, or something followed its end. Two processes have its name, or a record is forged.", name)
		}
	}
	if d.BadLines > 0 {
		say("note: %s could not be read.", plural(d.BadLines, "line"))
	}
	return nil
}

func writeMeterCSV(w io.Writer, d *meterDoc) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"key", "units", "requests"}) // Error tells
	for _, k := range d.Keys {
		_ = c.Write([]string{report.Cell(k.Key), strconv.FormatInt(k.Units, 10), strconv.FormatInt(k.Requests, 10)})
	}
	c.Flush()
	return c.Error()
}
