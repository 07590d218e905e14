package inspect

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Names that several writers use are told apart by type and shape; where they
// cannot be, nobody is certain and the others are named.
func TestCollisions(t *testing.T) {
	const now = 1795978183000000000
	text := func(key, value string, ttl time.Duration) Entry {
		return Entry{Key: key, Type: "string", TTL: ttl, Text: []byte(value), Len: int64(len(value))}
	}
	hash := func(key string, fields ...string) Entry {
		e := Entry{Key: key, Type: "hash", TTL: time.Minute, Fields: map[string]string{}}
		for i := 0; i < len(fields); i += 2 {
			e.Fields[fields[i]] = fields[i+1]
		}
		return e
	}
	set := func(key, member string, score float64) Entry {
		return Entry{Key: key, Type: "zset", TTL: time.Minute, Members: []Member{{member, score}}, Len: 1}
	}
	hex64 := strings.Repeat("0a", 32)
	for _, c := range []struct {
		e      Entry
		want   string
		sure   Sure
		others string
	}{
		{text("rate:user:42", "312749383.5", time.Second), "redis-rate", Likely, "redis-gcra-ruby"},
		{hash("rate:mw@file:10.0.0.1", "last", "1795978182698044", "tokens", "17.6"), "traefik", Certain, ""},
		{text("rl:10.0.0.1", "2", time.Minute), "rate-limit-redis", Likely, "go-zero-period"},
		{text(":1:rl:"+hex64, "2", time.Minute), "django-ratelimit", Certain, ""},
		{text("rl:fw:{u}", "2", time.Minute), "redis-rate-limiting-fixed", Certain, "rate-limit-redis"},
		{text("rl:tb:{u}", "2", time.Minute), "redis-rate-limiting-token", Certain, "rate-limit-redis"},
		{set("rl:sw:{u}", "id", 1795978182000), "redis-rate-limiting-sliding", Certain, ""},
		{set("rl:cc:{u}", "id", 1795978182000), "redis-rate-limiting-concurrency", Certain, ""},
		{set("limit:u", "1795978182412884", 1795978182412884), "tj-ratelimiter", Certain, ""},
		{set("limit:u", "1795978182415.1592", 1795978182415.1592), "async-ratelimiter", Certain, ""},
		{text("ratelimit:00000000-0000-0000-0000-000000000000:s:10.0.0.1:1795978140000:minute", "1", time.Minute), "kong", Certain, ""},
		{hash("ratelimit:emails:u", "359195636", "4"), "ruby-ratelimit", Likely, ""},
		{text("throttled:v1:gcra:u", "60317389.79", time.Minute), "throttled-py-gcra", Certain, ""},
		{set("throttled:mail:concurrency.v2", "jid", 1795978983), "sidekiq-concurrency", Certain, ""},
		{text("plugin-limit-count:v1:r:u", "2", time.Minute), "apisix-count", Certain, "apisix-count-before-3.18"},
		{text("plugin-limit-countr:u", "2", time.Minute), "apisix-count-before-3.18", Likely, ""},
		{text("{api}.tokens", "19", time.Second), "go-zero-token", Certain, ""},
		{text("request_rate_limiter.{r1.u1}.tokens", "19", time.Second), "spring", Likely, "spring-before-4.2"},
		{text("{p}1795978140000000000", "3", time.Minute), "mennanov-fixed", Likely, "mennanov-sliding"},
		{text("{rate-limit-abc}1795978140000000000", "3", time.Minute), "tyk-fixed", Certain, "mennanov-fixed"},
		{hash("App:u", "level", "3", "last_update", "1795978182"), "hammer-leaky", Likely, "hammer-token"},

		// Without any prefix only the value speaks.
		{text("k", "1795978195123456000", 11*time.Second), "throttled", Guess, ""},
		{text("k", "1795978195123456789", 12123*time.Millisecond), "redis-cell", Guess, "throttled"},
		{text("k", "1795978195123456000", 12123*time.Millisecond), "gcra-ruby", Guess, "redis-cell throttled"},
		{text("k", "312749383.5", time.Second), "redis-gcra-ruby", Guess, ""},
		{text("p/k", "1795978184433", time.Second), "redis-gcra-npm", Guess, ""},
		{text("k", "7", time.Second), "go-zero-period", Guess, ""},
		{text(strings.Repeat("a", 27)+"=", "7", time.Second), "aspnetcoreratelimit", Certain, "go-zero-period"},
		{hash("k", "s", "1.7959780308831844e+18", "t", "0", "k", "8", "m", "10"), "go-redisstore", Certain, ""},
		{hash("k", "start", "1795978183", "end", "1795978243", "count", "2"), "laravel-duration", Certain, ""},
		{hash("k", "rate", "5", "interval", "60000", "type", "0", "keepAliveTime", "0"), "redisson", Certain, ""},
	} {
		found := Identify(&c.e, Builtin(), now)
		if len(found) == 0 {
			t.Errorf("%s is nobody's, not %s's", c.e.Key, c.want)
			continue
		}
		var names []string
		for _, f := range found {
			names = append(names, f.Layout.Name)
		}
		if names[0] != c.want || found[0].Sure != c.sure {
			t.Errorf("%s is of %q, %s; want %s, %s", c.e.Key, names, found[0].Sure, c.want, c.sure)
		}
		for other := range strings.FieldsSeq(c.others) {
			if !slices.Contains(names[1:], other) {
				t.Errorf("%s could be of %s, and is of %q", c.e.Key, other, names)
			}
		}
	}
}

// Values of the wrong type or shape are not taken for a writer's because of
// their names.
func TestShapesAreAsked(t *testing.T) {
	const now = 1795978183000000000
	for _, e := range []Entry{
		{Key: "throttled:v1:gcra:u", Type: "hash", Fields: map[string]string{"a": "b"}},
		{Key: "throttled:v1:gcra:u", Type: "string", Text: []byte("soon")},
		{Key: "{p}state", Type: "string", Text: []byte(`{"state":{}}`)},
		{Key: "app:1:throttle_user_42", Type: "string", Text: []byte("\x80\x04cos\nsystem\n(S'true'\ntR.")},
		{Key: "ns:" + strings.Repeat("ab", 20), Type: "string", Text: []byte(`O:8:"stdClass":1:{s:1:"a";i:1;}`)},
		{Key: "limit_req:u", Type: "zset"},
		{Key: "rl:sw:{u}", Type: "string", Text: []byte("x")},
		{Key: "b_api_settings", Type: "hash", Fields: map[string]string{"id": "api"}},
	} {
		for _, c := range Identify(&e, Builtin(), now) {
			if c.Sure == Certain {
				t.Errorf("%s %q is certainly of %s", e.Key, e.Text, c.Layout.Name)
			}
		}
	}
}
