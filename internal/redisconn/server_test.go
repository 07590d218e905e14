package redisconn

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
)

// trial opens o and says what comes of a PING: "fine", or what is wrong.
func trial(t *testing.T, o Options) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := Open(o)
	if err == nil {
		defer c.Close()
		err = Ping(ctx, c)
	}
	if err == nil {
		return "fine"
	}
	text, hint := Explain(err)
	if hint == "" {
		t.Errorf("no hint to %s", text)
	}
	return text
}

func expect(t *testing.T, o Options, want string) {
	t.Helper()
	if got := trial(t, o); got != want {
		t.Errorf("%s: %s, want %s", Redact(o.URL), got, want)
	}
}

// file writes a file for one test.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOneServer(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		expect(t, Options{URL: r.URL}, "fine")
		c, err := Open(Options{URL: r.URL + "/3"})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx := context.Background()
		if err := c.Set(ctx, "k", "three", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got := r.Client(t).Exists(ctx, "k").Val(); got != 0 {
			t.Error("it wrote to database 0")
		}
		r.Kill()
		expect(t, Options{URL: r.URL}, "redis at "+r.Addr+": nobody listens there")
		expect(t, Options{URL: "redis+cluster://" + r.Addr}, "redis at "+r.Addr+": nobody listens there")
		expect(t, Options{URL: "redis+sentinel://" + r.Addr + "/m"}, "redis at "+r.Addr+": no sentinel answers")
		r.Restart()
		expect(t, Options{URL: r.URL}, "fine")
	})
}

func TestWhatASingleServerSays(t *testing.T) {
	r := redistest.Server(t)
	at := "redis at " + r.Addr + ": "
	expect(t, Options{URL: r.URL + "/99"}, at+"it has no database of that number")
	expect(t, Options{URL: "redis+cluster://" + r.Addr}, at+"it is no node of a cluster")
	// A server that hears TLS waits for a line to end, or finds one in it.
	if got := trial(t, Options{URL: "rediss://" + r.Addr, DialTimeout: 50 * time.Millisecond}); got != at+"no answer in time" && got != at+"it does not speak TLS on that port" {
		t.Error(got)
	}
	expect(t, Options{URL: "redis+sentinel://" + r.Addr + "/m"}, "redis: what answers is no sentinel")
	expect(t, Options{URL: "redis://no-such-host.invalid"}, "redis at no-such-host.invalid:6379: no host has the name no-such-host.invalid")
	r.Pause()
	expect(t, Options{URL: r.URL, ReadTimeout: 50 * time.Millisecond}, at+"no answer in time")
	r.Resume()
	expect(t, Options{URL: r.URL}, "fine")
}

func TestUnixSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "socket") // t.TempDir would be too long a path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "redis.sock")
	redistest.Server(t, "--unixsocket", path, "--unixsocketperm", "700", "--requirepass", "secret")
	expect(t, Options{URL: "unix://:secret@" + path}, "fine")
	expect(t, Options{URL: "unix://" + path + "?db=2", Password: "secret"}, "fine")
	expect(t, Options{URL: "unix://" + path}, "redis at "+path+": it wants a login and was given none")
	expect(t, Options{URL: "unix://" + path + ".none"}, "redis at "+path+".none: there is no such socket")
}

func TestLogin(t *testing.T) {
	r := redistest.ACL(t,
		"limiter on >s3cret/@: ~rl:* +eval +evalsha +get +set +time",
		"pinger on >pw +ping")
	named := Options{URL: r.URL, User: "limiter"}
	right, wrong := file(t, "s3cret/@:\n"), file(t, "s3cret")

	expect(t, Options{URL: r.As("limiter", "s3cret/@:")}, "fine")
	expect(t, Options{URL: r.URL, User: "limiter", Password: "s3cret/@:"}, "fine")
	expect(t, Options{URL: r.URL, User: "limiter", PasswordFile: right}, "fine")
	expect(t, Options{URL: r.URL, User: "limiter", PasswordFile: right, Password: "another"}, "fine")
	expect(t, Options{URL: r.As("pinger", "pw"), Password: "for another server"}, "fine")

	expect(t, Options{URL: r.URL}, "redis at "+r.Addr+": it wants a login and was given none")
	for _, o := range []Options{
		{URL: r.As("limiter", "wrong")},
		{URL: r.As("nobody", "s3cret/@:")},
		{URL: r.URL, User: "limiter", PasswordFile: wrong},
		{URL: r.URL, Password: "s3cret/@:"},
	} {
		expect(t, o, "redis at "+r.Addr+": it knows no such user, or the password is wrong")
	}

	expect(t, named, "redis: a user is named, limiter, and no password is given")
	expect(t, Options{URL: r.As("limiter", "x"), User: "pinger"}, "redis: the URL and the options name different users: limiter and pinger")
	expect(t, Options{URL: r.As("limiter", "x"), PasswordFile: right}, "redis: the password is given twice, in the URL and in a file")
	named.PasswordFile = file(t, "\n")
	expect(t, named, "redis: the password file is empty: "+named.PasswordFile)
	named.PasswordFile = file(t, "a\nb\n")
	expect(t, named, "redis: the password file holds more than one line: "+named.PasswordFile)
	named.PasswordFile = filepath.Join(t.TempDir(), "none")
	if _, err := Open(named); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a password file that is not there: %v", err)
	}

	// What the user may not do is named, with the rule that allows it.
	c, err := Open(Options{URL: r.As("limiter", "s3cret/@:")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := context.Background()
	for _, tt := range []struct {
		err        error
		text, hint string
	}{
		{c.Incr(ctx, "rl:{k}:x").Err(), "the user may not run INCR", "+incr"},
		{c.ScriptLoad(ctx, "return 1").Err(), "the user may not run SCRIPT|LOAD", "+script|load"},
		{c.Set(ctx, "other", 1, 0).Err(), "the user may not touch the limiter's keys", "'~rl:*'"},
		{c.Eval(ctx, "return redis.call('incr', KEYS[1])", []string{"rl:{k}:x"}).Err(), "the user may not run a command that the script runs", "+@write"},
		{c.Eval(ctx, "return redis.call('set', 'other', 1)", []string{"rl:{k}:x"}).Err(), "the user may not touch the limiter's keys", "'~rl:*'"},
	} {
		text, hint := Explain(tt.err)
		if text != "redis: "+tt.text || !strings.Contains(hint, tt.hint) {
			t.Errorf("%v:\n%s\n%s; want %s and %s", tt.err, text, hint, tt.text, tt.hint)
		}
	}
}

func TestTLS(t *testing.T) {
	r := redistest.TLS(t)
	at := "redis at " + r.Addr + ": "
	expect(t, Options{URL: r.URL, CAFile: r.CAFile}, "fine")
	expect(t, Options{URL: r.URL, Insecure: true}, "fine")
	expect(t, Options{URL: "rediss://localhost" + r.Addr[strings.Index(r.Addr, ":"):], CAFile: r.CAFile}, "fine")
	expect(t, Options{URL: r.URL, CAFile: r.CAFile, ServerName: "localhost"}, "fine")
	expect(t, Options{URL: r.URL}, at+"its certificate is signed by an authority that is not trusted here")
	expect(t, Options{URL: r.URL, CAFile: r.OtherCAFile}, at+"its certificate is signed by an authority that is not trusted here")
	if got := trial(t, Options{URL: r.URL, CAFile: r.CAFile, ServerName: "elsewhere"}); !strings.HasPrefix(got, at+"its certificate is made out to another name: ") {
		t.Error(got)
	}
	if got := trial(t, Options{URL: "redis://" + r.Addr}); got != at+"the connection ended before the answer" {
		t.Error(got)
	}

	expect(t, Options{URL: "redis://" + r.Addr, CAFile: r.CAFile}, "redis: TLS options are given, and the URL's scheme, redis, has no TLS")
	expect(t, Options{URL: r.URL, CAFile: r.CAFile, Insecure: true}, "redis: a CA file says nothing where every certificate is believed")
	empty := file(t, "no certificate")
	expect(t, Options{URL: r.URL, CAFile: empty}, "redis: the CA file holds no certificate: "+empty)
	if _, err := Open(Options{URL: r.URL, CAFile: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a CA file that is not there: %v", err)
	}
}

func TestClientCertificate(t *testing.T) {
	r := redistest.TLS(t, "--tls-auth-clients", "yes")
	at := "redis at " + r.Addr + ": "
	o := Options{URL: r.URL, CAFile: r.CAFile, CertFile: r.CertFile, KeyFile: r.KeyFile}
	expect(t, o, "fine")
	o.CertFile, o.KeyFile = "", ""
	// Whether its reason arrives before the end of the connection is chance.
	if got := trial(t, o); got != at+"it wants a client certificate of an authority that it trusts" && got != at+"the connection ended before the answer" {
		t.Error(got)
	}
	o.CertFile = r.CertFile
	expect(t, o, "redis: a client certificate needs both its file and its key's")
	o.KeyFile = r.CAFile
	if got := trial(t, o); !strings.HasPrefix(got, "redis: the client certificate and its key: ") {
		t.Error(got)
	}
}
