// Package gateway is the reference limiter: a fleet of HTTP servers that put
// one limit in front of an echo or of an upstream, keep exact books of what
// they decided, and can be made wrong on purpose.
//
// A request is read, its key and cost are found, and the store that the
// [Design] names decides. The decision is booked at once, so a connection that
// breaks afterwards changes nothing in the books.
package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit/redislimit"
)

// Fleet is a number of gateways that share one limit. Safe for concurrent use.
type Fleet struct {
	cfg      Config
	books    *books
	owners   *owners // under Sticky
	forgeHdr string
	voice    voice
	identity *identity
	refused  int // status of a refusal
	base     time.Time
	gateways []*gateway
	proxy    *httputil.ReverseProxy
	scissors scissors
	run      atomic.Pointer[run]
	observer *observer
	stopping atomic.Bool

	stores     []*redislimit.Store // by gateway; with Redis
	calls      atomic.Int64        // to what the gateways share
	lent       lentCounts
	unreadable atomic.Int64 // states in the store that were not a limit's own
	background *errands

	ruling sync.Mutex // orders SetRules
	newest atomic.Pointer[ready]

	mu       sync.Mutex
	servers  []*http.Server
	urls     []string
	cert     []byte
	serving  sync.WaitGroup
	stopped  chan struct{} // closed by stopOnce
	stopOnce sync.Once
	failed   chan error
}

// run is everything that a reset replaces. A request keeps to the run it
// began in.
type run struct {
	started  int64     // on the fleet's clock
	backends []backend // by gateway
	desks    []*desk   // by gateway
	tally    *tally
	recorder *recorder // nil unless the fleet records
}

// New checks c and builds the fleet. It opens nothing; [Fleet.Start] does.
func New(c Config) (*Fleet, error) {
	c, err := c.checked()
	if err != nil {
		return nil, err
	}
	f := &Fleet{
		cfg:        c,
		books:      newBooks(),
		forgeHdr:   canonicalOrNone(c.Wrong.ForgeableKey),
		voice:      newVoice(c),
		base:       time.Now(),
		background: newErrands(),
		stopped:    make(chan struct{}),
		failed:     make(chan error, c.Gateways),
	}
	f.scissors.Faults = c.Faults
	f.refused = http.StatusTooManyRequests
	if c.Wrong.Status503 {
		f.refused = http.StatusServiceUnavailable
	}
	if f.identity, err = newIdentity(c); err != nil {
		return nil, err
	}
	if c.Design == Sticky {
		f.owners = newOwners(c.Gateways)
	}
	first, err := f.prepare(c.set())
	if err != nil {
		return nil, err
	}
	f.newest.Store(first)
	for i := range c.Gateways {
		f.gateways = append(f.gateways, newGateway(f, i, first))
		if c.Redis != nil {
			f.stores = append(f.stores, f.newStore(f.gateways[i]))
		}
	}
	if c.Upstream != nil {
		f.proxy = f.newProxy()
	}
	f.run.Store(f.newRun(nil))
	if f.observer, err = newObserver(c.Observe, c.Gateways, c.MaxKeys, c.HashKeys, f.now, f.internals); err != nil {
		return nil, err
	}
	if c.Redis != nil && c.Notice != nil {
		f.observer.alarm = newAlarm(f)
	}
	f.observer.rulesLoaded(first.set.Version, nil)
	return f, nil
}

// newRun makes fresh stores and books. It records once there are addresses.
func (f *Fleet) newRun(urls []string) *run {
	r := &run{started: f.now()}
	number := func(string) uint32 { return 0 }
	if f.records() && urls != nil {
		r.recorder = newRecorder(len(urls), time.Unix(0, r.started), f.cfg.Judge, f.shown, urls)
		number = r.recorder.number
	}
	r.tally = newTally(len(f.gateways), f.cfg.MaxKeys, number)
	r.backends = f.newBackends()
	for i := range f.gateways {
		r.desks = append(r.desks, newDesk(f.cfg.Seed, i, f.cfg.StoreTimeout))
	}
	return r
}

// now is Unix time in nanoseconds that never steps back: fixed windows need
// the wall clock's edges, and buckets a clock that only runs forward.
func (f *Fleet) now() int64 { return f.base.UnixNano() + int64(time.Since(f.base)) }

// Start opens the listeners and serves until [Fleet.Stop]. A fleet starts once.
func (f *Fleet) Start() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.servers != nil {
		return errors.New("this fleet was started already")
	}
	var config *tls.Config
	if f.cfg.TLS.On {
		host, _, _ := net.SplitHostPort(f.cfg.Listen)
		cert, text, err := f.cfg.TLS.load(host)
		if err != nil {
			return err
		}
		config, f.cert = &tls.Config{Certificates: []tls.Certificate{cert}}, text
	}
	listeners, urls, err := f.cfg.listenAll()
	if err != nil {
		return err
	}
	f.urls = urls
	f.run.Store(f.newRun(urls))
	f.observer.start(f.cfg.Observe.MeterEvery)
	if f.records() {
		f.serving.Go(f.mergeUntilStopped)
	}
	if f.cfg.KeysFile != "" {
		f.serving.Go(f.watchKeys)
	}
	if f.cfg.Design.leases() {
		f.serving.Go(f.tidyUntilStopped)
	}
	for i, l := range listeners {
		s := f.server(f.gateways[i], config)
		f.servers = append(f.servers, s)
		f.serving.Go(func() {
			serve := func() error { return s.Serve(l) }
			if config != nil {
				serve = func() error { return s.ServeTLS(l, "", "") }
			}
			if err := serve(); !errors.Is(err, http.ErrServerClosed) {
				f.failed <- fmt.Errorf("gateway %d: %w", i+1, err)
			}
		})
	}
	return nil
}

func (f *Fleet) server(h http.Handler, config *tls.Config) *http.Server {
	s := &http.Server{
		Handler:           h,
		TLSConfig:         config.Clone(), // net/http writes to it
		Protocols:         new(http.Protocols),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaderBytes,
		// What it would say is about broken peers, which the books count.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	if f.proxy != nil {
		// An upstream may stream for longer than any bound that suits an echo.
		s.ReadTimeout = 0
	}
	return s
}

// URLs are the gateways' addresses in order, such as http://127.0.0.1:8080 or
// unix:/run/weir.sock. Empty before Start.
func (f *Fleet) URLs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.urls...)
}

// Certificate is the PEM text that a client has to trust when the certificate
// was made in memory; nil otherwise.
func (f *Fleet) Certificate() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cert
}

// Handler is gateway i without its socket.
func (f *Fleet) Handler(i int) http.Handler { return f.gateways[i] }

// Failed reports a gateway that stopped serving by itself.
func (f *Fleet) Failed() <-chan error { return f.failed }

// Stop closes the listeners, lets requests in progress finish until ctx ends,
// and then cuts the rest off, which is not an error. Tokens that gateways hold
// go back to the store.
func (f *Fleet) Stop(ctx context.Context) error {
	f.mu.Lock()
	servers := f.servers
	f.mu.Unlock()
	f.stopping.Store(true)
	defer f.serving.Wait()
	defer f.stopOnce.Do(func() { close(f.stopped) })
	errs := make([]error, len(servers), len(servers)+1)
	var stopping sync.WaitGroup
	for i, s := range servers {
		stopping.Go(func() {
			if s.Shutdown(ctx) != nil {
				errs[i] = s.Close()
			}
		})
	}
	stopping.Wait()
	f.settleUp()
	return errors.Join(append(errs, f.observer.close())...)
}

// Counts reads the books; PerKey has the top busiest keys.
func (f *Fleet) Counts(top int) Snapshot {
	r := f.run.Load()
	sn := r.tally.snapshot(top)
	sn.Schema = CountsSchema
	f.counted(&sn)
	sn.Design = f.cfg.Design.String()
	sn.Gateways = len(f.gateways)
	sn.ElapsedS = float64(f.now()-r.started) / 1e9
	urls := f.URLs()
	for i := range sn.PerGateway {
		sn.PerGateway[i].Gateway = i + 1
		if i < len(urls) {
			sn.PerGateway[i].URL = urls[i]
		}
	}
	for i := range sn.PerKey {
		sn.PerKey[i].Key = f.shown(sn.PerKey[i].Key)
	}
	return sn
}

// shown is a key as people may see it.
func (f *Fleet) shown(key string) string {
	if f.cfg.HashKeys {
		return hashed(key)
	}
	return key
}

// Reset forgets counts and limiter states, as if the fleet had just started.
// What is in Redis stays, but for the tokens that gateways hold, which go back.
func (f *Fleet) Reset() {
	old := f.run.Swap(f.newRun(f.URLs()))
	f.books.reset()
	f.calls.Store(0)
	f.identity.forget()
	for _, g := range f.gateways {
		g.waiter.forget()
		g.tidy(old, f.now(), true)
	}
}

// Name says in a few words what the fleet is, for titles.
func (f *Fleet) Name() string {
	if n := len(f.gateways); n > 1 {
		return fmt.Sprintf("%d gateways, %v, %s", n, f.cfg.Design, f.promise())
	}
	return "one gateway, " + f.promise()
}
