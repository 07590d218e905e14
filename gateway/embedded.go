package gateway

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Embedded is a Redis inside this process, for trying things out: other
// programs on this machine can look into it, and it is gone with the process.
type Embedded struct {
	server  *miniredis.Miniredis
	client  *redis.Client
	stop    chan struct{}
	stopped sync.WaitGroup
}

// StartEmbedded starts one on a free loopback port.
func StartEmbedded() (*Embedded, error) {
	server, err := miniredis.Run()
	if err != nil {
		return nil, fmt.Errorf("start the embedded Redis: %w", err)
	}
	e := &Embedded{server: server, stop: make(chan struct{})}
	e.client = redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, Protocol: 2, DisableIdentity: true})
	e.stopped.Go(e.expire)
	return e, nil
}

// expire lets keys die, which this server does only when it is told how much
// time has passed.
func (e *Embedded) expire() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-tick.C:
			now := time.Now()
			e.server.FastForward(now.Sub(last))
			last = now
		case <-e.stop:
			return
		}
	}
}

// Down ends its listener and its connections, as when a server is lost; what it
// holds is there again after Up. Down and Up are for one goroutine.
func (e *Embedded) Down() { e.server.Close() }

// Up takes it back into service under its address.
func (e *Embedded) Up() error {
	if err := e.server.Restart(); err != nil {
		return fmt.Errorf("restart the embedded Redis: %w", err)
	}
	return nil
}

// URL is its address, such as redis://127.0.0.1:34567.
func (e *Embedded) URL() string { return "redis://" + e.server.Addr() }

// Client is a connection to it, good until Close.
func (e *Embedded) Client() redis.UniversalClient { return e.client }

// Close ends it. What it held is gone.
func (e *Embedded) Close() error {
	close(e.stop)
	e.stopped.Wait()
	err := e.client.Close()
	e.server.Close()
	return err
}
