package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

// serveOptions are the flags as they were typed; config makes sense of them.
type serveOptions struct {
	limit                string
	gateways             int
	design               designFlag
	listen               string
	allowRemote          bool
	unix                 string
	tls                  gateway.TLS
	certOut              string
	keyBy                string
	keyHeader, keyText   string
	keyNames             string
	cost                 gateway.Cost
	dialect              string
	latency              time.Duration
	refusalLatency       time.Duration
	upstream             string
	wrong                []string
	faults               gateway.Faults
	allowReset           bool
	store                *storeOptions
	identity             *identityOptions
	observe              *observeOptions
	runFor               time.Duration
	portsFile            string
	seed                 *seed
	quiet                bool
	out                  *output
	keyHeaderFlag        func() bool // whether --key-header was given
	refusalLatencyIsSame func() bool // whether --refusal-latency was left out
	designGiven          func() bool
}

// stopGrace is how much longer than its latency a request may take to finish
// once the fleet stops.
const stopGrace = 5 * time.Second

func newServeCmd(a *app) *cobra.Command {
	o := serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a rate-limited endpoint, right or wrong on purpose",
		Long: `Starts a fleet of gateways that put one limit in front of an echo or of an
upstream. Their addresses go to stderr, one a line, and then where the limit is
kept.

Every gateway answers GET /-/counts with the fleet's own books: offered,
admitted and refused, in all, per gateway and for the busiest keys (?top=N).
A request is counted once, when it is decided, whatever happens to its
connection. GET /-/healthz says how it is. Both answer this machine only.

--design says how the gateways share the limit: each grants all of it (local),
each its part (exact-shares), one owner per key decides (sticky), or one store
does (central). With one store a gateway may answer refusals again by itself
(deny-cache), and hold tokens of a bucket that it spends by itself (leases).

The store is in this process's memory unless --redis names another; then
central is the default, and --on-failure says what happens while Redis does not
answer: each gateway goes on with its share of the limit (local), admits (open)
or refuses (closed). --rules-from serves a file of rules instead of one limit,
or those that are in Redis, and follows their changes without dropping a
request; --admin lets operators read and change them.

--metrics, --decision-log and --meter show from outside what is decided, why,
and what each key used. weir serve why and weir serve metered read the last two.

--wrong makes a mistake on purpose, and may be given more than once:
  fast-clock=DURATION    the first gateway's clock is ahead, and believed
  clock-skew=DURATION    the clocks are spread this far apart, and believed
  race[=DURATION]        reads and writes a bucket in two steps, this far apart
  expire-once[=N]        INCRBY and EXPIRE in two calls; each Nth dies between
  expire-refresh         EXPIRE on every call, so that a window never ends
  two-calls              each of a request's limits is asked on its own
  version-in-key         each version of the rules has buckets of its own
  retry-after-down       Retry-After rounded down
  no-retry-after         no Retry-After; a dialect's own reset field stays
  status-503             refuses with 503 instead of 429
  count-refusals         refusals use the limit up as well
  forgeable-key[=HEADER] believes X-Forwarded-For, or another header

It serves until --for is over or an interrupt comes, lets requests in progress
finish, and prints what it saw. Ending a run without --for by Ctrl-C is exit 0.`,
		Example: `  weir serve --limit 10/s,burst=20 --gateways 20 --design local --latency 100ms --for 10s
  weir serve --listen 127.0.0.1:0 --limit 5/s,burst=5 --wrong retry-after-down --for 10s --json
  weir serve --redis embedded --gateways 20 --limit 1000/s,burst=2000 --design leases,deny-cache --for 10s`,
		Args: argNames(),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.limit, "limit", "10/s,burst=20", "the `LIMIT`: what one key is promised, such as 10/s,burst=20 or fixed-window:limit=600,window=60s")
	fs.IntVar(&o.gateways, "gateways", 1, "the `NUMBER` of gateways that share the limit")
	fs.Var(&o.design, "design", "how they share it: "+designNames())
	fs.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`HOST:PORT` of the first gateway, the others follow; port 0 takes free ones")
	fs.BoolVar(&o.allowRemote, "allow-remote", false, "let --listen name an address that other machines can reach")
	fs.StringVar(&o.unix, "unix", "", "listen on a unix socket at this `PATH` instead (PATH.1, PATH.2, … for several gateways)")
	fs.BoolVar(&o.tls.On, "tls", false, "serve HTTPS, with a certificate made for the run unless --cert names one")
	fs.StringVar(&o.tls.CertFile, "cert", "", "certificate `FILE` (PEM), with --cert-key")
	fs.StringVar(&o.tls.KeyFile, "cert-key", "", "key `FILE` of --cert (PEM)")
	fs.StringVar(&o.certOut, "cert-out", "", "write the certificate that was made to this `FILE`, for clients to trust")
	fs.Var(newChoice(&o.keyBy, "header", "address", "path", "constant"), "key-by", "what the limit counts by")
	fs.StringVar(&o.keyHeader, "key-header", "X-API-Key", "the `NAME` of the header with the key; without it a caller's address is the key")
	fs.StringVar(&o.keyText, "key-constant", "all", "the `KEY` of everybody with --key-by constant")
	fs.Var(newChoice(&o.keyNames, "auto", "plain", "hash"), "key-names", "how keys are shown; auto hides real callers' keys, that is with --upstream, --allow-remote or --keys-file")
	fs.StringVar(&o.cost.Header, "cost-header", "", "header `NAME` with a request's cost")
	fs.StringVar(&o.cost.Query, "cost-query", "", "query parameter `NAME` with a request's cost")
	fs.Int64Var(&o.cost.Max, "max-cost", 1_000_000, "the highest `COST` that a request may name")
	fs.StringVar(&o.dialect, "dialect", dialect.Styles()[0], "the `DIALECT` of header fields about the limit: "+strings.Join(dialect.Styles(), ", "))
	fs.DurationVar(&o.latency, "latency", 0, "the `DURATION` that an answer takes")
	fs.DurationVar(&o.refusalLatency, "refusal-latency", 0, "the `DURATION` that a refusal takes (default the same as --latency)")
	fs.StringVar(&o.upstream, "upstream", "", "pass admitted requests on to this `URL` instead of echoing")
	fs.StringArrayVar(&o.wrong, "wrong", nil, "make this `MISTAKE` on purpose (repeatable)")
	fs.Float64Var(&o.faults.Before, "fault-before", 0, "`SHARE` of connections to cut before the request counts, from 0 to 1")
	fs.Float64Var(&o.faults.After, "fault-after", 0, "`SHARE` of answers to cut in the middle, from 0 to 1")
	fs.BoolVar(&o.allowReset, "allow-reset", false, "let POST /-/reset start counts and limits afresh")
	fs.DurationVar(&o.runFor, "for", 0, "stop after this `DURATION` (default: on Ctrl-C)")
	fs.StringVar(&o.portsFile, "ports-file", "", "write the gateways' addresses to this `FILE`, one a line, once they answer")
	o.store = newStoreOptions(fs)
	o.identity = newIdentityOptions(fs)
	o.observe = newObserveOptions(fs)
	o.seed = newSeed(fs)
	fs.BoolVarP(&o.quiet, "quiet", "q", false, "no addresses on stderr, only errors")
	o.out = newOutput(fs, "text", "json", "csv")
	o.keyHeaderFlag = func() bool { return fs.Changed("key-header") }
	complete(cmd, "design", func() []string { return strings.Split(designNames(), " | ") }, cobra.ShellCompDirectiveNoFileComp)
	complete(cmd, "dialect", dialect.Styles, cobra.ShellCompDirectiveNoFileComp)
	complete(cmd, "wrong", mistakes, cobra.ShellCompDirectiveNoFileComp)
	o.designGiven = func() bool { return fs.Changed("design") }
	o.refusalLatencyIsSame = func() bool { return !fs.Changed("refusal-latency") }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), a, o, repeatLine(cmd)) }
	cmd.AddCommand(newServeRulesCmd(a), newServeWhyCmd(a), newServeMeteredCmd(a))
	return cmd
}

// designFlag reads a design, the parts of a combination in any order.
type designFlag struct{ gateway.Design }

func (d *designFlag) Type() string { return "DESIGN" }

// mistakes are the names that --wrong takes, without their values.
func mistakes() []string {
	var names []string
	for _, w := range gateway.WrongNames() {
		name, _, _ := strings.Cut(w, "=")
		names = append(names, strings.TrimSuffix(name, "["))
	}
	return names
}

func designNames() string {
	var names []string
	for _, d := range gateway.Designs() {
		names = append(names, d.String())
	}
	return strings.Join(names, " | ")
}

func (d *designFlag) Set(s string) (err error) {
	d.Design, err = gateway.ParseDesign(s)
	return err
}

// config reads the options' texts.
func (o *serveOptions) config(seed int64) (c gateway.Config, err error) {
	c = gateway.Config{
		Gateways: o.gateways, Listen: o.listen, AllowRemote: o.allowRemote, Unix: o.unix, TLS: o.tls,
		Key: gateway.Key{Header: o.keyHeader, Constant: o.keyText}, Cost: o.cost,
		Latency: o.latency, RefusalLatency: o.refusalLatency, Faults: o.faults,
		Reset: o.allowReset, Seed: seed,
	}
	c.Faults.Seed = seed
	if o.runFor < 0 {
		return c, usagef("weir serve --for 30s", "--for %v is negative", o.runFor)
	}
	if o.gateways < 1 {
		return c, usagef("weir serve --gateways 1", "--gateways %d is below 1", o.gateways)
	}
	if o.cost.Max < 1 {
		return c, usagef("weir serve --max-cost 1000", "--max-cost %d is below 1", o.cost.Max)
	}
	if o.refusalLatency < 0 {
		return c, usagef("weir serve --refusal-latency 0s", "--refusal-latency %v is negative", o.refusalLatency)
	}
	if !o.refusalLatencyIsSame() && o.refusalLatency == 0 {
		c.RefusalLatency = -1
	}
	if o.keyBy != "header" && o.keyHeaderFlag() {
		return c, usagef("weir serve --key-header "+o.keyHeader, "--key-header says nothing with --key-by %s", o.keyBy)
	}
	if o.certOut != "" && (!o.tls.On || o.tls.CertFile != "") {
		return c, usagef("weir serve --tls --cert-out "+o.certOut, "--cert-out writes the certificate that --tls makes, and none is made")
	}
	if err := o.store.config(&c); err != nil {
		return c, err
	}
	if err := o.identity.config(&c); err != nil {
		return c, err
	}
	if o.store.operate.rulesFrom == "" {
		if c.Limit, c.Judge, err = parseLimit(o.limit); err != nil {
			return c, err
		}
		if c.Judge == nil {
			return c, usagef("weir serve --limit 10/s,burst=20", "--limit is empty")
		}
	}
	c.Design = o.design.Design
	if o.store.redis.given() && !o.designGiven() {
		c.Design = gateway.Central
	}
	if c.Key.By, err = gateway.ParseKeyBy(o.keyBy); err != nil {
		return c, serveError(err)
	}
	if c.Dialect, err = dialect.ParseStyle(o.dialect); err != nil {
		return c, usageError(err, "weir serve --dialect "+dialect.Styles()[0])
	}
	for _, w := range o.wrong {
		if err := c.Wrong.Set(w); err != nil {
			return c, serveError(err)
		}
	}
	if o.upstream != "" {
		if c.Upstream, err = url.Parse(o.upstream); err != nil {
			return c, usagef("weir serve --upstream http://127.0.0.1:9000", "--upstream is not a URL")
		}
	}
	c.HashKeys = o.keyNames == "hash" || o.keyNames == "auto" && (o.upstream != "" || o.allowRemote || c.KeysFile != "")
	c.Observe.Metrics = o.store.operate.admin != ""
	return c, o.observe.config(&c, o.store.redis, seed)
}

func runServe(ctx context.Context, a *app, o serveOptions, repeat func(seed int64) string) error {
	seed := o.seed.resolve(a)
	c, err := o.config(seed)
	if err != nil {
		return err
	}
	if err := o.out.check(); err != nil {
		return err
	}
	store, where, done, err := o.store.open(ctx, a)
	if err != nil {
		return err
	}
	defer done()
	c.Redis, c.Notice = store, notice(a)
	operation, set, err := o.store.operate.read(ctx, a, store, max(c.Gateways, c.Fleet), o.quiet)
	if err != nil {
		return err
	}
	c.Rules = set
	closeLog, err := o.observe.open(ctx, a, o.store.redis, &c)
	if err != nil {
		return err
	}
	defer closeLog()
	f, err := gateway.New(c)
	if err != nil {
		return serveError(err)
	}
	if err := f.Start(); err != nil {
		return serveError(err)
	}
	failed := announce(a, f, &o, where)
	if failed == nil {
		failed = operation.start(ctx, a, o.store.operate, f, o.quiet)
	}
	interrupted, served := false, failed == nil
	if served {
		interrupted, failed = untilOver(ctx, f, operation, o.runFor)
	}

	stop, cancel := context.WithTimeout(a.cut, max(c.Latency, c.RefusalLatency)+c.StoreTimeout+stopGrace)
	defer cancel()
	if err := errors.Join(operation.stop(stop), f.Stop(stop)); failed == nil && err != nil {
		failed = reachError(err, "")
	}
	if !served {
		return failed
	}
	// What was served is reported whatever ended it.
	res, err := f.Result(report.Meta{Name: f.Name(), Seed: seed, Repeat: repeat(seed), Interrupted: interrupted})
	if err != nil {
		return internalError(err)
	}
	err = o.out.write(a, func(w io.Writer) error {
		switch o.out.format {
		case "json":
			return report.WriteJSON(w, res)
		case "csv":
			return report.WriteCSV(w, res)
		}
		return writeServed(w, res, f.Counts(0), a.width())
	})
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return err
	case interrupted:
		return errInterrupted
	}
	return nil
}

// announce tells people and scripts where the fleet listens, and where its
// store is when that is news.
func announce(a *app, f *gateway.Fleet, o *serveOptions, where string) error {
	urls := f.URLs()
	if o.certOut != "" {
		if err := writeOutFile(o.certOut, func(w io.Writer) error { _, err := w.Write(f.Certificate()); return err }); err != nil {
			return err
		}
	}
	lines := func(w io.Writer) error {
		for _, u := range urls {
			if _, err := fmt.Fprintln(w, u); err != nil {
				return err
			}
		}
		return nil
	}
	if o.portsFile != "" {
		if err := writeOutFile(o.portsFile, lines); err != nil {
			return err
		}
	}
	if !o.quiet {
		ctrlC := ""
		if a.stderrTTY {
			ctrlC = " Ctrl-C ends it and prints what it saw."
		}
		_ = lines(a.stderr) // nothing is left to tell it to
		if where != "" {
			fmt.Fprintln(a.stderr, where)
		}
		fmt.Fprintf(a.stderr, "%s, kept in %s.%s\n", f.Name(), o.store.kept(), ctrlC)
		if c := f.Caution(); c != "" {
			fmt.Fprintln(a.stderr, c)
		}
		if o.store.redis.given() {
			fmt.Fprintf(a.stderr, "While Redis does not answer, %s.\n", f.WithoutStore())
		}
	}
	return nil
}

// untilOver waits for the end of the run. An interrupt is how a run without a
// duration is meant to end.
func untilOver(ctx context.Context, f *gateway.Fleet, op *operation, d time.Duration) (interrupted bool, err error) {
	var over <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
		return false, nil
	case <-ctx.Done():
		return d > 0, nil
	case err := <-f.Failed():
		return false, reachError(err, "weir serve --listen 127.0.0.1:0")
	case err := <-op.failed():
		return false, reachError(err, "weir serve --admin 127.0.0.1:0")
	}
}

// serveError types an error of setting the fleet up.
func serveError(err error) error {
	var config *gateway.ConfigError
	var share *limit.SpecError // the limit is right, its part for a gateway is not
	if typed, ok := keysError(err); ok {
		return typed
	}
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return reachError(err, "a file that is there and that this user may read")
	case errors.As(err, &share):
		return usageError(err, "weir serve --design local")
	case errors.As(err, &config):
		return usageError(err, "")
	case errors.Is(err, gateway.ErrRemote):
		return usageError(err, "add --allow-remote if they may, or --listen 127.0.0.1:8080")
	}
	return handlesOr(err, "weir serve --listen 127.0.0.1:0")
}
