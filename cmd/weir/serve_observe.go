package main

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/gateway"
)

// meterRedis is the --meter of whoever wants totals in the store.
const meterRedis = "redis"

// observeOptions are the flags of weir serve about what is seen of it from
// outside.
type observeOptions struct {
	metrics     bool
	log, sample string
	meter       string
	changed     func(flag string) bool
}

func newObserveOptions(fs *pflag.FlagSet) *observeOptions {
	o := &observeOptions{changed: fs.Changed}
	fs.BoolVar(&o.metrics, "metrics", false, "answer GET /-/metrics on every gateway, for Prometheus on this machine")
	fs.StringVar(&o.log, "decision-log", "", "append decisions to this `FILE`, one JSON line each; - is stderr")
	fs.StringVar(&o.sample, "decision-sample", "1%", "`SHARE` of decisions in --decision-log, beside first refusals and counts of whoever is refused")
	fs.StringVar(&o.meter, "meter", "", "append what each key used to this `FILE`, whatever the limits do; redis keeps it in --redis")
	return o
}

// config fills in what the flags say, but for what has to be opened.
func (o *observeOptions) config(c *gateway.Config, store *redisFlags, seed int64) error {
	c.Observe.Open, c.Observe.Seed = o.metrics, seed
	if o.log == "" && o.changed("decision-sample") {
		return usagef("weir serve --decision-log decisions.ndjson --decision-sample "+o.sample, "--decision-sample says nothing without --decision-log")
	}
	share, err := parseShare(o.sample)
	if err != nil {
		return usagef("weir serve --decision-log decisions.ndjson --decision-sample 1%", "--decision-sample %q is not a share from 0%% to 100%%", o.sample)
	}
	c.Observe.LogSample = share
	if o.meter == meterRedis {
		switch {
		case !store.given():
			return usagef("weir serve --redis redis://127.0.0.1:6379 --meter redis", "--meter redis needs a --redis to keep totals in")
		case store.embedded():
			return usagef("weir serve --redis embedded --meter meter.ndjson", "--meter redis needs a Redis that outlives this process")
		}
	}
	return nil
}

// open opens what the fleet writes to. done closes what the fleet does not.
func (o *observeOptions) open(ctx context.Context, a *app, store *redisFlags, c *gateway.Config) (done func(), err error) {
	done = func() {}
	switch o.log {
	case "":
	case "-":
		c.Observe.Log = a.stderr
	default:
		f, err := os.OpenFile(o.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, reachError(err, "weir serve --decision-log FILE")
		}
		c.Observe.Log, done = f, func() { _ = f.Close() } // an error of writing was the fleet's to tell
	}
	switch o.meter {
	case "":
	case meterRedis:
		client, err := store.open(ctx, a)
		if err != nil {
			done()
			return nil, err
		}
		c.Observe.Meter = gateway.NewMeterRedis(client)
	default:
		sink, err := gateway.OpenMeterFile(o.meter)
		if err != nil {
			done()
			return nil, reachError(err, "weir serve --meter FILE")
		}
		c.Observe.Meter = sink
	}
	return done, nil
}

// parseShare reads 1% or 0.01.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, err
	}
	if percent {
		v /= 100
	}
	if !(v >= 0 && v <= 1) { // NaN fails as well
		return 0, strconv.ErrRange
	}
	return v, nil
}

// openInput opens a file to read, or stdin for -.
func openInput(a *app, path, hint string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unopened(err, hint)
	}
	return f, nil
}
