package httpdo

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// portable is the sender on net/http: a goroutine for every attempt in
// flight, at most cfg.Connections of them. It speaks TLS, HTTP/2 and to
// proxies, and runs on every system.
type portable struct {
	cfg       *Config
	requests  []*request
	shared    *http.Transport
	perClient map[uint32]*http.Transport
	inFlight  map[*load.Attempt]context.CancelFunc
	results   chan *answer
	judge     judge
	opened    atomic.Int64
	timer     *time.Timer
}

// answer is what one goroutine brings back.
type answer struct {
	a        *load.Attempt
	status   int
	fields   []dialect.Field
	refused  bool
	body     []byte
	read     int64
	first    atomic.Int64
	fresh    atomic.Bool
	got      atomic.Bool // a connection
	done     int64
	class    report.Class
	complete bool
}

func newPortable(cfg *Config) (*portable, error) {
	p := &portable{cfg: cfg, judge: judge{cfg: cfg}, perClient: map[uint32]*http.Transport{},
		inFlight: map[*load.Attempt]context.CancelFunc{}, results: make(chan *answer, cfg.Connections), timer: time.NewTimer(time.Hour)}
	for _, t := range cfg.Targets {
		for _, r := range cfg.routes() {
			q, err := cfg.newRequest(t, r)
			if err != nil {
				return nil, err
			}
			p.requests = append(p.requests, q)
		}
	}
	p.shared = p.transport(cfg.Connections)
	return p, nil
}

func (p *portable) transport(conns int) *http.Transport {
	cfg := p.cfg
	dial := &net.Dialer{Timeout: cfg.Timeout}
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if cfg.Unix != "" {
				network, addr = "unix", cfg.Unix
			}
			c, err := dial.DialContext(ctx, network, addr)
			if err == nil {
				p.opened.Add(1)
			}
			return c, err
		},
		TLSClientConfig:        cfg.TLS.Clone(),
		TLSHandshakeTimeout:    cfg.Timeout,
		DisableKeepAlives:      cfg.Mode == NewConn,
		DisableCompression:     true,
		MaxIdleConns:           0,
		MaxIdleConnsPerHost:    conns,
		MaxConnsPerHost:        conns,
		MaxResponseHeaderBytes: maxHead,
		Protocols:              new(http.Protocols),
	}
	if cfg.Proxy != nil {
		t.Proxy = http.ProxyURL(cfg.Proxy)
	}
	if cfg.HTTP2 {
		t.Protocols.SetHTTP2(true)
		t.Protocols.SetUnencryptedHTTP2(true)
	} else {
		t.Protocols.SetHTTP1(true)
	}
	return t
}

func (p *portable) Opened() int64 { return p.opened.Load() }

func (p *portable) Room(uint16, uint32) bool { return len(p.inFlight) < p.cfg.Connections }

func (p *portable) Send(a *load.Attempt) {
	ev := &a.Event
	ev.Sent = p.cfg.Clock()
	ctx, cancel := context.WithTimeout(context.Background(), p.cfg.Timeout)
	p.inFlight[a] = cancel
	q := p.requests[int(ev.Target)*len(p.cfg.routes())+int(ev.Route)]
	v := vars{key: p.cfg.AppendKey(nil, ev.Key), client: ev.Client, seq: a.Seq}
	t := p.shared
	if p.cfg.Mode == PerClient {
		if t = p.perClient[ev.Client]; t == nil {
			t = p.transport(1)
			p.perClient[ev.Client] = t
		}
	}
	target := p.cfg.Targets[ev.Target]
	scheme := target.Scheme
	go func() {
		defer cancel()
		r := &answer{a: a}
		p.roundTrip(httptrace.WithClientTrace(ctx, r.trace(p.cfg.Clock)), t, scheme+"://"+target.Host, q, v, r)
		r.done = p.cfg.Clock()
		p.results <- r
	}()
}

// trace notes the first byte and whether the connection was new. The hooks
// run on the transport's goroutines.
func (r *answer) trace(clock load.Clock) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			r.got.Store(true)
			r.fresh.Store(!i.Reused)
		},
		GotFirstResponseByte: func() { r.first.CompareAndSwap(0, clock()) },
	}
}

// empty is a body without bytes that cannot be had twice, so that net/http
// never sends a request again by itself: every attempt is counted.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.EOF }

func (p *portable) roundTrip(ctx context.Context, t *http.Transport, base string, q *request, v vars, r *answer) {
	body := q.body.append(nil, v)
	req, err := http.NewRequestWithContext(ctx, q.method, base+string(q.path.appendEscaped(nil, v)), nil)
	if err != nil {
		r.class = report.OtherError
		return
	}
	req.Body, req.Host = io.NopCloser(empty{}), string(q.host.append(nil, v))
	if len(body) > 0 {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	for _, h := range q.header {
		req.Header.Add(string(h.name.append(nil, v)), string(h.value.append(nil, v)))
	}
	res, err := t.RoundTrip(req)
	if err != nil {
		if r.class = classOfHTTP(err); r.class == report.Timeout && !r.got.Load() {
			r.class = report.ConnectTimeout // the request's time was up before the dialer's
		}
		return
	}
	defer res.Body.Close()
	r.status = res.StatusCode
	for name, values := range res.Header {
		for _, value := range values {
			f := dialect.Field{Name: []byte(name), Value: []byte(value)}
			r.refused = r.refused || p.cfg.Refused.headerMatches(f.Name, f.Value)
			if dialect.Interesting(f.Name) {
				r.fields = append(r.fields, f)
			}
		}
	}
	if r.body, err = io.ReadAll(io.LimitReader(res.Body, bodyKept)); err == nil {
		r.read, err = io.Copy(io.Discard, io.LimitReader(res.Body, p.cfg.MaxBody-int64(len(r.body))))
	}
	r.read += int64(len(r.body))
	if err != nil {
		r.class = classOfHTTP(err)
		return
	}
	r.complete = true
}

func (p *portable) Poll(until int64, _ bool, done func(*load.Attempt)) {
	if len(p.results) == 0 {
		p.timer.Reset(time.Duration(max(0, until-p.cfg.Clock())))
		select {
		case r := <-p.results:
			p.finish(r, done)
		case <-p.timer.C:
			return
		}
	}
	// One round at most: what answers at once must not keep arrivals waiting.
	for range len(p.results) {
		p.finish(<-p.results, done)
	}
}

func (p *portable) finish(r *answer, done func(*load.Attempt)) {
	a := r.a
	delete(p.inFlight, a)
	ev := &a.Event
	ev.Done = r.done
	if f := r.first.Load(); f > 0 {
		ev.First = f
		ev.Has |= report.HasFirst
	}
	if r.fresh.Load() {
		ev.Has |= report.NewConn
	}
	if r.complete {
		ev.Bytes = uint32(min(r.read, 1<<32-1))
		p.judge.read(r.status, r.fields, r.body, r.done)
		p.judge.fill(a, r.status, r.refused, r.body)
	} else {
		ev.Verdict, ev.Class = report.Failed, r.class
	}
	done(a)
}

func (p *portable) Abort(done func(*load.Attempt)) {
	for a, cancel := range p.inFlight {
		cancel()
		done(a)
	}
	clear(p.inFlight)
}

func (p *portable) Close() error {
	p.timer.Stop()
	p.shared.CloseIdleConnections()
	for _, t := range p.perClient {
		t.CloseIdleConnections()
	}
	return nil
}
