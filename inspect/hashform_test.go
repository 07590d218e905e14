package inspect

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-cli/weir/limit"
)

// The names that are hashes are made up from what the operator knows.
func TestHashedNames(t *testing.T) {
	const now = 1795978183000000000
	for _, c := range []struct {
		layout, told string
		parts        string // name=value …
		want         string
		lacks        string
	}{
		{layout: "symfony", parts: "rule=login prefix=ns:", want: "ns:5b09753b4bdcf879477931df23b80dbecadc6b9c"},
		{layout: "symfony", lacks: "rule"},
		{layout: "prorate", parts: "rule=login", want: "login:6fc38cf9468a1053680400df815f074506b6bd79.bucket_level"},
		{layout: "aspnetcoreratelimit", parts: "rule=1m", want: "ds/hs+PeFsUW8UQJbQ9MpwLFOr8="},
		{layout: "laravel-cache", parts: "rule=login", want: "laravel-database-laravel-cache-97b94a639b276eb8182d59cd35c024d7"},
		{layout: "django-ratelimit", parts: "group=app.views.login", told: "fixed-window:limit=5,window=1m", want: ":1:rl:be1d30a321af09eaa699a091f1add60f45f48894ee9887491025a009e6a83c91"},
		{layout: "django-ratelimit", parts: "group=app.views.login", lacks: "django-rate"},
		{layout: "nestjs", parts: "class=App handler=get rule=default", want: "{5d30f2d57fc6ea3ef6379586772409fa3f3884b092a59132fa9d3266cb44741c:default}:hits"},
		{layout: "laravel-cache", want: "laravel-database-laravel-cache-ed1665c190146c4dcb8eb871f1d2499d61bb293b"},
	} {
		l, err := Named(Builtin(), c.layout)
		if err != nil {
			t.Fatal(err)
		}
		g := Guesser{Parts: map[string][]string{}, Now: now}
		for p := range strings.FieldsSeq(c.parts) {
			name, value, _ := strings.Cut(p, "=")
			g.Parts[name] = []string{value}
		}
		if c.told != "" {
			s, err := limit.ParseSpec(c.told)
			if err != nil {
				t.Fatal(err)
			}
			g.Told = &s
		}
		names, skipped := g.Names([]*Layout{l}, "10.0.0.1")
		if c.lacks != "" {
			if len(names) > 0 || len(skipped) != 1 || skipped[0].Part != c.lacks {
				t.Errorf("%s: %v, %+v, want the part %s", c.layout, names, skipped, c.lacks)
			}
			continue
		}
		if !slices.ContainsFunc(names, func(n Name) bool { return n.Key == c.want }) {
			t.Errorf("%s: %v, want %q", c.layout, names, c.want)
		}
	}
}

// The windows of django-ratelimit end at times of their own.
func TestDjangoEnd(t *testing.T) {
	for _, id := range []string{"", "10.0.0.1", "user:42"} {
		for _, period := range []int64{1, 60, 3600} {
			end := djangoEnd(id, period, 1795978183)
			if end < 1795978183 || end >= 1795978183+period {
				t.Errorf("%q: %d", id, end)
			}
			if period > 1 && djangoEnd(id, period, end) != end || period > 1 && djangoEnd(id, period, end+1) != end+period {
				t.Errorf("%q: the window after %d ends elsewhere", id, end)
			}
		}
	}
}
