package redisconn

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestURLs(t *testing.T) {
	for _, tt := range []struct{ url, shown string }{
		{"redis://localhost", "redis://localhost:6379"},
		{"redis://localhost:7000/", "redis://localhost:7000"},
		{"REDIS://localhost/3", "redis://localhost:6379/3"},
		{"rediss://[::1]:7000/0", "rediss://[::1]:7000"},
		{"redis://[fe80::1]", "redis://[fe80::1]:6379"},
		{"redis://:secret@h", "redis://:xxxxx@h:6379"},
		{"redis://me:secret@h", "redis://me:xxxxx@h:6379"},
		{"redis://me@h", "redis://me@h:6379"},
		{"redis://m%40e%3A:s%2Fe@h", "redis://m%40e%3A:xxxxx@h:6379"},
		{"redis://me:sec:ret@h", "redis://me:xxxxx@h:6379"},
		{"unix:///run/redis.sock", "unix:///run/redis.sock"},
		{"unix://me:secret@/run/a%20b%40.sock?db=2", "unix://me:xxxxx@/run/a%20b%40.sock?db=2"},
		{"redis+sentinel://a,b:7,[::1]/my.master", "redis+sentinel://a:26379,b:7,[::1]:26379/my.master"},
		{"rediss+sentinel://me:secret@a/m/4", "rediss+sentinel://me:xxxxx@a:26379/m/4"},
		{"redis+sentinel://a/m?sentinel-user=w&sentinel-password=secret", "redis+sentinel://a:26379/m?sentinel-user=w"},
		{"redis+cluster://a:1,b:2,c", "redis+cluster://a:1,b:2,c:6379"},
		{"rediss+cluster://me:secret@a/0", "rediss+cluster://me:xxxxx@a:6379"},
	} {
		if got := Redact(tt.url); got != tt.shown {
			t.Errorf("%s is shown as %s, want %s", tt.url, got, tt.shown)
		}
	}
}

func TestPartsOfURL(t *testing.T) {
	got, err := parse("rediss+sentinel://m%3Ae:s%2Fe@a,b:7/main/4?sentinel-user=w&sentinel-password=x%26y")
	if err != nil {
		t.Fatal(err)
	}
	if got.login != (login{"m:e", "s/e"}) || got.sentinels != (login{"w", "x&y"}) || got.master != "main" || got.db != 4 ||
		!got.tls || !slices.Equal(got.addrs, []string{"a:26379", "b:7"}) {
		t.Errorf("%+v", got)
	}
}

func TestBadURLs(t *testing.T) {
	for _, tt := range []struct{ url, want, shown string }{
		{"", "the URL is empty", hidden},
		{"localhost:6379", "the URL has no scheme", hidden},
		{"me:secret@localhost", "the URL has no scheme", hidden},
		{"http://localhost", "the URL's scheme is none that is known: http", hidden},
		{"s3cret://localhost", "the URL's scheme is none that is known", hidden},
		{"redis://", "the URL names no host", "redis://xxxxx"},
		{"redis://:6379", "the URL names no host", "redis://xxxxx"},
		{"redis://me:secret", "a port of the URL is no number from 1 to 65535", "redis://xxxxx"},
		{"redis://h:0", "a port of the URL is no number from 1 to 65535", "redis://xxxxx"},
		{"redis://h:65536", "a port of the URL is no number from 1 to 65535", "redis://xxxxx"},
		{"redis://::1", "a host of the URL has a character that no host has; an IPv6 address stands in brackets", "redis://xxxxx"},
		{"redis://[h]", "an address in brackets is no IPv6 address", "redis://xxxxx"},
		{"redis://h/x", "the URL's database is no number: x", "redis://xxxxx"},
		{"redis://h/-1", "the URL's database is no number: -1", "redis://xxxxx"},
		{"redis://h/1/2", "the URL has too many parts after the host", "redis://xxxxx"},
		{"redis://h,i", "the URL names several servers", "redis://xxxxx"},
		{"redis://h i", "the URL has a space or a control character; write it as %XX", "redis://xxxxx"},
		{"redis://me:sec/ret@h", "a reserved character in the URL's name, password or path is not escaped", "redis://xxxxx"},
		{"redis://me:sec?ret@h", "a reserved character in the URL's name, password or path is not escaped", "redis://xxxxx"},
		{"redis://me:sec#ret@h", "a reserved character in the URL's name, password or path is not escaped", "redis://xxxxx"},
		{"redis://me:sec@ret@h", "a reserved character in the URL's name, password or path is not escaped", "redis://xxxxx"},
		{"redis://me:sec%ret@h", "a % in the URL's name or password begins no escape", "redis://xxxxx"},
		{"redis://h?db=1", "the URL has a parameter that redis does not know: db", "redis://xxxxx"},
		{"redis://h?skip_verify=true", "the URL has a parameter that redis does not know: skip_verify", "redis://xxxxx"},
		{"unix://run/redis.sock", "a unix URL names a host before its path", "unix://xxxxx"},
		{"unix://", "the unix URL names no path", "unix://xxxxx"},
		{"redis+cluster://h/1", "the cluster's URL names a database, and a cluster has none", "redis+cluster://xxxxx"},
		{"redis+sentinel://h", "the sentinels' URL does not say which primary they watch", "redis+sentinel://xxxxx"},
		{"redis+sentinel://h/m%20", "the primary's name has a character that no sentinel allows", "redis+sentinel://xxxxx"},
		{"redis+cluster://" + strings.Repeat("h,", 100) + "h", "the URL names more than 100 servers", "redis+cluster://xxxxx"},
		{"redis://" + strings.Repeat("h", 9000), "the URL is longer than 8 KiB", "redis://xxxxx"},
	} {
		_, err := Open(Options{URL: tt.url})
		var config *ConfigError
		if !errors.As(err, &config) || config.Text != tt.want || config.Hint == "" {
			t.Errorf("%s: %v, want %s and a hint", tt.url, err, tt.want)
		}
		if got := Redact(tt.url); got != tt.shown {
			t.Errorf("%s is shown as %s, want %s", tt.url, got, tt.shown)
		}
	}
}

// However a URL is broken, what comes after the colon of its login is not
// shown; a URL that is right means the same again when it is shown.
func FuzzURL(f *testing.F) {
	f.Add("redis", "me", "", "h:6379/1")
	f.Add("redis+sentinel", "", "@", "h,i/m?sentinel-password=x")
	f.Add("unix", "a/b", "/", "/run/x?db=1")
	f.Add("rediss+cluster", "?", "%", "[::1]:7,h")
	f.Add("http", "#", ":", "h")
	f.Fuzz(func(t *testing.T, scheme, user, rest, host string) {
		const secret = "S3CRET"
		text := scheme + "://" + user + ":" + secret + rest + "@" + host
		if strings.Contains(scheme+user+host, secret) {
			return
		}
		shown := Redact(text)
		got, err := parse(text)
		if strings.Contains(shown, secret) || err != nil && strings.Contains(err.Error(), secret) {
			t.Fatalf("%q is shown as %q: %v", text, shown, err)
		}
		if err != nil {
			return
		}
		again, err := parse(shown)
		if err != nil {
			t.Fatalf("%q is shown as %q: %v", text, shown, err)
		}
		if !slices.Equal(again.addrs, got.addrs) || again.db != got.db || again.master != got.master || again.login.user != got.login.user {
			t.Fatalf("%q is shown as %q: %+v, not %+v", text, shown, again, got)
		}
	})
}
