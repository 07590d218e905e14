package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// ruleBox is a fleet as far as rules go.
type ruleBox struct {
	mu  sync.Mutex
	set *rules.Set
	err error
}

func (h *ruleBox) Rules() *rules.Set {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.set
}

func (h *ruleBox) SetRules(s *rules.Set) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return h.err
	}
	if s.Version <= h.set.Version {
		return fmt.Errorf("version %d after %d", s.Version, h.set.Version)
	}
	h.set = s
	return nil
}

func ruleText(version int64, limit string) []byte {
	return fmt.Appendf(nil, "version: %d\nrules:\n  - name: requests\n    per: key\n    limits:\n      - {default: true, limit: \"%s\"}\n", version, limit)
}

func ruleSet(t testing.TB, text []byte) *rules.Set {
	t.Helper()
	s, err := rules.Parse(text, "f")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// eachSource runs f on a file and on keys of Redis; put writes as somebody
// else would, who knows nothing of weir.
func eachSource(t *testing.T, f func(t *testing.T, s RuleSource, put func(text []byte))) {
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "rules.yaml")
		f(t, &RuleFile{Path: path, Every: time.Millisecond}, func(text []byte) {
			err := os.WriteFile(path+".new", text, 0o640)
			if err == nil {
				err = os.Rename(path+".new", path)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	})
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := r.Client(t)
		k, err := NewRuleKey(c, "")
		if err != nil {
			t.Fatal(err)
		}
		k.Every = time.Millisecond
		f(t, k, func(text []byte) {
			if err := c.Set(context.Background(), k.Key, text, 0).Err(); err != nil {
				t.Fatal(err)
			}
		})
	})
}

func TestKeeperFollowsItsSource(t *testing.T) {
	eachSource(t, func(t *testing.T, s RuleSource, put func([]byte)) {
		put(ruleText(3, "10/s,burst=20"))
		set, problems, err := ReadRules(t.Context(), s, rules.Against{})
		if err != nil || len(problems) > 0 || set.Version != 3 {
			t.Fatalf("%v %v %v", set, problems, err)
		}
		h := &ruleBox{set: set}
		var mu sync.Mutex
		var heard []string
		k := NewRuleKeeper(KeeperConfig{Source: s, Holder: h, Observe: func(version int64, err error) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, fmt.Sprintf("%d %v", version, err != nil))
		}})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { k.Run(ctx) })
		defer running.Wait()
		defer stop()
		steps := []struct {
			name    string
			text    []byte
			version int64
			want    RuleStatus
			says    string
		}{
			{"a new version", ruleText(4, "20/s,burst=40"), 4, RuleStatus{Taken: 1}, ""},
			{"a late copy", ruleText(2, "1/s,burst=1"), 4, RuleStatus{Taken: 1, Late: 1}, "version 2 come too late"},
			{"a broken copy", []byte("version: 5\nrules:\n  - name: [\n"), 4, RuleStatus{Taken: 1, Late: 1, Broken: 1}, ":"},
			{"a copy with a fault", []byte(strings.ReplaceAll(string(ruleText(5, "10/s,burst=20")), "default: true", "plan: gold")), 4, RuleStatus{Taken: 1, Late: 1, Broken: 2}, "no default"},
			{"the same version again", ruleText(4, "21/s,burst=42"), 4, RuleStatus{Taken: 1, Late: 1, Broken: 3}, "their version is still 4"},
			{"at last", ruleText(6, "30/s,burst=60"), 6, RuleStatus{Taken: 2, Late: 1, Broken: 3}, ""},
		}
		for _, step := range steps {
			put(step.text)
			eventually(t, step.name, func() bool {
				got := k.Status()
				return got.Taken == step.want.Taken && got.Late == step.want.Late && got.Broken >= step.want.Broken && (got.Error != "") == (step.says != "")
			})
			if got := k.Status(); !strings.Contains(got.Error, step.says) || h.Rules().Version != step.version || got.Version != step.version {
				t.Errorf("%s: status %+v, in force %d", step.name, got, h.Rules().Version)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(heard) < len(steps) || heard[len(heard)-1] != "6 false" {
			t.Errorf("heard %q", heard)
		}
	})
}

func TestKeeperChanges(t *testing.T) {
	eachSource(t, func(t *testing.T, s RuleSource, put func([]byte)) {
		put(ruleText(3, "10/s,burst=20"))
		set, _, err := ReadRules(t.Context(), s, rules.Against{})
		if err != nil {
			t.Fatal(err)
		}
		h := &ruleBox{set: set}
		k := NewRuleKeeper(KeeperConfig{Source: s, Holder: h})
		wider := func(spec string) func(*rules.Set) (*rules.Set, error) {
			return func(s *rules.Set) (*rules.Set, error) {
				l, err := limit.ParseSpec(spec)
				if err != nil {
					return nil, err
				}
				return s.SetLimit("requests", "default", l)
			}
		}
		c, err := k.Change(t.Context(), "ops", "a launch", wider("20/s,burst=40"))
		if err != nil || c.Set.Version != 4 || len(c.Changes) != 2 || h.Rules() != c.Set {
			t.Fatalf("%+v %v", c, err)
		}
		// Somebody else writes while this one edits: it is done on what they wrote.
		once := true
		c, err = k.Change(t.Context(), "ops", "again", func(s *rules.Set) (*rules.Set, error) {
			if once {
				once = false
				put(ruleText(8, "50/s,burst=50"))
			}
			return wider("60/s,burst=60")(s)
		})
		if err != nil || c.Set.Version != 9 || h.Rules().Version != 9 {
			t.Fatalf("%+v %v", c, err)
		}
		text, err := s.Load(t.Context())
		if err != nil || string(text) != string(c.Set.Text()) {
			t.Errorf("the source has %q, %v", text, err)
		}
		// And when they never stop, it gives up.
		n := int64(10)
		_, err = k.Change(t.Context(), "ops", "never", func(s *rules.Set) (*rules.Set, error) {
			n++
			put(ruleText(n, "50/s,burst=50"))
			return wider("60/s,burst=60")(s)
		})
		if !errors.Is(err, ErrRulesChanged) {
			t.Errorf("got %v", err)
		}
		// A fault is not written.
		_, err = k.Change(t.Context(), "ops", "dear", func(s *rules.Set) (*rules.Set, error) {
			return rules.Parse(fmt.Appendf(ruleText(n+1, "1/s,burst=1"), "    cost: 5\n"), "f")
		})
		var refused *RefusedRulesError
		if !errors.As(err, &refused) || refused.Problems[0].ID != "cost-above-burst" {
			t.Errorf("got %v", err)
		}
		if h.Rules().Version != 9 {
			t.Errorf("version %d is in force", h.Rules().Version)
		}
		// A source that is behind is not written to.
		put(ruleText(2, "1/s,burst=1"))
		_, err = k.Change(t.Context(), "ops", "late", wider("2/s,burst=2"))
		var late *OldRulesError
		if !errors.As(err, &late) || late.Version != 3 || late.InForce != 9 {
			t.Errorf("got %v", err)
		}
	})
}

func TestNoRulesYet(t *testing.T) {
	eachSource(t, func(t *testing.T, s RuleSource, put func([]byte)) {
		if _, _, err := ReadRules(t.Context(), s, rules.Against{}); !errors.Is(err, ErrNoRules) {
			t.Fatalf("got %v", err)
		}
		change := RuleChange{Set: ruleSet(t, ruleText(1, "1/s,burst=1")), Who: "ops", Reason: "first", At: time.Unix(1, 0)}
		if err := s.Save(t.Context(), []byte("something"), change); !errors.Is(err, ErrRulesChanged) {
			t.Errorf("in place of what is not there: %v", err)
		}
		if err := s.Save(t.Context(), nil, change); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(t.Context(), nil, change); !errors.Is(err, ErrRulesChanged) {
			t.Errorf("the first twice: %v", err)
		}
		if set, _, err := ReadRules(t.Context(), s, rules.Against{}); err != nil || set.Version != 1 {
			t.Errorf("%v %v", set, err)
		}
	})
}

// Of many that write at once, each finds what it read or is told.
func TestOnlyOneWriterWins(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		k, err := NewRuleKey(r.Client(t), "shop:rules")
		if err != nil {
			t.Fatal(err)
		}
		before := ruleText(1, "1/s,burst=1")
		if err := k.Save(t.Context(), nil, RuleChange{Set: ruleSet(t, before)}); err != nil {
			t.Fatal(err)
		}
		var writing sync.WaitGroup
		results := make([]error, 20)
		for i := range results {
			set := ruleSet(t, ruleText(2, fmt.Sprintf("%d/s,burst=9", i+1)))
			writing.Go(func() { results[i] = k.Save(t.Context(), before, RuleChange{Set: set, Who: fmt.Sprint(i)}) })
		}
		writing.Wait()
		won := 0
		for _, err := range results {
			if err == nil {
				won++
			} else if !errors.Is(err, ErrRulesChanged) {
				t.Error(err)
			}
		}
		h, err := k.History(t.Context())
		if won != 1 || err != nil || len(h) != 2 || h[0].Version != 2 || h[1].Version != 1 {
			t.Errorf("%d won; history %+v, %v", won, h, err)
		}
	})
}

// What stands in the way of a push may be beside the rules.
func TestAHistoryThatIsNone(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := r.Client(t)
		k, err := NewRuleKey(c, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Set(t.Context(), k.history(), "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
		err = k.Save(t.Context(), nil, RuleChange{Set: ruleSet(t, ruleText(1, "1/s,burst=1"))})
		if err == nil || !strings.Contains(err.Error(), "redis key rl:rules or {rl:rules}:history: ") {
			t.Errorf("%v", err)
		}
		if n := c.Exists(t.Context(), k.Key).Val(); n != 0 {
			t.Error("the rules were written all the same")
		}
	})
}

func TestHistoryIsBounded(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := r.Client(t)
		k, err := NewRuleKey(c, "{shop}:rules")
		if err != nil {
			t.Fatal(err)
		}
		var before []byte
		for v := int64(1); v <= maxHistory+3; v++ {
			set := ruleSet(t, ruleText(v, "1/s,burst=1"))
			if err := k.Save(t.Context(), before, RuleChange{set, "ops", strings.Repeat("é", rules.MaxReason), time.Unix(v, 0)}); err != nil {
				t.Fatal(err)
			}
			before = set.Text()
		}
		h, err := k.History(t.Context())
		if err != nil || len(h) != maxHistory || h[0].Version != maxHistory+3 || len(h[0].Reason) > rules.MaxReason || h[0].Bytes != len(before) {
			t.Fatalf("%d entries, %v", len(h), err)
		}
		// What is no entry of ours is left out.
		for _, bad := range []string{"x", "{}", `{"version":-1}`, strings.Repeat("x", maxEntry+1), `["` + strings.Repeat("[", 2000)} {
			if err := c.LPush(t.Context(), k.history(), bad).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if h, err := k.History(t.Context()); err != nil || len(h) != maxHistory-5 {
			t.Errorf("%d entries, %v", len(h), err)
		}
	})
}

func TestRuleKeysAreInOneSlot(t *testing.T) {
	for key, want := range map[string]string{"": "{rl:rules}:history", "a": "{a}:history", "{a}:b": "{a}:b:history", "x{a}": "x{a}:history"} {
		k, err := NewRuleKey(nil, key)
		if err != nil || k.history() != want {
			t.Errorf("%q: %v %v", key, k, err)
		}
	}
	for _, key := range []string{"{", "a}", "{}", "a{b", "{a}{b}", "a b", "a\n", strings.Repeat("a", 201)} {
		if _, err := NewRuleKey(nil, key); err == nil {
			t.Errorf("%q is taken", key)
		}
	}
}

// The page says what an ACL user needs to follow and change rules.
func TestDocumentedACLIsEnough(t *testing.T) {
	page, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, acl, ok := strings.Cut(strings.ReplaceAll(string(page), "\n", " "), "to follow and change rules: `")
	acl, _, ended := strings.Cut(acl, "`")
	if !ok || !ended {
		t.Fatal("the page names no ACL")
	}
	r := redistest.ACL(t, "limiter on >S3cret resetchannels "+acl)
	c, err := redisconn.Open(redisconn.Options{URL: r.As("limiter", "S3cret")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	k, err := NewRuleKey(c, "")
	if err != nil {
		t.Fatal(err)
	}
	k.Every = time.Hour // what comes is heard of
	if err := redisconn.Ping(t.Context(), c); err != nil {
		t.Error(err)
	}
	if err := k.Save(t.Context(), nil, RuleChange{Set: ruleSet(t, ruleText(1, "1/s,burst=1"))}); err != nil {
		t.Fatal(err)
	}
	set, _, err := ReadRules(t.Context(), k, rules.Against{})
	if err != nil {
		t.Fatal(err)
	}
	keeper := NewRuleKeeper(KeeperConfig{Source: k, Holder: &ruleBox{set: set}})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { keeper.Run(ctx) })
	eventually(t, "somebody listens", func() bool { return strings.Contains(r.CLI("PUBSUB", "NUMSUB", k.Key), "1") })
	if err := k.Save(t.Context(), set.Text(), RuleChange{Set: ruleSet(t, ruleText(2, "1/s,burst=1"))}); err != nil {
		t.Error(err)
	}
	eventually(t, "the second is in force", func() bool { return keeper.Status().Version == 2 })
	if h, err := k.History(t.Context()); err != nil || len(h) != 2 {
		t.Errorf("history %+v, %v", h, err)
	}
	stop()
	running.Wait()
}

func TestRulesInACluster(t *testing.T) {
	c := redistest.Cluster(t, 3, 0)
	k, err := NewRuleKey(c.Client(t), "")
	if err != nil {
		t.Fatal(err)
	}
	k.Every = 10 * time.Second // only the channel is quick enough
	if err := k.Save(t.Context(), nil, RuleChange{Set: ruleSet(t, ruleText(1, "1/s,burst=1"))}); err != nil {
		t.Fatal(err)
	}
	set, _, err := ReadRules(t.Context(), k, rules.Against{})
	if err != nil {
		t.Fatal(err)
	}
	h := &ruleBox{set: set}
	keeper := NewRuleKeeper(KeeperConfig{Source: k, Holder: h})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { keeper.Run(ctx) })
	defer running.Wait()
	defer stop()
	eventually(t, "it listens", func() bool {
		n, err := k.Client.PubSubNumSub(t.Context(), k.Key).Result()
		return err == nil && n[k.Key] > 0 || !keeper.Status().At.IsZero()
	})
	before := set
	eventually(t, "heard of", func() bool {
		next := ruleSet(t, ruleText(before.Version+1, "2/s,burst=2"))
		if err := k.Save(t.Context(), before.Text(), RuleChange{Set: next}); err != nil {
			t.Fatal(err)
		}
		before = next
		time.Sleep(20 * time.Millisecond)
		return h.Rules().Version > 1
	})
}

func TestRuleFileKeepsItsModeAndLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.yaml"), filepath.Join(dir, "rules.yaml")
	before := ruleText(1, "1/s,burst=1")
	if err := os.WriteFile(real, before, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.yaml", link); err != nil {
		t.Skip(err)
	}
	f := &RuleFile{Path: link}
	if err := f.Save(t.Context(), before, RuleChange{Set: ruleSet(t, ruleText(2, "1/s,burst=1"))}); err != nil {
		t.Fatal(err)
	}
	st, err := os.Lstat(link)
	if err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", st, err)
	}
	if st, err = os.Stat(real); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", st, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}
