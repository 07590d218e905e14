package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// loadOptions are the flags of `weir load`.
type loadOptions struct {
	app     *app
	out     *output
	console *console
	seed    *seed
	checks  *[]string

	traffic trafficFlags
	request requestFlags
	sender  senderFlags
	limit   string
	owned   []string
	events  string
	dryRun  bool
	predict bool
	answer  time.Duration
	tui     bool
	redis   *redisFlags
}

// trafficFlags say who calls, when, and what they do next.
type trafficFlags struct {
	profile     string
	duration    time.Duration
	clients     string
	keys        string
	keyPrefix   string
	keysFile    string
	rate        string
	think       time.Duration
	thinkSet    bool
	behaviour   string
	maxAttempts int
	maxWait     time.Duration
	requests    string
}

// requestFlags say what is sent and how the answer is read.
type requestFlags struct {
	method        string
	headers       []string
	query         []string
	body          string
	keyHeader     string
	refused       string
	refusedHeader string
	refusedBody   string
	admitted      string
}

// senderFlags say how it is carried.
type senderFlags struct {
	connections string
	mode        string
	spread      string
	threads     int
	timeout     time.Duration
	dropAfter   time.Duration
	maxBody     string
	http2       bool
	portable    bool
	insecure    bool
	caFile      string
	proxy       string
	unix        string
}

func newLoadCmd(a *app) *cobra.Command {
	opts := loadOptions{app: a}
	cmd := &cobra.Command{
		Use:   "load URL...",
		Short: "Send traffic that misbehaves like real clients and say what got through",
		Long: `Sends a profile's traffic at one or more URLs, counts exactly what was admitted
and refused, and compares it with the promise given by --limit.

Virtual clients keep their own retry state: after a refusal each does what its
behaviour says, from storming to honouring Retry-After with jitter. The plan is
fixed before the run (--dry-run prints it), every run is bounded in time and
count, and Ctrl-C ends it with its partial result: once to wait for answers
under way, twice to stop at once.

Values of --header, --query and --body may hold {key}, {client} and {seq}.
Several URLs are the gateways of one fleet; --spread says who is sent where.
Targets that are neither loopback nor private need --owned HOST above 10
requests a second: your word that you may load them.`,
		Example: `  weir load http://127.0.0.1:8080/ --profile retry-storm --limit 10/s,burst=20
  weir load http://127.0.0.1:8080/ --profile thundering-herd --behaviour retry-after,spread --duration 10s --events herd.ndjson
  weir load http://127.0.0.1:8080/ --rate 200/s --keys 10 --key-header X-API-Key --check 'refused_share<5%'
  weir load http://127.0.0.1:8080/ --profile thundering-herd --limit 100/s,burst=100 --tui`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return argNames("URL")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.traffic.thinkSet = cmd.Flags().Changed("think")
			return runLoad(cmd, &opts, args)
		},
	}
	fs := cmd.Flags()
	// Both spellings of the word are in use.
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "behavior" {
			name = "behaviour"
		}
		return pflag.NormalizedName(name)
	})
	opts.traffic.register(fs)
	opts.request.register(fs)
	opts.sender.register(fs)
	fs.StringVar(&opts.limit, "limit", "", "the promise to check, per key, such as `10/s,burst=20` or fixed-window:limit=600,window=60s")
	fs.StringArrayVar(&opts.owned, "owned", nil, "state that you may load this `HOST` (repeatable)")
	fs.StringVar(&opts.events, "events", "", "write one NDJSON record per attempt to this `FILE`")
	fs.BoolVar(&opts.dryRun, "dry-run", false, "print the plan and send nothing")
	fs.BoolVar(&opts.predict, "predict", false, "simulate the same plan against a limiter that keeps --limit, and show it beside what was measured")
	fs.DurationVar(&opts.answer, "answer-time", 0, "how long answers take in --predict (default: the measured mean)")
	fs.BoolVar(&opts.tui, "tui", false, "watch and steer the run on a dashboard; without a terminal it is as if left out")
	opts.redis = newRedisFlags(fs)
	fs.Lookup("redis").Usage += ": --tui shows beside what clients were told what the limiter keeps there"
	opts.checks = newChecks(fs)
	opts.seed = newSeed(fs)
	opts.console = newConsole(fs)
	opts.out = newOutput(fs, "text", "json", "csv", "junit")
	complete(cmd, "profile", builtinNames, cobra.ShellCompDirectiveDefault)
	complete(cmd, "behaviour", behaviourNames, cobra.ShellCompDirectiveNoFileComp)
	return cmd
}

func (f *trafficFlags) register(fs *pflag.FlagSet) {
	fs.StringVarP(&f.profile, "profile", "p", "steady", "traffic: a built-in `NAME` (weir profiles list) or a YAML file")
	fs.DurationVarP(&f.duration, "duration", "d", 0, "length of the run (default: the profile's)")
	fs.StringVarP(&f.clients, "clients", "c", "", "how `MANY` virtual clients, shared out over the profile's populations")
	fs.StringVar(&f.keys, "keys", "", "how `MANY` keys the clients use; 1 is one for all")
	fs.StringVar(&f.keyPrefix, "key-prefix", "", "what generated keys begin with")
	fs.StringVar(&f.keysFile, "keys-file", "", "take keys from the lines of this `FILE`")
	fs.StringVarP(&f.rate, "rate", "r", "", "first attempts per time, such as `200/s`; gives a profile without a rate a constant one")
	fs.DurationVar(&f.think, "think", 0, "pause of a closed-loop client between calls (default: the profile's)")
	fs.StringVarP(&f.behaviour, "behaviour", "b", "", "`WHAT` clients do after a refusal, such as storm or retry-after,spread (weir behaviours)")
	fs.IntVar(&f.maxAttempts, "max-attempts", 0, "most attempts of one call (default: the behaviour's)")
	fs.DurationVar(&f.maxWait, "max-wait", 5*time.Minute, "a client that should wait longer stops instead; 0 is no cap")
	fs.StringVarP(&f.requests, "requests", "n", "10M", "end the run after this `MANY` attempts")
}

func (f *requestFlags) register(fs *pflag.FlagSet) {
	fs.StringVarP(&f.method, "method", "X", "GET", "request `METHOD`")
	fs.StringArrayVarP(&f.headers, "header", "H", nil, "request header `'Name: value'` (repeatable)")
	fs.StringArrayVar(&f.query, "query", nil, "query parameter `name=value` (repeatable)")
	fs.StringVar(&f.body, "body", "", "request body, or @FILE")
	fs.StringVar(&f.keyHeader, "key-header", "X-API-Key", "header `NAME` that carries the key; empty sends none")
	fs.StringVar(&f.refused, "refused", "429", "`STATUSES` that are refusals, such as 429,503")
	fs.StringVar(&f.refusedHeader, "refused-header", "", "an answer with this header `'Name: text'` is a refusal as well")
	fs.StringVar(&f.refusedBody, "refused-body", "", "an answer with this `TEXT` in the first 4 KiB of its body is a refusal as well")
	fs.StringVar(&f.admitted, "admitted", "200-399", "`STATUSES` that count as let through; any other is a failure")
}

func (f *senderFlags) register(fs *pflag.FlagSet) {
	fs.StringVar(&f.connections, "connections", "", "how `MANY` connections may be open (default: one per client and URL, at most 4096)")
	fs.Var(newChoice(&f.mode, "keep-alive", "new", "per-client"), "connection-mode", "share connections, open one per attempt, or one per client")
	fs.Var(newChoice(&f.spread, "round-robin", "random", "sticky"), "spread", "which of several URLs an attempt goes to")
	fs.IntVar(&f.threads, "threads", 1, "sender threads; one sends about 100,000 requests a second")
	fs.DurationVar(&f.timeout, "timeout", 10*time.Second, "an attempt without a complete answer by then has failed")
	fs.DurationVar(&f.dropAfter, "drop-after", time.Second, "an arrival that could not leave by then counts as dropped")
	fs.StringVar(&f.maxBody, "max-body", "1M", "`BYTES` of one answer that are read; the connection is closed beyond")
	fs.BoolVar(&f.http2, "http2", false, "speak HTTP/2, over TLS or in the clear")
	fs.BoolVar(&f.portable, "portable", false, "use the portable sender even where the event loop could serve")
	fs.BoolVar(&f.insecure, "insecure", false, "do not verify the target's certificate")
	fs.StringVar(&f.caFile, "ca", "", "trust the certificates in this PEM `FILE`")
	fs.StringVar(&f.proxy, "proxy", "", "send through this proxy `URL`")
	fs.StringVar(&f.unix, "unix", "", "connect to this unix socket `PATH` instead of the URL's host")
}

func runLoad(cmd *cobra.Command, o *loadOptions, urls []string) error {
	ctx := cmd.Context()
	r, err := o.prepare(ctx, urls)
	if err != nil {
		return err
	}
	names := r.targetNames()
	if o.sender.unix != "" && !cmd.Flags().Changed("unix") {
		names = urls // unix:PATH, which no flag repeats
	}
	r.repeat = repeatLine(cmd, names...)(r.seed)
	if o.dryRun {
		return o.describe(r)
	}
	if err := o.out.check(); err != nil {
		return err
	}
	if err := checkApart(o.events, o.out); err != nil {
		return err
	}
	if o.events != "" {
		f, err := createEvents(o.events)
		if err != nil {
			return err
		}
		defer f.Close()
		r.events = f
	}
	if r.tui && o.redis.given() {
		done, err := r.watchStore(ctx, o.redis)
		if err != nil {
			return err
		}
		defer done()
	}
	result, err := r.do(ctx)
	if err != nil && result == nil {
		return err
	}
	if o.predict && err == nil {
		if perr := o.predictFor(ctx, r, result); perr != nil {
			err = perr
		}
	}
	return o.conclude(result, err)
}
