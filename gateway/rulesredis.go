package gateway

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/limit/redislimit"
	"github.com/weir-cli/weir/report"
)

const (
	// DefaultRuleKey is where rules are in Redis.
	DefaultRuleKey = "rl:rules"
	// maxHistory is how many changes are remembered.
	maxHistory = 100
	// maxEntry bounds one of them, in bytes.
	maxEntry = 4 << 10
)

// RuleKey is a source in Redis: a string with the text of the rules under Key,
// a list of its changes beside it, and a channel of the same name on which a
// change is told.
type RuleKey struct {
	Client redis.UniversalClient
	Key    string
	// Every is how often it is looked at, besides what the channel tells; 0 is
	// five seconds.
	Every time.Duration
}

// RuleStoreError is a store that did not do what was asked.
type RuleStoreError struct {
	Key string
	Err error
}

func (e *RuleStoreError) Error() string {
	text, _ := redisconn.Explain(e.Err)
	return "redis key " + e.Key + ": " + text
}

// Hint is what to type about it; "" for nothing.
func (e *RuleStoreError) Hint() string {
	_, hint := redisconn.Explain(e.Err)
	return hint
}

func (e *RuleStoreError) Unwrap() error { return e.Err }

// tagged is a key that a cluster hashes by a part of it.
var tagged = regexp.MustCompile(`^[^{}]*\{[^{}]+\}[^{}]*$`)

// NewRuleKey checks the name; "" is [DefaultRuleKey].
func NewRuleKey(c redis.UniversalClient, key string) (*RuleKey, error) {
	if key == "" {
		key = DefaultRuleKey
	}
	if len(key) > 200 || strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r == 0x7f }) >= 0 {
		return nil, &ConfigError{"rules key", report.Clean(key), "too long, or with a space in it"}
	}
	if strings.ContainsAny(key, "{}") && !tagged.MatchString(key) {
		return nil, &ConfigError{"rules key", key, "braces go around one part of it, such as {shop}:rules"}
	}
	return &RuleKey{Client: c, Key: key}, nil
}

// history is the list's key, in the same slot of a cluster.
func (k *RuleKey) history() string {
	if strings.Contains(k.Key, "{") {
		return k.Key + ":history"
	}
	return "{" + k.Key + "}:history"
}

// String names the key.
func (k *RuleKey) String() string { return "redis key " + k.Key }

// Load reads the text, and no more than a set may have and one byte.
func (k *RuleKey) Load(ctx context.Context) ([]byte, error) {
	text, err := k.Client.GetRange(ctx, k.Key, 0, rules.MaxBytes).Bytes()
	switch {
	case err != nil:
		return nil, &RuleStoreError{k.Key, err}
	case len(text) == 0:
		return nil, fmt.Errorf("%w in %s", ErrNoRules, k)
	}
	return text, nil
}

// push replaces a text that is still the one that was judged, and remembers
// and tells it. A channel that the user may not publish on does not undo that.
var push = redis.NewScript(`
local now = redis.call('GET', KEYS[1])
local sum = ''
if now and now ~= '' then sum = redis.sha1hex(now) end
if sum ~= ARGV[1] then return 0 end
redis.call('LPUSH', KEYS[2], ARGV[3])
redis.call('LTRIM', KEYS[2], 0, tonumber(ARGV[4]) - 1)
redis.call('SET', KEYS[1], ARGV[2])
redis.pcall('PUBLISH', KEYS[1], ARGV[5])
return 1
`)

// Pushed is a change that the history remembers.
type Pushed struct {
	Version int64     `json:"version"`
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	Reason  string    `json:"reason"`
	SHA256  string    `json:"sha256"` // of the text
	Bytes   int       `json:"bytes"`
}

// Save replaces the text in one script, which does nothing when the text is
// not the one before any more.
func (k *RuleKey) Save(ctx context.Context, before []byte, s RuleChange) error {
	sum := ""
	if len(before) > 0 {
		old := sha1.Sum(before)
		sum = hex.EncodeToString(old[:])
	}
	text := s.Set.Text()
	full := sha256.Sum256(text)
	entry, err := json.Marshal(Pushed{s.Set.Version, s.At.UTC().Truncate(time.Millisecond), atMost(s.Who, 100), atMost(s.Reason, rules.MaxReason), hex.EncodeToString(full[:]), len(text)})
	if err != nil {
		return err
	}
	done, err := push.Run(ctx, k.Client, []string{k.Key, k.history()}, sum, text, entry, maxHistory, s.Set.Version).Int64()
	switch {
	case redislimit.Classify(err) == redislimit.KindWrongType:
		return &RuleStoreError{k.Key + " or " + k.history(), err}
	case err != nil:
		return &RuleStoreError{k.Key, err}
	case done == 0:
		return ErrRulesChanged
	}
	return nil
}

// atMost is s up to a number of bytes, without half a character.
func atMost(s string, most int) string {
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}

// History is the last changes, the newest first. Entries that are none are
// left out.
func (k *RuleKey) History(ctx context.Context) ([]Pushed, error) {
	entries, err := k.Client.LRange(ctx, k.history(), 0, maxHistory-1).Result()
	if err != nil {
		return nil, &RuleStoreError{k.history(), err}
	}
	out := []Pushed{}
	for _, e := range entries {
		var p Pushed
		if len(e) <= maxEntry && json.Unmarshal([]byte(e), &p) == nil && p.Version > 0 {
			p.Who, p.Reason, p.SHA256 = atMost(p.Who, 100), atMost(p.Reason, rules.MaxReason), atMost(p.SHA256, 64)
			out = append(out, p)
		}
	}
	return out, nil
}

// Watch hears what is published, and looks for itself: at the newest entry of
// the history and the length of the text often, at the text now and then.
func (k *RuleKey) Watch(ctx context.Context, changed func()) {
	every := k.Every
	if every <= 0 {
		every = 5 * time.Second
	}
	heard := k.Client.Subscribe(ctx, k.Key)
	defer heard.Close()
	messages := heard.Channel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := k.glance(ctx)
	// What came between the caller's reading and the first look.
	changed()
	for looks := 1; ; looks++ {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-messages:
			if !ok {
				messages = nil // the client is closed
				continue
			}
			changed()
			continue
		case <-tick.C:
		}
		if now := k.glance(ctx); now != last && now != "" || looks%12 == 0 {
			last = now
			changed()
		}
	}
}

// glance is what is different after every push, and after most other ways to
// write the text; "" when the store does not say.
func (k *RuleKey) glance(ctx context.Context) string {
	var newest *redis.StringCmd
	var length *redis.IntCmd
	// An absent list is an error, and no trouble.
	_, _ = k.Client.Pipelined(ctx, func(p redis.Pipeliner) error {
		newest, length = p.LIndex(ctx, k.history(), 0), p.StrLen(ctx, k.Key)
		return nil
	})
	if length.Err() != nil {
		return ""
	}
	return fmt.Sprintf("%d %s", length.Val(), atMost(newest.Val(), maxEntry))
}
