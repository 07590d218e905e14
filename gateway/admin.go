package gateway

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// minToken is the least that a token may have, in bytes: less can be guessed.
const minToken = 16

// AdminConfig says what the admin listener serves.
type AdminConfig struct {
	Listen string // HOST:PORT; "" is a free port of 127.0.0.1
	// AllowRemote lets Listen name an address that other machines can reach.
	AllowRemote bool
	// Token is what callers have to show, as "Authorization: Bearer TOKEN".
	Token string
	// Holder has the rules in force, and Keeper brings changes there; without
	// a keeper they can only be read.
	Holder RuleHolder
	Keeper *RuleKeeper
	// Log, if set, gets a line for each change.
	Log *log.Logger
	Now func() time.Time // nil is the clock
}

// Admin is a listener of its own for whoever operates the fleet.
type Admin struct {
	cfg    AdminConfig
	token  [sha256.Size]byte
	mux    *http.ServeMux
	server *http.Server
	url    string
	ended  sync.WaitGroup
	failed chan error
}

// Check finds what keeps c from being served, but for what it lacks of a fleet.
func (c AdminConfig) Check() error {
	if c.Listen != "" {
		if err := mayListen(c.Listen, c.AllowRemote); err != nil {
			return err
		}
	}
	switch {
	case c.Token == "":
		return &ConfigError{"admin token", "", "there is none, and without one anybody could change limits"}
	case len(c.Token) < minToken:
		return &ConfigError{"admin token", "", fmt.Sprintf("shorter than %d characters", minToken)}
	case strings.IndexFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }) >= 0:
		return &ConfigError{"admin token", "", "it has characters that no header can carry"}
	}
	return nil
}

// NewAdmin checks c. It opens nothing; [Admin.Start] does.
func NewAdmin(c AdminConfig) (*Admin, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = log.New(io.Discard, "", 0)
	}
	a := &Admin{cfg: c, token: sha256.Sum256([]byte(c.Token)), mux: http.NewServeMux(), failed: make(chan error, 1)}
	a.cfg.Token = ""
	a.Handle("GET /v1/rules", http.HandlerFunc(a.getRules))
	a.Handle("GET /v1/limits/{plan}", http.HandlerFunc(a.getLimits))
	a.Handle("PUT /v1/limits/{plan}", http.HandlerFunc(a.putLimit))
	a.Handle("GET /v1/overrides/{key}", http.HandlerFunc(a.getOverrides))
	a.Handle("PUT /v1/overrides/{key}", http.HandlerFunc(a.putOverride))
	a.Handle("DELETE /v1/overrides/{key}", http.HandlerFunc(a.deleteOverride))
	return a, nil
}

// mayListen refuses an address that other machines can reach.
func mayListen(address string, remote bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return &ConfigError{"admin address", address, "want HOST:PORT"}
	}
	if !remote && !loopback(host) {
		return fmt.Errorf("admin address %s: %w", address, ErrRemote)
	}
	return nil
}

// ReadToken reads a token that is alone in a file.
func ReadToken(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4<<10))
	return strings.TrimSpace(string(text)), err
}

// Handle adds a handler for those who have the token.
func (a *Admin) Handle(pattern string, h http.Handler) {
	a.mux.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.admits(w, r) {
			h.ServeHTTP(w, r)
		}
	}))
}

// admits answers whoever does not have the token.
func (a *Admin) admits(w http.ResponseWriter, r *http.Request) bool {
	if a.knows(r) {
		return true
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="weir"`)
	writeProblem(w, problemDetails{Status: http.StatusUnauthorized, Detail: "the token is missing or wrong", Hint: "Authorization: Bearer TOKEN"})
	return false
}

// HandleOpen adds a handler for whoever reaches the listener.
func (a *Admin) HandleOpen(pattern string, h http.Handler) { a.mux.Handle(pattern, h) }

// knows compares in a time that tells nothing about the token.
func (a *Admin) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(got[:], a.token[:]) == 1 && strings.EqualFold(scheme, "bearer")
}

// ServeHTTP is the listener without its socket.
func (a *Admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	h, pattern := a.mux.Handler(r)
	if pattern != "" {
		a.mux.ServeHTTP(w, r)
		return
	}
	if !a.admits(w, r) {
		return
	}
	// What the mux would say, in the form of the other answers.
	var said muxAnswer
	h.ServeHTTP(&said, r)
	p := problemDetails{Status: said.status, Detail: "the path was not found", Hint: "GET /v1/rules"}
	if allow := said.Header().Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		p.Detail, p.Hint = "the path does not take "+r.Method, allow
	}
	writeProblem(w, p)
}

// muxAnswer keeps what a mux says of a request that it has nothing for, but for
// the text.
type muxAnswer struct {
	header http.Header
	status int
}

func (m *muxAnswer) Header() http.Header {
	if m.header == nil {
		m.header = http.Header{}
	}
	return m.header
}
func (m *muxAnswer) WriteHeader(status int)      { m.status = status }
func (m *muxAnswer) Write(b []byte) (int, error) { return len(b), nil }

// Start opens the listener and serves until [Admin.Stop].
func (a *Admin) Start() error {
	l, err := net.Listen("tcp", a.cfg.Listen)
	if err != nil {
		return fmt.Errorf("admin listener: %w", err)
	}
	a.url = "http://" + l.Addr().String()
	a.server = &http.Server{
		Handler: a, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	a.ended.Go(func() {
		if err := a.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("admin listener: %w", err)
		}
	})
	return nil
}

// URL is where it listens; "" before Start.
func (a *Admin) URL() string { return a.url }

// Failed reports that it stopped serving by itself.
func (a *Admin) Failed() <-chan error { return a.failed }

// Stop lets requests in progress finish until ctx ends.
func (a *Admin) Stop(ctx context.Context) error {
	if a.server == nil {
		return nil
	}
	defer a.ended.Wait()
	if a.server.Shutdown(ctx) != nil {
		return a.server.Close()
	}
	return nil
}
