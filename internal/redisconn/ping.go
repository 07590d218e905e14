package redisconn

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/limit/redislimit"
)

// PingError is why a server does not answer, or lets the client not in.
type PingError struct {
	Addr string // "" for whoever the sentinels would have named
	TLS  bool   // whether the client speaks TLS
	Err  error
}

func (e *PingError) Error() string {
	if e.Addr == "" {
		return "redis: " + e.Err.Error()
	}
	return "redis at " + e.Addr + ": " + e.Err.Error()
}

func (e *PingError) Unwrap() error { return e.Err }

// Ping reports whether the server, or any node of a cluster, answers and lets
// the client in. A user who may do other things than PING has been let in.
// The error is a [*PingError].
func Ping(ctx context.Context, c redis.UniversalClient) error {
	err := c.Ping(ctx).Err()
	var reply redis.Error
	if err == nil || errors.As(err, &reply) && redislimit.Classify(err) == redislimit.KindNoPerm && !bySentinels(err) {
		return nil
	}
	e := &PingError{Err: err}
	switch c := c.(type) {
	case *redis.Client:
		e.TLS = c.Options().TLSConfig != nil
		// A client that asks sentinels has a word there that is no address.
		if addr := c.Options().Addr; strings.ContainsAny(addr, ":/") {
			e.Addr = addr
		}
	case *redis.ClusterClient:
		e.TLS = c.Options().TLSConfig != nil
		if addrs := c.Options().Addrs; len(addrs) == 1 {
			e.Addr = addrs[0]
		}
	}
	return e
}
