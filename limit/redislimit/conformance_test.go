package redislimit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/limittest"
)

// epoch is a whole hour of 2026, in unix ns.
const epoch = 1_767_225_600_000_000_000

func compile(tb testing.TB, text string) *Rule {
	tb.Helper()
	spec, err := limit.ParseSpec(text)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := Compile(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// outlive is s with an hour more of life for every key: tests that pass the
// time must not lose a key to the server's clock when the machine is busy.
func outlive(tb testing.TB, s *Script) *Script {
	tb.Helper()
	const life = "/ 1000) + 1000,"
	if strings.Count(s.source, life) != 1 {
		tb.Fatalf("%s sets the life of keys in another way than %q", s.name, life)
	}
	return newScript(s.name, strings.Replace(s.source, life, "/ 1000) + 3600000,", 1))
}

// run calls a script, which the server may not have yet.
func run(c redis.UniversalClient, s *Script, keys []string, args []any) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reply, err := c.EvalSha(ctx, s.sha, keys, args...).Result()
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		reply, err = c.Eval(ctx, s.source, keys, args...).Result()
	}
	return reply, err
}

// check is one check as of now.
func check(c redis.UniversalClient, now int64, parts ...Part) (Answer, error) {
	return checkWith(c, scriptFor(parts), now, parts...)
}

func checkWith(c redis.UniversalClient, s *Script, now int64, parts ...Part) (Answer, error) {
	if err := checkParts(parts); err != nil {
		return Answer{}, err
	}
	keys, args := encode(nil, now, parts)
	reply, err := run(c, s, keys, args)
	if err != nil {
		return Answer{}, err
	}
	return decode(reply, parts)
}

func mustCheck(tb testing.TB, c redis.UniversalClient, now int64, parts ...Part) Answer {
	tb.Helper()
	a, err := check(c, now, parts...)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// each runs f on a miniredis, a real server and a cluster of three primaries.
func each(t *testing.T, f func(t *testing.T, c redis.UniversalClient)) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) { f(t, r.Client(t)) })
	t.Run("cluster", func(t *testing.T) { f(t, redistest.Cluster(t, 3, 0).Client(t)) })
}

// kept are the algorithms that Compile knows, in order.
func kept() (out []limit.Algorithm) {
	for a := range algorithms {
		out = append(out, a)
	}
	slices.Sort(out)
	return out
}

// taker is one spec for the suite, with keys of its own.
type taker struct {
	c    redis.UniversalClient
	s    *Script
	r    *Rule
	name string
}

var takers atomic.Int64

func newTaker(tb testing.TB, c redis.UniversalClient, spec limit.Spec) *taker {
	tb.Helper()
	r, err := Compile(spec)
	if err != nil {
		tb.Fatal(err)
	}
	return &taker{c, outlive(tb, scriptFor([]Part{{Rule: r}})), r, fmt.Sprint("suite-", takers.Add(1))}
}

func (t *taker) Take(key string, now, cost int64) (limit.Decision, error) {
	a, err := checkWith(t.c, t.s, now, Part{Key: "rl:{" + key + "}:" + t.name, Rule: t.r, Cost: cost})
	if err == nil && (a.By != 0 || a.Parts[0] != a.Decision || a.At != now) {
		err = fmt.Errorf("one part's answer is not its decision at %d: %+v", now, a)
	}
	return a.Decision, err
}

func TestConformance(t *testing.T) {
	each(t, func(t *testing.T, c redis.UniversalClient) {
		var algorithms []limit.Algorithm
		for _, a := range kept() {
			if a != limit.Concurrency { // whose slots have holders
				algorithms = append(algorithms, a)
			}
		}
		limittest.Run(t, limittest.Suite{
			New:        func(tb testing.TB, spec limit.Spec) limittest.Taker { return newTaker(tb, c, spec) },
			Algorithms: algorithms,
			Grain:      time.Microsecond,
			Epoch:      epoch,
		})
	})
}
