package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/rules"
)

// tokenVariable has the admin token when no file does.
const tokenVariable = "WEIR_ADMIN_TOKEN"

// operateOptions are the flags of weir serve about rules that change while it
// serves, and about who may change them.
type operateOptions struct {
	rulesFrom   string
	rulesKey    string
	admin       string
	adminRemote bool
	tokenFile   string
	changed     func(flag string) bool
}

func newOperateOptions(fs *pflag.FlagSet) *operateOptions {
	o := &operateOptions{changed: fs.Changed}
	fs.StringVar(&o.rulesFrom, "rules-from", "", "serve the rules in this `FILE`, or with the word redis those in Redis, in place of --limit, and follow their changes")
	fs.StringVar(&o.rulesKey, "rules-key", gateway.DefaultRuleKey, "the `KEY` of the rules with --rules-from redis")
	fs.StringVar(&o.admin, "admin", "", "`HOST:PORT` of a listener for operators: limits and overrides, behind a token")
	fs.BoolVar(&o.adminRemote, "admin-allow-remote", false, "let --admin name an address that other machines can reach")
	fs.StringVar(&o.tokenFile, "admin-token-file", "", "read the token of --admin from this `FILE` (or set "+tokenVariable+")")
	return o
}

// check finds flags that say nothing.
func (o *operateOptions) check(redisGiven bool) error {
	if o.rulesFrom == inRedis && !redisGiven {
		return usagef("weir serve --rules-from redis --redis redis://127.0.0.1:6379", "--rules-from redis wants --redis")
	}
	if o.rulesFrom != inRedis && o.changed("rules-key") {
		return usagef("weir serve --rules-from redis --rules-key "+shellWord(o.rulesKey), "--rules-key says nothing without --rules-from redis")
	}
	for _, f := range []string{"admin-allow-remote", "admin-token-file"} {
		if o.admin == "" && o.changed(f) {
			return usagef("weir serve --admin 127.0.0.1:9900 --admin-token-file FILE", "--%s says nothing without --admin", f)
		}
	}
	return nil
}

// operation is what changes a fleet's rules while it serves.
type operation struct {
	source  gateway.RuleSource // nil when there is one limit and no rules
	against rules.Against
	token   string         // of the admin listener
	admin   *gateway.Admin // nil for none
	end     context.CancelFunc
	running sync.WaitGroup
}

// read finds the first rules, nil when there is one limit instead, and the
// token of who may change them.
func (o *operateOptions) read(ctx context.Context, a *app, store redis.UniversalClient, gateways int, quiet bool) (*operation, *rules.Set, error) {
	op := &operation{against: rules.Against{Now: a.now().UnixNano(), Gateways: gateways}}
	if store != nil {
		op.against.Exact = exactInRedis
	}
	if o.admin != "" {
		var err error
		if op.token, err = o.token(a); err != nil {
			return nil, nil, err
		}
		if err := (gateway.AdminConfig{Listen: o.admin, AllowRemote: o.adminRemote, Token: op.token}).Check(); err != nil {
			return nil, nil, adminError(err)
		}
	}
	switch o.rulesFrom {
	case "":
		return op, nil, nil
	case inRedis:
		k, err := gateway.NewRuleKey(store, o.rulesKey)
		if err != nil {
			return nil, nil, usageError(err, "--rules-key "+gateway.DefaultRuleKey)
		}
		op.source = k
	default:
		op.source = &gateway.RuleFile{Path: o.rulesFrom}
	}
	s, problems, err := gateway.ReadRules(ctx, op.source, op.against)
	if err != nil {
		return nil, nil, ruleError(err)
	}
	if len(problems) > 0 && !quiet {
		fmt.Fprintf(a.stderr, "%s: %s; weir serve rules check %s has them\n", op.source, plural(len(problems), "remark"), o.rulesFrom)
	}
	return op, s, nil
}

// start follows the source and opens the admin listener.
func (op *operation) start(ctx context.Context, a *app, o *operateOptions, f *gateway.Fleet, quiet bool) error {
	ctx, op.end = context.WithCancel(ctx)
	var keeper *gateway.RuleKeeper
	said := events(a)
	if op.source != nil {
		keeper = gateway.NewRuleKeeper(gateway.KeeperConfig{
			Source: op.source, Holder: f, Against: op.against, Now: a.now,
			Observe: func(version int64, err error) {
				sayLoaded(said, version, err, quiet)
				f.RulesChecked(version, err)
			},
		})
		op.running.Go(func() { keeper.Run(ctx) })
		op.running.Go(func() { reloadOnHangup(ctx, keeper) })
	}
	if o.admin == "" {
		return nil
	}
	admin, err := gateway.NewAdmin(gateway.AdminConfig{
		Listen: o.admin, AllowRemote: o.adminRemote, Token: op.token, Holder: f, Keeper: keeper,
		Log: events(a), Now: a.now,
	})
	if err != nil {
		return adminError(err)
	}
	admin.Handle("GET /metrics", f.Metrics())
	if err := admin.Start(); err != nil {
		return reachError(err, "weir serve --admin 127.0.0.1:0")
	}
	op.admin = admin
	if !quiet {
		fmt.Fprintln(a.stderr, "admin: "+admin.URL())
	}
	return nil
}

// failed reports that the admin listener stopped by itself.
func (op *operation) failed() <-chan error {
	if op.admin == nil {
		return nil
	}
	return op.admin.Failed()
}

// stop ends what start began.
func (op *operation) stop(ctx context.Context) error {
	if op.end != nil {
		op.end()
	}
	op.running.Wait()
	if op.admin == nil {
		return nil
	}
	return op.admin.Stop(ctx)
}

// reloadOnHangup reads the source at every SIGHUP, where there is one.
func reloadOnHangup(ctx context.Context, k *gateway.RuleKeeper) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			// It is in the status, and the observer hears it.
			_ = k.Reload(ctx)
		}
	}
}

// sayLoaded is a line about rules that came. A copy that is not taken is an
// error, which is told however quiet a run is.
func sayLoaded(l *log.Logger, version int64, err error, quiet bool) {
	switch {
	case err != nil:
		l.Printf("rules: %s; version %d stays in force", printable(err.Error()), version)
	case !quiet:
		l.Printf("rules: version %d is in force", version)
	}
}

// token is that of the file, or of the environment.
func (o *operateOptions) token(a *app) (string, error) {
	if o.tokenFile == "" {
		return a.env(tokenVariable), nil
	}
	token, err := gateway.ReadToken(o.tokenFile)
	if err != nil {
		return "", reachError(fmt.Errorf("--admin-token-file: %w", err), "head -c 24 /dev/urandom | base64 > "+shellWord(o.tokenFile))
	}
	return token, nil
}

func adminError(err error) error {
	var config *gateway.ConfigError
	switch {
	case errors.Is(err, gateway.ErrRemote):
		return usageError(err, "add --admin-allow-remote if they may, or --admin 127.0.0.1:9900")
	case errors.As(err, &config):
		return usageError(err, "head -c 24 /dev/urandom | base64 > FILE, and --admin-token-file FILE; or "+tokenVariable)
	}
	return internalError(err)
}
