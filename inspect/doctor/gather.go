package doctor

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/inspect/survey"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// Gather asks each server, of a cluster each primary, for INFO, its time, how
// many keys it has and which known scripts it has loaded. What is not allowed
// is returned, and left out. clock is the local time.
func Gather(ctx context.Context, client redis.UniversalClient, clock func() time.Time) ([]Server, []inspect.Blind, error) {
	var mu sync.Mutex
	var servers []Server
	var blind []inspect.Blind
	ask := func(cluster bool) func(ctx context.Context, node *redis.Client) error {
		return func(ctx context.Context, node *redis.Client) error {
			s, missing, err := gather(ctx, node, clock)
			if err != nil {
				return err
			}
			s.Cluster = cluster
			mu.Lock()
			defer mu.Unlock()
			servers = append(servers, s)
			for _, b := range missing {
				if !slices.Contains(blind, b) {
					blind = append(blind, b)
				}
			}
			return nil
		}
	}
	var err error
	switch c := client.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, ask(true))
	case *redis.Client:
		err = ask(false)(ctx, c)
	}
	slices.SortFunc(servers, func(a, b Server) int { return strings.Compare(a.Addr, b.Addr) })
	return servers, blind, err
}

// failover is what go-redis calls the address that sentinels know.
const failover = "FailoverClient"

func gather(ctx context.Context, c *redis.Client, clock func() time.Time) (s Server, blind []inspect.Blind, err error) {
	s.Addr = c.Options().Addr
	if s.Addr == failover {
		s.Addr = "the primary"
	}
	// do is an error only when the server could not be asked.
	do := func(command string, lost string, err error) (ok bool, fatal error) {
		switch {
		case err == nil:
			return true, nil
		case redislimit.Classify(err) == redislimit.KindNoPerm:
			blind = append(blind, inspect.Blind{Command: command, Rule: inspect.RuleFor(command, err), Lost: lost})
			return false, nil
		}
		return false, err
	}
	text, err := c.Info(ctx).Result()
	ok, fatal := do("INFO", "how its memory, its evictions and its replicas are", err)
	if fatal != nil {
		return s, nil, fatal
	}
	if ok {
		s.Facts = survey.ParseFacts(text)
	}
	before := clock()
	now, err := c.Time(ctx).Result()
	if ok, fatal = do("TIME", "whether its clock is right", err); fatal != nil {
		return s, nil, fatal
	}
	if ok {
		s.RTT = clock().Sub(before)
		s.Skew = now.Sub(before.Add(s.RTT / 2))
	}
	s.Keys, err = c.DBSize(ctx).Result()
	if _, fatal = do("DBSIZE", "how many keys it has", err); fatal != nil {
		return s, nil, fatal
	}
	shas := knownScripts()
	there, err := c.ScriptExists(ctx, shas...).Result()
	if ok, fatal = do("SCRIPT EXISTS", "which scripts are loaded", err); fatal != nil {
		return s, nil, fatal
	}
	if ok && len(there) == len(shas) {
		s.Scripts = map[string]bool{}
		for i, sha := range shas {
			s.Scripts[sha] = there[i]
		}
	}
	return s, blind, nil
}

// ownScripts are weir's, by SHA: those that decide one limit of each kind.
var ownScripts = sync.OnceValue(func() map[string]string {
	own := map[string]string{}
	for _, text := range []string{
		"token-bucket:rate=10/s,burst=20", "gcra:rate=10/s,burst=20", "leaky-meter:rate=10/s,burst=20", "leaky-queue:rate=10/s,queue=20",
		"fixed-window:limit=9,window=1s", "sliding-log:limit=9,window=1s", "sliding-counter:limit=9,window=1s", "concurrency:limit=9",
	} {
		spec, err := limit.ParseSpec(text)
		must(err)
		rule, err := redislimit.Compile(spec)
		must(err)
		source, _, err := redislimit.Wire(redislimit.Part{Key: redislimit.Key("", "k", "r"), Rule: rule, Cost: 1, ID: "x"})
		must(err)
		sum := sha1.Sum([]byte(source))
		own[hex.EncodeToString(sum[:])] = "Weir's script for " + spec.Algorithm.String()
	}
	return own
})

// must is for texts of this file, which a test reads.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func knownScripts() []string {
	var shas []string
	for _, s := range inspect.Scripts() {
		shas = append(shas, s.SHA)
	}
	return append(shas, inOrder(ownScripts())...)
}

func scriptName(sha string) string {
	if s, ok := inspect.ScriptOf(sha); ok {
		return "The script of " + s.Name
	}
	return ownScripts()[sha]
}
