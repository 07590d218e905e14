package main

import (
	"context"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/replay"
)

// startRedis is the --redis of whoever wants a server started for the run.
const startRedis = "start"

// readGrace lets the time limit of a script end a wait before the connection
// does.
const readGrace = 5 * time.Second

// openStore opens the store that scripts run on: the embedded one unless
// --redis names a server or has one started.
func (o *replayOptions) openStore(ctx context.Context, r *replay.Run) (replay.Store, func(), error) {
	s := o.script
	drill := &replay.Drill{FlushScripts: s.flushAt, Kill: s.killAt}
	drills := s.fs.Changed("flush-scripts-at") || s.fs.Changed("kill-at")
	if drills {
		if s.flushAt < 0 && s.fs.Changed("flush-scripts-at") || s.killAt < 0 && s.fs.Changed("kill-at") {
			return nil, nil, usagef("--kill-at 10s", "a drill's time is below zero")
		}
		r.Drill = drill
	}
	if !o.redis.given() || o.redis.embedded() {
		e, err := replay.NewEmbedded()
		if err != nil {
			return nil, nil, internalError(err)
		}
		return e, e.Close, nil
	}
	if string(o.redis.url) == startRedis {
		p, err := replay.StartServer(ctx)
		if err != nil {
			return nil, nil, reachError(err, "install redis-server, or leave --redis out for the embedded store")
		}
		c, err := redisconn.Open(redisconn.Options{URL: p.URL(), ReadTimeout: s.timeout + readGrace})
		if err != nil {
			p.Stop()
			return nil, nil, redisError(err)
		}
		drill.Restart = func() error { return p.Restart(ctx) }
		store, err := replay.NewRemote(ctx, c)
		if err != nil {
			p.Stop()
			return nil, nil, redisError(err)
		}
		return store, func() { _ = c.Close(); p.Stop() }, nil
	}
	if drills {
		return nil, nil, usagef("--redis start --kill-at 10s", "a drill is for a server that weir started itself, or the embedded one")
	}
	o.redis.options.ReadTimeout = s.timeout + readGrace
	c, err := o.redis.open(ctx, o.app)
	if err != nil {
		return nil, nil, err
	}
	store, err := replay.NewRemote(ctx, c)
	if err != nil {
		_ = c.Close()
		return nil, nil, redisError(err)
	}
	return store, func() { _ = c.Close() }, nil
}
