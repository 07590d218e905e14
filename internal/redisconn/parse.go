package redisconn

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/weir-cli/weir/report"
)

// parse reads a URL. It does not use net/url for the whole: that one knows no
// lists of hosts and quotes what it does not like, passwords included.
func parse(text string) (*target, error) {
	const hint = "redis://localhost:6379, or redis+sentinel://HOST:26379/MASTER, redis+cluster://HOST:6379, unix:///PATH"
	if text == "" {
		return nil, &ConfigError{"the URL is empty", hint}
	}
	if len(text) > maxURL {
		return nil, &ConfigError{"the URL is longer than 8 KiB", hint}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, &ConfigError{"the URL has a space or a control character; write it as %XX", hint}
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return nil, &ConfigError{"the URL has no scheme", hint}
	}
	kind, ok := schemes[strings.ToLower(scheme)]
	if !ok {
		return nil, &ConfigError{"the URL's scheme is none that is known" + quotedScheme(scheme), hint}
	}
	t := &target{scheme: strings.ToLower(scheme), topology: kind.topology, tls: kind.tls}

	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	userinfo, hosts := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		userinfo, hosts = authority[:i], authority[i+1:]
	}
	if strings.ContainsRune(userinfo+tail, '@') || strings.ContainsRune(tail, '#') {
		return nil, &ConfigError{"a reserved character in the URL's name, password or path is not escaped", "write / as %2F, ? as %3F, # as %23 and @ as %40"}
	}
	path, query, _ := strings.Cut(tail, "?")
	if err := t.setLogin(userinfo); err != nil {
		return nil, err
	}
	if err := t.setHosts(hosts, path); err != nil {
		return nil, err
	}
	if err := t.setPath(path); err != nil {
		return nil, err
	}
	return t, t.setQuery(query)
}

// quotedScheme shows a scheme that looks like one and not like a secret.
func quotedScheme(s string) string {
	if len(s) > 20 || strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && r != '+' }) {
		return ""
	}
	return ": " + s
}

func (t *target) setLogin(userinfo string) error {
	user, password, _ := strings.Cut(userinfo, ":")
	var ok1, ok2 bool
	t.login.user, ok1 = unescape(user)
	t.login.password, ok2 = unescape(password)
	if !ok1 || !ok2 {
		return &ConfigError{"a % in the URL's name or password begins no escape", "write % as %25"}
	}
	return nil
}

func unescape(s string) (string, bool) {
	u, err := url.PathUnescape(s)
	return u, err == nil
}

func (t *target) setHosts(hosts, path string) error {
	if t.topology == socket {
		p, ok := unescape(path)
		switch {
		case hosts != "":
			return &ConfigError{"a unix URL names a host before its path", "unix:///run/redis/redis.sock, with three slashes"}
		case !ok || p == "" || p == "/":
			return &ConfigError{"the unix URL names no path", "unix:///run/redis/redis.sock"}
		}
		t.addrs = []string{p}
		return nil
	}
	list := strings.Split(hosts, ",")
	if t.topology == single && len(list) > 1 {
		return &ConfigError{"the URL names several servers", "redis+cluster://… for a cluster, redis+sentinel://…/MASTER for sentinels"}
	}
	if len(list) > maxHosts {
		return &ConfigError{"the URL names more than 100 servers", "a few are enough: the others are found through them"}
	}
	for _, h := range list {
		addr, err := t.address(h)
		if err != nil {
			return err
		}
		t.addrs = append(t.addrs, addr)
	}
	return nil
}

// address is HOST:PORT of one entry. A port that is no number is not shown:
// where the host was forgotten, it is the password.
func (t *target) address(entry string) (string, error) {
	port := redisPort
	if t.topology == sentinel {
		port = sentinelPort
	}
	hint := t.scheme + "://HOST:" + port
	host := entry
	if i := strings.LastIndexByte(entry, ':'); i >= 0 && !strings.HasSuffix(entry, "]") {
		host, port = entry[:i], entry[i+1:]
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", &ConfigError{"a port of the URL is no number from 1 to 65535", hint}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok || net.ParseIP(inner) == nil {
			return "", &ConfigError{"an address in brackets is no IPv6 address", t.scheme + "://[::1]:" + port}
		}
		host = inner
	} else if strings.ContainsAny(host, ":[]%") {
		return "", &ConfigError{"a host of the URL has a character that no host has; an IPv6 address stands in brackets", t.scheme + "://[::1]:" + port}
	}
	if host == "" {
		return "", &ConfigError{"the URL names no host", hint}
	}
	return net.JoinHostPort(host, port), nil
}

func (t *target) setPath(path string) error {
	words := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	switch t.topology {
	case socket:
		return nil
	case cluster:
		if len(words) > 0 && (len(words) > 1 || words[0] != "0") {
			return &ConfigError{"the cluster's URL names a database, and a cluster has none", "leave what is after the hosts out"}
		}
		return nil
	case sentinel:
		if len(words) == 0 {
			return &ConfigError{"the sentinels' URL does not say which primary they watch", t.scheme + "://HOST:26379/MASTER"}
		}
		if strings.ContainsFunc(words[0], func(r rune) bool { return !isNameRune(r) }) {
			return &ConfigError{"the primary's name has a character that no sentinel allows", "letters, digits, dots, dashes and underscores"}
		}
		t.master, words = words[0], words[1:]
	}
	switch len(words) {
	case 0:
		return nil
	case 1:
		return t.setDB(words[0])
	}
	return &ConfigError{"the URL has too many parts after the host", t.scheme + "://HOST/0"}
}

func isNameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-' || r == '_'
}

func (t *target) setDB(text string) error {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return &ConfigError{"the URL's database is no number: " + report.Clean(text), "0, which is the default, or another number"}
	}
	t.db = int(n)
	return nil
}

func (t *target) setQuery(query string) error {
	if query == "" {
		return nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, raw, _ := strings.Cut(pair, "=")
		value, ok := unescape(raw)
		if !ok {
			return &ConfigError{"a % in the URL's query begins no escape", "write % as %25"}
		}
		switch {
		case name == "db" && t.topology == socket:
			if err := t.setDB(value); err != nil {
				return err
			}
		case name == "sentinel-user" && t.topology == sentinel:
			t.sentinels.user = value
		case name == "sentinel-password" && t.topology == sentinel:
			t.sentinels.password = value
		default:
			return &ConfigError{"the URL has a parameter that " + t.scheme + " does not know: " + report.Clean(name), "leave it out: only unix knows db, and sentinels sentinel-user and sentinel-password"}
		}
	}
	return nil
}
