package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/load/httpdo"
	"github.com/weir-cli/weir/profiles"
)

const (
	// defaultConnections is the most connections a run opens unasked.
	defaultConnections = 4096
	// spareHandles are kept for everything that is not a connection.
	spareHandles = 64
	// unixPathMax is what a socket's path may have at most on Linux.
	unixPathMax = 107
)

// proxySchemes are the proxies that the portable sender can speak to.
var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// prepare turns flags into a run that is ready to start.
func (o *loadOptions) prepare(ctx context.Context, args []string) (*loadRun, error) {
	targets, err := o.parseTargets(args)
	if err != nil {
		return nil, err
	}
	spec, promise, err := parsePromise(o.limit)
	if err != nil {
		return nil, err
	}
	switch {
	case o.predict && promise == nil:
		return nil, usagef("--predict --limit 10/s,burst=20", "--predict needs the --limit to simulate")
	case o.answer < 0, o.answer > 0 && !o.predict:
		return nil, usagef("--predict --answer-time 100ms", "--answer-time is a time above 0 and goes with --predict")
	}
	profile, err := o.traffic.open()
	if err != nil {
		return nil, err
	}
	r := &loadRun{app: o.app, console: o.console, name: profile.Name, profile: profile, promise: promise, spec: spec, seed: o.seed.resolve(o.app), threads: o.sender.threads, dropAfter: o.sender.dropAfter}
	if r.attempts, err = limit.ParseCount(o.traffic.requests); err != nil {
		return nil, usagef("--requests 1M", "--requests: %w", err)
	}
	if o.sender.threads < 1 || o.sender.threads > 256 {
		return nil, usagef("--threads 1", "--threads %d is not between 1 and 256", o.sender.threads)
	}
	if o.traffic.maxWait < 0 || o.sender.timeout <= 0 || o.sender.dropAfter <= 0 {
		return nil, usagef("weir load --help", "--timeout and --drop-after are durations above 0, and --max-wait is not below it")
	}
	r.limits = load.Limits{MaxWait: o.traffic.maxWait}
	if r.spread, err = load.ParseSpread(o.sender.spread); err != nil {
		return nil, usageError(err, "--spread round-robin")
	}
	if r.checks, err = parseChecks(*o.checks); err != nil {
		return nil, err
	}
	if err := r.compile(o.app.now()); err != nil {
		return nil, err
	}
	if err := o.checkOwned(ctx, targets, peakRate(r.plan)); err != nil {
		return nil, err
	}
	if r.http, err = o.httpConfig(targets); err != nil {
		return nil, err
	}
	if r.http.Connections, err = o.connections(r.plan, len(targets)); err != nil {
		return nil, err
	}
	if r.tui = o.tui && o.console.dashboard(o.app); r.tui {
		return r, nil
	}
	if o.console.progress(o.app) {
		r.progress = newProgress(o.app)
	}
	return r, nil
}

// open reads the profile and applies what the command line changes about it.
func (f *trafficFlags) open() (*profiles.Profile, error) {
	p, err := profiles.Open(f.profile)
	if err != nil {
		return nil, inputError(err)
	}
	over := profiles.Override{Duration: f.duration, KeyPrefix: f.keyPrefix, KeyFile: f.keysFile, Behaviour: f.behaviour}
	for _, c := range []struct {
		flag, text string
		into       *int
	}{{"clients", f.clients, &over.Clients}, {"keys", f.keys, &over.Keys}} {
		if c.text == "" {
			continue
		}
		n, err := limit.ParseCount(c.text)
		if err != nil || n < 1 || n > math.MaxInt32 {
			return nil, usagef("--"+c.flag+" 40", "--%s %q is not a count of at least 1", c.flag, c.text)
		}
		*c.into = int(n)
	}
	if f.rate != "" {
		if over.Rate, err = profiles.ParseRate(f.rate); err != nil {
			return nil, usagef("--rate 200/s", "--rate: %w", err)
		}
		if over.Rate <= 0 {
			return nil, usagef("--rate 200/s", "--rate %s is not above 0", f.rate)
		}
	}
	if f.thinkSet {
		over.Think = &f.think
	}
	if f.maxAttempts > 0 {
		over.MaxAttempts = &f.maxAttempts
	} else if f.maxAttempts < 0 {
		return nil, usagef("--max-attempts 3", "--max-attempts %d is below 0", f.maxAttempts)
	}
	if f.duration < 0 {
		return nil, usagef("--duration 30s", "--duration %v is below 0", f.duration)
	}
	p, err = p.Override(over)
	if err != nil {
		return nil, inputError(err)
	}
	return p, nil
}

// httpConfig is what the run sends and how it reads the answers.
func (o *loadOptions) httpConfig(targets []*url.URL) (httpdo.Config, error) {
	q, s := &o.request, &o.sender
	c := httpdo.Config{Targets: targets, Method: strings.ToUpper(q.method), KeyHeader: q.keyHeader, Timeout: s.timeout,
		Unix: s.unix, HTTP2: s.http2, Portable: s.portable, Refused: httpdo.Refusal{Body: q.refusedBody}}
	for _, h := range q.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			// Not repeated: what has no name may be a token.
			return c, usagef("--header 'Name: value'", "a --header has no name and colon")
		}
		c.Header = append(c.Header, httpdo.Line{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	for _, p := range q.query {
		name, value, _ := strings.Cut(p, "=")
		c.Query = append(c.Query, httpdo.Line{Name: name, Value: value})
	}
	var err error
	if c.Body, err = readBody(q.body); err != nil {
		return c, err
	}
	if c.Refused.Status, err = httpdo.ParseStatusSet(q.refused); err != nil {
		return c, usagef("--refused 429,503", "--refused: %w", err)
	}
	if c.Admitted, err = httpdo.ParseStatusSet(q.admitted); err != nil {
		return c, usagef("--admitted 200-399", "--admitted: %w", err)
	}
	if q.refusedHeader != "" {
		name, value, _ := strings.Cut(q.refusedHeader, ":")
		c.Refused.Header = httpdo.Line{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
	}
	if len(s.unix) > unixPathMax {
		return c, usagef("--unix with a shorter path", "--unix: a path of %d bytes; the most is %d", len(s.unix), unixPathMax)
	}
	n, err := limit.ParseCount(s.maxBody)
	if err != nil || n < 1 {
		return c, usagef("--max-body 1M", "--max-body %q is not a number of bytes", s.maxBody)
	}
	c.MaxBody = n
	c.Mode = map[string]httpdo.Mode{"keep-alive": httpdo.KeepAlive, "new": httpdo.NewConn, "per-client": httpdo.PerClient}[s.mode]
	if s.proxy != "" {
		if c.Proxy, err = url.Parse(s.proxy); err != nil || c.Proxy.Host == "" || !slices.Contains(proxySchemes, c.Proxy.Scheme) {
			return c, usagef("--proxy http://127.0.0.1:3128", "--proxy is not a URL with a host and one of the schemes %s", strings.Join(proxySchemes, ", "))
		}
		if s.unix != "" {
			return c, usagef("--proxy URL or --unix PATH", "--proxy and --unix name two places to connect to")
		}
	}
	c.TLS, err = s.tls()
	return c, err
}

func readBody(s string) (string, error) {
	path, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		return s, nil
	}
	b, err := readInput(path)
	if err != nil {
		return "", reachError(fmt.Errorf("--body: %w", err), "--body @FILE with a file that can be read")
	}
	return string(b), nil
}

// inputMax bounds a file that a flag or a profile names.
const inputMax = 64 << 20

// readInput is os.ReadFile up to inputMax, so that a device or a disk image
// given by mistake is an error and not the end of the memory.
func readInput(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, inputMax+1))
	if err == nil && len(b) > inputMax {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("more than %d MB", inputMax>>20)}
	}
	return b, err
}

func (f *senderFlags) tls() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: f.insecure}
	if f.caFile == "" {
		return c, nil
	}
	pem, err := readInput(f.caFile)
	if err != nil {
		return nil, reachError(fmt.Errorf("--ca: %w", err), "--ca FILE with a PEM file that can be read")
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, usagef("--ca ca.pem", "--ca %s holds no certificate", f.caFile)
	}
	return c, nil
}

// connections is the cap on open connections, checked against what the
// system lets this process open before anything is sent.
func (o *loadOptions) connections(p *load.Plan, targets int) (int, error) {
	s := &o.sender
	clients := 0
	open := false
	for i := range p.Populations {
		clients += int(min(p.Populations[i].Clients, math.MaxInt32/64))
		open = open || p.Populations[i].Open
	}
	handles, known := fileHandles()
	n := 0
	if s.connections != "" {
		given, err := limit.ParseCount(s.connections)
		if err != nil || given < 1 || given > math.MaxInt32 {
			return 0, usagef("--connections 100", "--connections %q is not a count of at least 1", s.connections)
		}
		n = int(given)
	}
	switch {
	case n == 0 && s.mode == "per-client":
		n = clients
	case n == 0:
		n = defaultConnections
		if !open {
			// Each client may want one to each target.
			n = min(n, clients*targets)
		}
		if known {
			n = min(n, max(int(min(handles, 1<<30))-spareHandles, 1))
		}
		n = max(n, s.threads)
	}
	if s.mode == "per-client" && n < clients {
		return 0, usagef("--connection-mode keep-alive", "%d clients with a connection each do not fit into --connections %d", clients, n)
	}
	if n < s.threads {
		return 0, usagef("--threads 1", "--connections %d is less than one for each of %d threads", n, s.threads)
	}
	return n, enoughHandles(n, n+spareHandles)
}

// enoughHandles fails when this process may not open as many files as so many
// connections need.
func enoughHandles(connections, need int) error {
	if handles, known := fileHandles(); known && uint64(need) > handles {
		return reachError(fmt.Errorf("%d connections need %d file handles, and this shell allows %d", connections, need, handles),
			"ulimit -n "+strconv.Itoa(need))
	}
	return nil
}

// describe prints the plan of a dry run.
func (o *loadOptions) describe(r *loadRun) error {
	return o.out.write(o.app, r.describe(o.out.format))
}

// startDelay leaves time to set a run up before its clock starts, so that
// what is due first is not late.
func startDelay(p *load.Plan) time.Duration {
	clients := time.Duration(0)
	for i := range p.Populations {
		if pop := &p.Populations[i]; !pop.NewCallers {
			clients += time.Duration(pop.Clients)
		}
	}
	return 100*time.Millisecond + clients*time.Microsecond
}
