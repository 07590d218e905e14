package main

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/internal/redisconn"
)

// embeddedRedis is the --redis of whoever wants a store inside the process.
const embeddedRedis = "embedded"

// greeting bounds how long a Redis may take to answer the first time.
const greeting = 5 * time.Second

// redisFlags are how a verb is told which Redis to use.
type redisFlags struct {
	url     redisURL
	options redisconn.Options
}

// newRedisFlags registers --redis and what goes with it.
func newRedisFlags(fs *pflag.FlagSet) *redisFlags {
	r := &redisFlags{}
	fs.Var(&r.url, "redis", "the `URL` of a Redis: redis://, rediss:// (TLS), unix://, redis+sentinel://, redis+cluster:// (or WEIR_REDIS_URL)")
	fs.Lookup("redis").Annotations = map[string][]string{ownVariable: {"WEIR_REDIS_URL"}}
	fs.StringVar(&r.options.User, "redis-user", "", "the ACL user's `NAME`, unless the URL has it")
	fs.StringVar(&r.options.PasswordFile, "redis-password-file", "", "read the password from this `FILE` (or set WEIR_REDIS_PASSWORD)")
	fs.StringVar(&r.options.CAFile, "redis-ca", "", "with TLS, trust the authorities in this `FILE` (PEM) in place of the system's")
	fs.StringVar(&r.options.CertFile, "redis-cert", "", "with TLS, the client certificate `FILE` (PEM), with --redis-key")
	fs.StringVar(&r.options.KeyFile, "redis-key", "", "the key `FILE` of --redis-cert (PEM)")
	fs.BoolVar(&r.options.Insecure, "redis-insecure", false, "with TLS, believe any certificate")
	return r
}

// given reports whether a Redis was named at all.
func (r *redisFlags) given() bool { return r.url != "" }

// embedded reports whether the one inside the process is meant.
func (r *redisFlags) embedded() bool { return r.url == embeddedRedis }

// open connects to the Redis that was named and returns once it has answered.
// Passwords may also come from WEIR_REDIS_PASSWORD and, for the sentinels'
// own, WEIR_REDIS_SENTINEL_PASSWORD.
func (r *redisFlags) open(ctx context.Context, a *app) (redis.UniversalClient, error) {
	c, away, err := r.dial(ctx, a)
	switch {
	case err != nil:
		return nil, err
	case away != nil:
		_ = c.Close() // why it cannot be used is known already
		return nil, away
	}
	return c, nil
}

// dial is open for whoever can do without: away says why there was no answer.
func (r *redisFlags) dial(ctx context.Context, a *app) (c redis.UniversalClient, away, err error) {
	o := r.options
	o.URL = string(r.url)
	o.Password = a.env("WEIR_REDIS_PASSWORD")
	o.SentinelPassword = a.env("WEIR_REDIS_SENTINEL_PASSWORD")
	if c, err = redisconn.Open(o); err != nil {
		return nil, nil, redisError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, greeting)
	defer cancel()
	if err := redisconn.Ping(ctx, c); err != nil {
		return c, redisError(err), nil
	}
	return c, nil, nil
}

// redisError types an error of opening or using a Redis.
func redisError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	text, hint := redisconn.Explain(err)
	var config *redisconn.ConfigError
	if errors.As(err, &config) {
		return usageError(errors.New(text), hint)
	}
	return reachError(errors.New(text), hint)
}

// redisURL is a URL that never shows its password, not even where flags are
// printed.
type redisURL string

func (u *redisURL) Type() string { return "string" }

func (u *redisURL) Set(text string) error {
	*u = redisURL(text)
	return nil
}

func (u *redisURL) String() string {
	if *u == "" || *u == embeddedRedis || *u == startRedis {
		return string(*u)
	}
	return redisconn.Redact(string(*u))
}
