package redisconn

import (
	"context"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// mapAge is how old a cluster client's map of nodes may become, should
// nothing tell it sooner that a node is gone.
const mapAge = 2 * time.Second

// silent takes what go-redis would write to stderr; whoever sends a command
// hears of its error anyway.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

var silence = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

// Open returns a client for what o names. It reads the files that o names and
// connects to nothing yet. The client sends no command twice of its own
// accord (a cluster client that is sent around may) and dials once per need;
// contexts bound everything. A mistake in o is a [*ConfigError], a file that
// cannot be read a [*FileError].
func Open(o Options) (redis.UniversalClient, error) {
	silence()
	t, err := parse(o.URL)
	if err != nil {
		return nil, err
	}
	l, err := o.login(t)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := o.tls(t)
	if err != nil {
		return nil, err
	}
	if o.DialTimeout <= 0 {
		o.DialTimeout = defaultDialTimeout
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = defaultReadTimeout
	}
	// The second version of the protocol is what every server and proxy
	// speaks. Neither names nor notifications are asked for: an ACL user for
	// a limiter may do neither.
	const protocol = 2
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch t.topology {
	case sentinel:
		if t.sentinels.password == "" {
			t.sentinels.password = o.SentinelPassword
		}
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: t.master, SentinelAddrs: t.addrs, DB: t.db,
			SentinelUsername: t.sentinels.user, SentinelPassword: t.sentinels.password,
			Username: l.user, Password: l.password, TLSConfig: tlsConfig,
			Protocol: protocol, DisableIdentity: true,
			MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
			DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, PoolSize: o.PoolSize,
		}), nil
	case cluster:
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: t.addrs, Username: l.user, Password: l.password, TLSConfig: tlsConfig,
			Protocol: protocol, DisableIdentity: true, MaintNotificationsConfig: quiet,
			MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, ClusterStateReloadInterval: mapAge,
			DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, PoolSize: o.PoolSize,
		}), nil
	}
	c := &redis.Options{
		Network: "tcp", Addr: t.addrs[0], DB: t.db, Username: l.user, Password: l.password, TLSConfig: tlsConfig,
		Protocol: protocol, DisableIdentity: true, MaintNotificationsConfig: quiet,
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		DialTimeout: o.DialTimeout, ReadTimeout: o.ReadTimeout, PoolSize: o.PoolSize,
	}
	if t.topology == socket {
		c.Network = "unix"
	}
	return redis.NewClient(c), nil
}
