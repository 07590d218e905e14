package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/internal/redistest"
)

// redisVerb is a verb that opens its Redis and prints what a PING gives and
// how its flags would be repeated.
func redisVerb(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "go"}
	r := newRedisFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !r.given() || r.embedded() {
			_, err := a.stdout.Write([]byte("no server\n"))
			return err
		}
		c, err := r.open(cmd.Context(), a)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = a.stdout.Write([]byte(c.Ping(cmd.Context()).Val() + "\n" + repeatLine(cmd)(1) + "\n"))
		return err
	}
	return cmd
}

func TestRedisFlags(t *testing.T) {
	const secret = "S3cret"
	r := redistest.ACL(t, "limiter on >"+secret+" ~rl:* +ping +evalsha")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	password, config := write("password", secret+"\n"), write("config.yaml", "go:\n  redis: "+r.URL+"\n  redis-user: limiter\n")
	tests := []struct {
		name, args string
		env        []string
		code       int
		stdout     string // how it begins
		stderr     string // what it has
	}{
		{name: "nothing", stdout: "no server\n"},
		{name: "embedded", args: "--redis embedded", stdout: "no server\n"},
		{name: "all in the URL", args: "--redis " + r.As("limiter", secret), stdout: "PONG\nweir go --redis=redis://limiter:xxxxx@" + r.Addr},
		{name: "all from the environment", env: []string{"WEIR_REDIS_URL=" + r.URL, "WEIR_REDIS_USER=limiter", "WEIR_REDIS_PASSWORD=" + secret},
			stdout: "PONG\nweir go --redis=" + r.URL + " --redis-user=limiter --seed=1\n"},
		{name: "a password file", args: "--redis " + r.URL + " --redis-user limiter --redis-password-file " + password, stdout: "PONG\n"},
		{name: "a config file", args: "--config " + config, env: []string{"WEIR_REDIS_PASSWORD=" + secret}, stdout: "PONG\n"},
		{name: "a flag outranks the environment", args: "--redis embedded", env: []string{"WEIR_REDIS_URL=" + r.URL}, stdout: "no server\n"},

		{name: "a wrong password", args: "--redis " + r.As("limiter", secret+"x"), code: exitReach,
			stderr: "weir: redis at " + r.Addr + ": it knows no such user, or the password is wrong\nhint: --redis-user NAME"},
		{name: "no password", args: "--redis " + r.URL, code: exitReach, stderr: "it wants a login and was given none\nhint: "},
		{name: "no server", args: "--redis unix://" + dir + "/none.sock", code: exitReach, stderr: "weir: redis at " + dir + "/none.sock: there is no such socket\nhint: "},
		{name: "no URL", args: "--redis limiter:" + secret + "@localhost", code: exitUsage, stderr: "weir: redis: the URL has no scheme\nhint: redis://localhost:6379"},
		{name: "a slash in the password", args: "--redis redis://limiter:/" + secret + "@localhost", code: exitUsage, stderr: "is not escaped\nhint: write / as %2F"},
		{name: "no such password file", args: "--redis " + r.URL + " --redis-password-file " + dir + "/none", code: exitReach, stderr: "password file: open "},
		{name: "TLS options and no TLS", args: "--redis " + r.URL + " --redis-insecure", code: exitUsage, stderr: "the URL's scheme, redis, has no TLS\nhint: rediss://"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, stdout, stderr := testApp(tt.env...)
			code := runWith(a, redisVerb(a), append([]string{"go"}, strings.Fields(tt.args)...)...)
			if code != tt.code || !strings.HasPrefix(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("exit %d\n%s%s", code, stdout, stderr)
			}
			if strings.Contains(stdout.String()+stderr.String(), secret) {
				t.Errorf("it shows the password:\n%s%s", stdout, stderr)
			}
			if code != exitOK && strings.Count(stderr.String(), "\n") != 2 {
				t.Errorf("not one line and a hint:\n%s", stderr)
			}
		})
	}
}

func TestRedisIsNotWaitedForLong(t *testing.T) {
	r := redistest.Server(t)
	r.Pause()
	a, _, stderr := testApp()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	code := a.execute(ctx, newRoot(a, redisVerb(a)), []string{"go", "--redis", r.URL})
	if code != exitReach || !strings.Contains(stderr.String(), "no answer in time") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// What is repeated names the Redis as it was given, and hides what may be secret.
func TestRedisURLAsRepeated(t *testing.T) {
	for given, want := range map[string]string{"start": "start", "embedded": "embedded", "redis://:pw@h:1": "redis://:xxxxx@h:1", "pw": "xxxxx"} {
		var u redisURL
		if err := u.Set(given); err != nil || u.String() != want {
			t.Errorf("%s is repeated as %s, %v", given, u.String(), err)
		}
	}
}
