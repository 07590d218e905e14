package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/limit"
)

// setting is one way for a stand's gateways to work.
type setting struct {
	name   string
	change func(*gateway.Config)
}

// stand is a number of listeners with gateways behind them that can be
// exchanged, under load, for others that work differently. Each setting has a
// fleet of its own, which keeps its state while another one serves.
type stand struct {
	settings []setting
	fleets   []*gateway.Fleet // by setting
	now      atomic.Pointer[gateway.Fleet]
	servers  []*http.Server
	serving  sync.WaitGroup
	urls     []*url.URL
	store    *gateway.Embedded // nil for memory
	client   redis.UniversalClient
	down     bool
}

// openStand starts serving by the first setting.
func openStand(base gateway.Config, settings []setting, redis bool) (s *stand, err error) {
	s = &stand{settings: settings}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if redis {
		if s.store, err = gateway.StartEmbedded(); err != nil {
			return s, reachError(err, "")
		}
		// Its own client would log every call that fails in an outage.
		if s.client, err = redisconn.Open(redisconn.Options{URL: s.store.URL()}); err != nil {
			return s, internalError(err)
		}
		base.Redis = s.client
	}
	for _, set := range settings {
		c := base
		set.change(&c)
		f, err := gateway.New(c)
		if err != nil {
			return s, internalError(err)
		}
		s.fleets = append(s.fleets, f)
	}
	s.now.Store(s.fleets[0])
	for i := range base.Gateways {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return s, reachError(err, "weir demo needs free ports on 127.0.0.1")
		}
		server := &http.Server{ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.now.Load().Handler(i).ServeHTTP(w, r) })}
		s.servers = append(s.servers, server)
		s.urls = append(s.urls, &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/"})
		s.serving.Go(func() { _ = server.Serve(l) }) // ends with close
	}
	return s, nil
}

// names are the settings'.
func (s *stand) names() []string {
	var names []string
	for _, set := range s.settings {
		names = append(names, set.name)
	}
	return names
}

// use has the gateways work by a setting from the next request on.
func (s *stand) use(name string) bool {
	for i, set := range s.settings {
		if set.name == name {
			s.now.Store(s.fleets[i])
			return true
		}
	}
	return false
}

// cut takes the store away, or gives it back.
func (s *stand) cut(down bool) error {
	if s.store == nil || down == s.down {
		return nil
	}
	s.down = down
	if down {
		s.store.Down()
		return nil
	}
	return s.store.Up()
}

func (s *stand) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, server := range s.servers {
		if errors.Is(server.Shutdown(ctx), context.DeadlineExceeded) {
			_ = server.Close()
		}
	}
	s.serving.Wait()
	for _, f := range s.fleets {
		_ = f.Stop(ctx) // it has no listeners of its own to fail
	}
	if s.client != nil {
		_ = s.client.Close() // no fleet asks any more
	}
	if s.store != nil {
		_ = s.store.Close() // what it held is gone anyway
	}
}

// base is what a show's gateways have in common.
func (s *show) base(promise limit.Spec, seed int64) gateway.Config {
	return gateway.Config{Gateways: s.gateways, Limit: promise, Latency: s.latency, Seed: seed}
}
