package replay

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// Remote is a Redis server, or several, behind a client.
type Remote struct {
	c    redis.UniversalClient
	name string
}

var version = regexp.MustCompile(`(?m)^(?:valkey_version|redis_version):(\S+)`)

// NewRemote uses a client that is connected; it stays the caller's to close.
func NewRemote(ctx context.Context, c redis.UniversalClient) (*Remote, error) {
	r := &Remote{c: c, name: "a Redis server"}
	info, err := c.Info(ctx, "server").Result()
	if err != nil {
		var re redis.Error
		if errors.As(err, &re) {
			return r, nil // not allowed to ask
		}
		return nil, err
	}
	if m := version.FindStringSubmatch(info); m != nil {
		r.name = "Redis " + m[1]
	}
	return r, nil
}

// Name is the server's version.
func (r *Remote) Name() string { return r.name }

func (r *Remote) virtual() bool { return false }

func (r *Remote) setTime(int64) {}

func (r *Remote) do(ctx context.Context, commands []command) []answer {
	all := make([]answer, len(commands))
	p := r.c.Pipeline()
	cmds := make([]*redis.Cmd, len(commands))
	for i, c := range commands {
		words := make([]any, len(c))
		for j, w := range c {
			words[j] = w
		}
		cmds[i] = p.Do(ctx, words...)
	}
	_, _ = p.Exec(ctx) // each command has its own error
	for i, c := range cmds {
		v, err := c.Result()
		var re redis.Error
		switch {
		case errors.Is(err, redis.Nil):
		case errors.As(err, &re):
			all[i].err = replyError(re.Error())
		case err != nil:
			all[i].err = err
		default:
			all[i].reply = clientReply(v)
		}
	}
	return all
}

// clientReply makes a client's reply one of int64, string, []any and nil.
func clientReply(v any) any {
	switch v := v.(type) {
	case error:
		if errors.Is(v, redis.Nil) {
			return nil
		}
		return "-" + v.Error()
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = clientReply(x)
		}
		return out
	}
	return v
}

// onMasters calls f for every server that holds keys.
func (r *Remote) onMasters(ctx context.Context, f func(context.Context, redis.Cmdable) error) error {
	if c, ok := r.c.(*redis.ClusterClient); ok {
		return c.ForEachMaster(ctx, func(ctx context.Context, m *redis.Client) error { return f(ctx, m) })
	}
	return f(ctx, r.c)
}

func (r *Remote) clear(ctx context.Context, prefix string) (int64, error) {
	var removed atomic.Int64
	err := r.onMasters(ctx, func(ctx context.Context, c redis.Cmdable) error {
		var cursor uint64
		for {
			keys, next, err := c.Scan(ctx, cursor, prefix+"*", 1000).Result()
			if err != nil {
				return err
			}
			if len(keys) > 0 {
				p := c.Pipeline() // one by one: in a cluster they have slots of their own
				for _, k := range keys {
					p.Unlink(ctx, k)
				}
				done, err := p.Exec(ctx)
				if err != nil {
					return err
				}
				for _, d := range done {
					if n, ok := d.(*redis.IntCmd); ok {
						removed.Add(n.Val())
					}
				}
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	})
	return removed.Load(), err
}

// errEnded is a script that there was no need to kill: it ended meanwhile.
var errEnded = errors.New("the script has ended")

// killPatience is how long a busy server may take to hear SCRIPT KILL: it
// listens only once a script has run for its busy-reply-threshold, 5 s unless
// it is configured.
const killPatience = 20 * time.Second

func (r *Remote) kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	return r.onMasters(ctx, func(ctx context.Context, c redis.Cmdable) error {
		for {
			err := c.ScriptKill(ctx).Err()
			var re redis.Error
			switch {
			case err == nil:
				return r.calm(ctx, c)
			case errors.As(err, &re) && strings.HasPrefix(re.Error(), "NOTBUSY"):
				return errEnded
			case errors.As(err, &re):
				return fmt.Errorf("%s", re.Error())
			case ctx.Err() != nil:
				return errors.New("the server does not answer")
			}
			select { // it does not listen yet
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
}

// calm waits until a server serves again: SCRIPT KILL is answered before the
// script has ended.
func (r *Remote) calm(ctx context.Context, c redis.Cmdable) error {
	for {
		err := c.Ping(ctx).Err()
		if err == nil || !strings.HasPrefix(err.Error(), "BUSY") {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New("the server is still busy")
		case <-time.After(10 * time.Millisecond):
		}
	}
}
