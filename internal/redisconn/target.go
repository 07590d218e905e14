package redisconn

import (
	"net/url"
	"strconv"
	"strings"
)

// ConfigError is a URL or an option that cannot be right.
type ConfigError struct {
	Text string
	Hint string // what to type instead
}

func (e *ConfigError) Error() string { return "redis: " + e.Text }

// topology is how the servers of a URL belong together.
type topology uint8

const (
	single topology = iota
	socket
	sentinel
	cluster
)

// schemes are the ways to write a URL.
var schemes = map[string]struct {
	topology topology
	tls      bool
}{
	"redis":           {single, false},
	"rediss":          {single, true},
	"unix":            {socket, false},
	"redis+sentinel":  {sentinel, false},
	"rediss+sentinel": {sentinel, true},
	"redis+cluster":   {cluster, false},
	"rediss+cluster":  {cluster, true},
}

const (
	redisPort    = "6379"
	sentinelPort = "26379"
	maxHosts     = 100
	maxURL       = 8 << 10 // bytes
	hidden       = "xxxxx" // stands where a secret was, or may have been
)

// login is a name and a password, either of them empty for none.
type login struct{ user, password string }

// target is what a URL says.
type target struct {
	scheme    string
	topology  topology
	tls       bool
	login     login
	addrs     []string // HOST:PORT, or one path of a socket
	master    string   // the primary's name among sentinels
	db        int
	sentinels login
}

// String is the URL with every password hidden.
func (t *target) String() string {
	var b strings.Builder
	b.WriteString(t.scheme + "://")
	if t.login != (login{}) {
		b.WriteString(escape(t.login.user))
		if t.login.password != "" {
			b.WriteString(":" + hidden)
		}
		b.WriteString("@")
	}
	if t.topology == socket {
		b.WriteString(strings.ReplaceAll(escape(t.addrs[0]), "%2F", "/"))
		if t.db != 0 {
			b.WriteString("?db=" + strconv.Itoa(t.db))
		}
		return b.String()
	}
	b.WriteString(strings.Join(t.addrs, ","))
	if t.topology == sentinel {
		b.WriteString("/" + t.master)
	}
	if t.db != 0 {
		b.WriteString("/" + strconv.Itoa(t.db))
	}
	if t.sentinels.user != "" {
		b.WriteString("?sentinel-user=" + escape(t.sentinels.user))
	}
	return b.String()
}

// Redact is the URL as it may be shown: without any password, and when it is
// no URL that [Open] takes, with nothing but its scheme.
func Redact(text string) string {
	if t, err := parse(text); err == nil {
		return t.String()
	}
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		if _, ok := schemes[scheme]; ok {
			return scheme + "://" + hidden
		}
	}
	return hidden
}

// escape writes any part of a URL so that it can stand in one.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
