package gateway

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// What leases are made of unless a rule says otherwise.
const (
	blockSpan  = 250 * time.Millisecond // a block lasts a gateway so long at its part of the rate
	blockLeast = 10
	blockLife  = 10 * time.Second
	lowPercent = 20 // a gateway asks again with no more than this much of a block left
	batchSpan  = 100 * time.Millisecond
	batchLife  = time.Second
)

// ready is a rule set made ready for one fleet. Immutable, so all gateways
// share it.
type ready struct {
	set    *rules.Set
	limits []*readyLimit // by rules.Limit.Index
}

// readyLimit is one limit of a set as the fleet's design has it.
type readyLimit struct {
	rule    *rules.Rule
	limit   *rules.Limit
	name    string // of its bucket: the rule's, and the version only by mistake
	spec    limit.Spec
	limiter limit.Limiter
	stored  *redislimit.Rule // with Redis
	wrong   wrongLimit       // decides instead, by mistake; usually nil
	book    *ruleBook

	block *limit.BlockLease // nil when not leased in blocks
	batch *limit.BatchLease // nil when not leased in batches
	pause time.Duration     // from a denial until it is worth asking again

	fallback limit.Fallback // copied for each key
	shareOf  *readyLimit    // FailLocal of a concurrency limit: the gateway's slots
}

// prepare makes set ready. What cannot work is an error that names the rule.
func (f *Fleet) prepare(set *rules.Set) (*ready, error) {
	r := &ready{set: set}
	for _, l := range set.Limits() {
		one, err := f.prepareLimit(l.Rule(), l, set.Version)
		if err != nil {
			if f.cfg.Rules == nil {
				return nil, err
			}
			return nil, fmt.Errorf("rule %s: %w", l.Rule().Name, err)
		}
		r.limits = append(r.limits, one)
	}
	return r, nil
}

func (f *Fleet) prepareLimit(rule *rules.Rule, l *rules.Limit, version int64) (*readyLimit, error) {
	r := &readyLimit{rule: rule, limit: l, name: rule.Name, spec: l.Spec, book: f.books.rule(rule.Name)}
	if f.cfg.Wrong.VersionInKey {
		r.name = redislimit.WrongVersionKey(rule.Name, version)
	}
	var err error
	if f.cfg.Design == ExactShares {
		if r.spec, err = share(l.Spec, f.cfg.Gateways); err != nil {
			return nil, err
		}
	}
	r.spec.Follow = f.cfg.Wrong.skewed() && r.spec.Algorithm == limit.TokenBucket
	if r.limiter, err = r.spec.New(); err != nil {
		return nil, err
	}
	if f.cfg.Redis == nil {
		return r, r.lend(f.cfg)
	}
	if r.stored, err = redislimit.Compile(r.spec); err != nil {
		return nil, err
	}
	if r.wrong, err = f.cfg.Wrong.limit(f.cfg.Redis, r); err != nil {
		return nil, err
	}
	if err := r.lend(f.cfg); err != nil {
		return nil, err
	}
	return r, r.prepareFallback(f.cfg)
}

// lend decides whether gateways hold tokens of this limit. With one limit for
// everybody the design asks for it; with rules, each rule has to as well.
func (r *readyLimit) lend(c Config) error {
	if !c.Design.leases() || r.rule.Security || r.rule.Shadow || c.Rules != nil && !r.rule.Lease.On {
		return nil
	}
	if r.spec.Algorithm != limit.TokenBucket {
		if c.Rules != nil {
			return nil
		}
		return &ConfigError{"design", c.Design.String(), "leases need a token bucket: of " + r.spec.Algorithm.String() + " nothing can be held and given back"}
	}
	if c.Design.batches() {
		size := r.rule.Lease.Block
		if size == 0 {
			size = min(limit.BatchSize(r.spec.Rate, int64(c.Fleet), batchSpan), r.spec.Burst)
		}
		r.pause = min(batchSpan, fillTime(r.spec))
		r.batch = &limit.BatchLease{Batch: size, Life: or(r.rule.Lease.Life, batchLife)}
		return nil
	}
	size := r.rule.Lease.Block
	if size == 0 {
		size = limit.BlockSize(r.spec.Rate, int64(c.Fleet), blockSpan, blockLeast)
	}
	book, err := limit.NewBlockBook(r.spec.Bucket(), size, int64(c.Fleet))
	if err != nil {
		return err
	}
	r.pause = min(book.Pause(), fillTime(r.spec))
	r.block = &limit.BlockLease{Block: size, Low: size * lowPercent / 100, Life: or(r.rule.Lease.Life, blockLife)}
	return nil
}

// fillTime is how long an empty bucket takes to be full. Who keeps away from it
// for longer lets tokens go to waste.
func fillTime(s limit.Spec) time.Duration {
	ns := float64(s.Burst) * float64(s.Rate.Per) / float64(s.Rate.Units)
	return time.Duration(min(ns, math.MaxInt64/4)) // a pause need not be exact
}

// Caution says what a design will not do well with the limits at hand, "" when
// there is nothing to say.
func (f *Fleet) Caution() string {
	n := int64(f.cfg.Fleet)
	for _, r := range f.newest.Load().limits {
		if r.block == nil {
			continue
		}
		if held := times(n*6, r.block.Block) / 5; held > r.spec.Burst {
			return fmt.Sprintf("Caution: %d gateways that lease %d tokens at a time hold up to %d, and %v has %d: some will refuse while others hold what is left. "+
				"A burst of %d or more would do, or deny-cache instead of leases.", n, r.block.Block, held, r.spec, r.spec.Burst, held)
		}
	}
	return ""
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// prepareFallback makes ready what decides while the store does not.
func (r *readyLimit) prepareFallback(c Config) error {
	if r.rule.OnFailure == limit.FailLocal && r.spec.Algorithm == limit.Concurrency {
		spec := r.spec
		num, den := max(1, r.rule.Slack.Num), int64(c.Fleet)*max(1, r.rule.Slack.Den)
		spec.Limit = max(1, spec.Limit/den*num+spec.Limit%den*num/den) // the product may be too large
		l, err := spec.New()
		if err != nil {
			return err
		}
		r.shareOf = &readyLimit{rule: r.rule, limit: r.limit, name: r.name, spec: spec, limiter: l}
		return nil
	}
	part := limit.Fraction{Num: 1, Den: int64(c.Fleet)}
	if s := r.rule.Slack; s.Num > 0 && s.Den > 0 {
		part = limit.Fraction{Num: s.Num, Den: s.Den * int64(c.Fleet)}
	}
	f, err := limit.NewFallback(r.rule.OnFailure, bucketOf(r.spec), part)
	if err != nil {
		return err
	}
	r.fallback = *f
	return nil
}

// bucketOf is the token bucket that comes closest to a limit: what it lets
// pass at once, and then what it lets pass in the long run.
func bucketOf(s limit.Spec) limit.BucketSpec {
	rate := s.Rate
	if s.Window > 0 {
		rate = limit.Rate{Units: s.Limit, Per: s.Window}
	}
	return limit.BucketSpec{Rate: rate, Burst: limit.Whole(capacity(s))}
}
