package redistest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster takes seconds")
	}
	ctx := context.Background()
	cl := Cluster(t, 3, 1)
	c := cl.Client(t)
	for _, k := range []string{"a", "b", "c", "d"} {
		if err := c.Set(ctx, k, k, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}

	m := cl.Migrate("a")
	direct := m.From.Client(t)
	if got, err := direct.Get(ctx, "a").Result(); got != "a" || err != nil {
		t.Errorf("before it has moved: %q, %v", got, err)
	}
	m.Move("a", "none{a}")
	if err := direct.Get(ctx, "a").Err(); err == nil || !strings.HasPrefix(err.Error(), "ASK ") {
		t.Errorf("once moved: %v, want ASK", err)
	}
	if got, err := c.Get(ctx, "a").Result(); got != "a" || err != nil {
		t.Errorf("a cluster client: %q, %v", got, err)
	}
	m.Finish()
	if err := direct.Get(ctx, "a").Err(); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		t.Errorf("when finished: %v, want MOVED", err)
	}
	if cl.Primary("a") != m.To {
		t.Error("the slot has another owner")
	}

	dead := cl.KillPrimary("b")
	if next := cl.Primary("b"); next == dead {
		t.Error("the dead node serves")
	}
	got := ""
	eventually(t, func() string { // until the client has heard of the failover
		var err error
		if got, err = c.Get(ctx, "b").Result(); err != nil {
			return err.Error()
		}
		return ""
	})
	if got != "b" {
		t.Errorf("the replica had %q", got)
	}
	dead.Restart()
	cl.WaitOK()
	if got := dead.CLI("INFO", "replication"); !strings.Contains(got, "role:slave") {
		t.Errorf("the old primary is back as %s", got)
	}
}

func TestSentinel(t *testing.T) {
	if testing.Short() {
		t.Skip("a failover takes seconds")
	}
	ctx := context.Background()
	s := Sentinel(t, 1)
	c := s.Client(t)
	if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	dead := s.KillPrimary()
	if dead != s.Servers[0] || s.Primary() != s.Servers[1] {
		t.Error("the replica is not the primary")
	}
	eventually(t, func() string {
		if err := c.Set(ctx, "k", "w", 0).Err(); err != nil {
			return err.Error()
		}
		return ""
	})
	if got := s.Servers[1].CLI("GET", "k"); got != "w" {
		t.Errorf("the new primary has %q", got)
	}
}

func TestTLS(t *testing.T) {
	ctx := context.Background()
	r := TLS(t, "--tls-auth-clients", "yes")
	if got := r.CLI("PING"); got != "PONG" {
		t.Error(got)
	}
	own, err := tls.LoadX509KeyPair(r.CertFile, r.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	dial := func(caFile string, own ...tls.Certificate) error {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		return client(t, &redis.Options{Addr: r.Addr, TLSConfig: &tls.Config{RootCAs: pool, Certificates: own}}).Ping(ctx).Err()
	}
	if err := dial(r.CAFile, own); err != nil {
		t.Errorf("the right CA: %v", err)
	}
	var unknown x509.UnknownAuthorityError
	if err := dial(r.OtherCAFile, own); !errors.As(err, &unknown) {
		t.Errorf("another CA: %v", err)
	}
	if err := dial(r.CAFile); err == nil {
		t.Error("a client without a certificate is served")
	}
	r.Restart()
	if got := r.CLI("PING"); got != "PONG" {
		t.Error(got)
	}
}

func TestACL(t *testing.T) {
	ctx := context.Background()
	r := ACL(t, "reader on >s3cret ~* +get")
	says := func(url, want string) {
		t.Helper()
		o, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		c := client(t, o)
		got := "fine"
		if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	says(r.URL, "NOAUTH")
	says(r.As("reader", "wrong"), "WRONGPASS")
	says(r.As("reader", "s3cret"), "NOPERM")
	says(r.As(adminUser, adminPassword), "fine")
	r.Restart()
	says(r.As("reader", "s3cret"), "NOPERM")
}
