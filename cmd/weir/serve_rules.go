package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

func newServeRulesCmd(a *app) *cobra.Command {
	return group("rules",
		"Check, compare and publish the rules that gateways enforce",
		`Rules say which limits there are, whom each counts, what a route costs, what
happens while the store does not answer, and who has been granted something
else until when. They stand in a file, or in Redis under one key that all
gateways follow. Their version only goes up.`,
		`  weir serve rules check rules.yaml
  weir serve rules diff redis rules.yaml --redis redis://127.0.0.1:6379
  weir serve rules push rules.yaml --redis redis://127.0.0.1:6379 --reason "more for gold" --yes
  weir serve rules history --redis redis://127.0.0.1:6379`,
		newRulesCheckCmd(a),
		newRulesDiffCmd(a),
		newRulesPushCmd(a),
		newRulesHistoryCmd(a),
	)
}

// inRedis is how a command line names the rules that are in Redis.
const inRedis = "redis"

// ruleFlags are how a verb finds rules in Redis.
type ruleFlags struct {
	redis *redisFlags
	key   string
}

func newRuleFlags(fs *pflag.FlagSet) *ruleFlags {
	f := &ruleFlags{redis: newRedisFlags(fs)}
	fs.StringVar(&f.key, "rules-key", gateway.DefaultRuleKey, "the `KEY` of the rules in Redis")
	return f
}

// open connects to the key; done ends that.
func (f *ruleFlags) open(ctx context.Context, a *app, example string) (k *gateway.RuleKey, done func(), err error) {
	if !f.redis.given() {
		return nil, nil, usagef(example+" --redis redis://127.0.0.1:6379", "--redis is missing: which Redis has the rules?")
	}
	if f.redis.embedded() {
		return nil, nil, usagef(example+" --redis redis://127.0.0.1:6379", "an embedded Redis ends with its process and keeps no rules")
	}
	if k, err = gateway.NewRuleKey(nil, f.key); err != nil {
		return nil, nil, usageError(err, "--rules-key "+gateway.DefaultRuleKey)
	}
	var c redis.UniversalClient
	if c, err = f.redis.open(ctx, a); err != nil {
		return nil, nil, err
	}
	k.Client = c
	return k, func() { _ = c.Close() }, nil // what it was asked is done
}

// exactInRedis tells why the limiter on Redis cannot count a limit exactly.
func exactInRedis(s limit.Spec) error {
	_, err := redislimit.Compile(s)
	return err
}

// ruleError types an error of reading or writing rules.
func ruleError(err error) error {
	var store *gateway.RuleStoreError
	var refused *gateway.RefusedRulesError
	var path *fs.PathError
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &store):
		return reachError(err, store.Hint())
	case errors.As(err, &refused):
		return usageError(err, "weir serve rules check "+shellWord(refused.Source))
	case errors.Is(err, gateway.ErrRulesChanged):
		return reachError(err, "run it again")
	case errors.Is(err, gateway.ErrNoRules) && !errors.Is(err, fs.ErrNotExist):
		return reachError(err, "weir serve rules push FILE --reason TEXT --yes")
	case errors.Is(err, gateway.ErrNoRules):
		return reachError(err, "correct the path; the manual has a file to begin with: docs/rules.md")
	case errors.As(err, &path):
		return reachError(err, "a file of rules that can be read")
	}
	return internalError(err)
}

// shellWord is s where a hint names it: a file as it is, else the word FILE.
func shellWord(s string) string {
	if s == "" || strings.ContainsAny(s, " '\"$\\") {
		return "FILE"
	}
	return s
}

// signedBy is who a history names when nobody says.
func signedBy(a *app) string {
	user := a.env("USER")
	if user == "" {
		user = a.env("USERNAME")
	}
	host, err := os.Hostname()
	switch {
	case err != nil:
		return user
	case user == "":
		return host
	}
	return user + "@" + host
}

// readRuleText reads a file or, for "redis", the key, and parses it without
// judging it.
func readRuleText(ctx context.Context, from gateway.RuleSource) (*rules.Set, error) {
	text, err := from.Load(ctx)
	if err != nil {
		return nil, ruleError(err)
	}
	s, err := rules.Parse(text, from.String())
	if err != nil {
		return nil, ruleError(&gateway.RefusedRulesError{Source: from.String(), Problems: rules.Problems(err)})
	}
	return s, nil
}
