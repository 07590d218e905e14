package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
)

// RuleHolder is what has rules in force; a [*Fleet] is one.
type RuleHolder interface {
	// Rules are those in force.
	Rules() *rules.Set
	// SetRules puts others in force, whose version is higher.
	SetRules(*rules.Set) error
}

// RuleKeeper brings rules from a source into force, and changes to the source.
// A copy that cannot be read, or with faults, leaves what is in force; a copy
// of a lower version is counted and nothing else. Safe for concurrent use.
type RuleKeeper struct {
	source  RuleSource
	holder  RuleHolder
	against rules.Against
	now     func() time.Time
	observe func(version int64, err error)

	mu      sync.Mutex // one load or change at a time
	status  RuleStatus
	seen    []byte // the text that was judged last
	verdict error  // why it was not taken
}

// RuleStatus is how loading has gone.
type RuleStatus struct {
	Source  string    `json:"source"`
	Version int64     `json:"version"` // in force
	Taken   int64     `json:"taken"`   // new versions, changes included
	Late    int64     `json:"late"`    // copies of a version below the one in force
	Broken  int64     `json:"broken"`  // copies that were refused, and failures to read any
	At      time.Time `json:"at"`      // of the last attempt
	Error   string    `json:"error,omitempty"`
}

// KeeperConfig says what a keeper works with.
type KeeperConfig struct {
	Source RuleSource
	Holder RuleHolder
	// Against is what copies are checked for; its Now is set anew for each.
	Against rules.Against
	// Observe, if set, hears of each attempt that told something new: the
	// version now in force, and why a copy was not taken.
	Observe func(version int64, err error)
	Now     func() time.Time // nil is the clock
}

// NewRuleKeeper makes a keeper, which does nothing until it is asked to.
func NewRuleKeeper(c KeeperConfig) *RuleKeeper {
	k := &RuleKeeper{source: c.Source, holder: c.Holder, against: c.Against, now: c.Now, observe: c.Observe}
	if k.now == nil {
		k.now = time.Now
	}
	if k.observe == nil {
		k.observe = func(int64, error) {}
	}
	k.status.Source = c.Source.String()
	k.seen = c.Holder.Rules().Text()
	return k
}

// Run follows the source until ctx ends.
func (k *RuleKeeper) Run(ctx context.Context) {
	k.source.Watch(ctx, func() {
		// It is in the status, and the observer hears it.
		_ = k.Reload(ctx)
	})
}

// Reload reads the source now. It is nil when what is there is in force.
func (k *RuleKeeper) Reload(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, err := k.source.Load(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && k.seen != nil && bytes.Equal(text, k.seen) {
		// Judged before, and counted then.
		back := k.status.Error != "" && k.verdict == nil
		k.status.At, k.status.Error = k.now(), errorText(k.verdict)
		if back {
			k.observe(k.holder.Rules().Version, nil)
		}
		return k.verdict
	}
	if err == nil {
		err = k.take(text)
		k.seen, k.verdict = text, err
	}
	k.tell(err)
	return err
}

// take judges a text and puts it in force.
func (k *RuleKeeper) take(text []byte) error {
	s, err := k.judge(text)
	if err != nil {
		return err
	}
	old := k.holder.Rules()
	switch {
	case s.Version < old.Version:
		k.status.Late++
		return &OldRulesError{s.Version, old.Version}
	case s.Version == old.Version && bytes.Equal(text, old.Text()):
		return nil
	case s.Version == old.Version:
		return &RefusedRulesError{k.source.String(), []rules.Problem{{
			Severity: rules.Fault, ID: "version-again", What: fmt.Sprintf("the rules have changed, and their version is still %d", s.Version),
			Why: "gateways take a copy only when its version is above the one they have", Fix: fmt.Sprintf("version: %d", s.Version+1)}}}
	}
	if err := k.holder.SetRules(s); err != nil {
		return err
	}
	k.status.Taken++
	return nil
}

func (k *RuleKeeper) judge(text []byte) (*rules.Set, error) {
	against := k.against
	against.Now = k.now().UnixNano()
	s, problems := rules.CheckText(text, k.source.String(), against)
	if rules.Faults(problems) > 0 {
		return nil, &RefusedRulesError{k.source.String(), problems}
	}
	return s, nil
}

// errorText is an error's text, "" for none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// tell keeps the books of one attempt.
func (k *RuleKeeper) tell(err error) {
	k.status.At, k.status.Error = k.now(), errorText(err)
	if err != nil {
		var late *OldRulesError
		if !errors.As(err, &late) {
			k.status.Broken++
		}
	}
	k.observe(k.holder.Rules().Version, err)
}

// Status is how loading has gone so far.
func (k *RuleKeeper) Status() RuleStatus {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.status
	s.Version = k.holder.Rules().Version
	return s
}

// Changed is what a change has done.
type Changed struct {
	Set      *rules.Set
	Changes  []rules.Change
	Problems []rules.Problem // none of which is a fault
}

// Change edits what the source has, checks that, writes it to the source and
// puts it in force, or does nothing of it.
func (k *RuleKeeper) Change(ctx context.Context, who, reason string, edit func(*rules.Set) (*rules.Set, error)) (*Changed, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for tries := 1; ; tries++ {
		c, err := k.change(ctx, who, reason, edit)
		if errors.Is(err, ErrRulesChanged) && tries < 3 {
			continue
		}
		if err == nil {
			k.tell(nil)
		}
		return c, err
	}
}

func (k *RuleKeeper) change(ctx context.Context, who, reason string, edit func(*rules.Set) (*rules.Set, error)) (*Changed, error) {
	before, err := k.source.Load(ctx)
	if err != nil {
		return nil, err
	}
	old := k.holder.Rules()
	if !bytes.Equal(before, old.Text()) {
		if old, err = k.judge(before); err != nil {
			return nil, err
		}
	}
	now := k.now()
	next, err := edit(old)
	if err != nil {
		return nil, err
	}
	if inForce := k.holder.Rules().Version; next.Version <= inForce {
		return nil, &OldRulesError{next.Version, inForce}
	}
	against := k.against
	against.Now = now.UnixNano()
	problems := next.Check(against)
	if rules.Faults(problems) > 0 {
		return nil, &RefusedRulesError{"the changed rules", problems}
	}
	if err := k.source.Save(ctx, before, RuleChange{next, who, reason, now}); err != nil {
		return nil, err
	}
	k.seen, k.verdict = next.Text(), nil
	if err := k.holder.SetRules(next); err != nil {
		return nil, fmt.Errorf("written to %s, and not taken here: %w", k.source, err)
	}
	k.status.Taken++
	return &Changed{next, rules.Diff(old, next, now.UnixNano()), problems}, nil
}
