package redisconn

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// documentedUser is the ACL user that docs/connecting.md makes.
func documentedUser(t *testing.T, password string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/connecting.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^redis-cli ACL SETUSER (limiter on .*)$`).FindSubmatch(text)
	if m == nil {
		t.Fatal("docs/connecting.md makes no user")
	}
	return strings.NewReplacer("'", "", "PASSWORD", password).Replace(string(m[1]))
}

// takes checks every algorithm once for a subject.
func takes(t *testing.T, o Options, subject string) {
	t.Helper()
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := redislimit.NewStore(c, redislimit.Options{Timeout: 5 * time.Second})
	defer s.Close()
	for _, text := range []string{
		"10/s,burst=20", "gcra:rate=10/s,burst=20", "leaky-meter:rate=10/s,burst=20", "leaky-queue:rate=10/s,queue=20",
		"fixed-window:limit=10,window=60s", "sliding-log:limit=10,window=60s", "sliding-counter:limit=10,window=60s", "concurrency:limit=10",
	} {
		spec, err := limit.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := redislimit.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Take(context.Background(), redislimit.Part{Key: redislimit.Key("", subject, spec.Algorithm.String()), Rule: rule, Cost: 1, ID: "1"})
		if err != nil {
			what, hint := Explain(err)
			t.Errorf("%s: %s (%s): %v", text, what, hint, err)
		} else if !a.OK {
			t.Errorf("%s: the first of ten is refused", text)
		}
	}
}

func TestDocumentedUserMayLimit(t *testing.T) {
	user := documentedUser(t, "pw")
	r := redistest.ACL(t, user)
	takes(t, Options{URL: r.As("limiter", "pw")}, "k")
	c, err := Open(Options{URL: r.As("limiter", "pw")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, forbidden := range [][]any{{"SET", "other", "1"}, {"FLUSHALL"}, {"KEYS", "*"}, {"CONFIG", "GET", "*"}, {"ACL", "LIST"}} {
		if kind := redislimit.Classify(c.Do(context.Background(), forbidden...).Err()); kind != redislimit.KindNoPerm {
			t.Errorf("%v: %v", forbidden, kind)
		}
	}
}

func TestDocumentedUserMayLimitInACluster(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	user := append([]string{"--user"}, strings.Fields(documentedUser(t, "pw"))...)
	cl := redistest.Cluster(t, 3, 0, user...)
	o := Options{URL: cl.URL, User: "limiter", Password: "pw"}
	takes(t, o, "k")
	cl.Migrate("rl:{moving}:x") // keys that are not there yet are asked for elsewhere
	takes(t, o, "moving")
}
