package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"regexp"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/limit/redislimit"
	"github.com/weir-cli/weir/report"
)

// sayings are what most kinds of error mean and what to type, whatever the
// error says itself.
var sayings = map[redislimit.Kind]struct{ text, hint string }{
	redislimit.KindRefused:     {"nobody listens there", "start it there (redis-server --port PORT), or correct the URL"},
	redislimit.KindTimeout:     {"no answer in time", "is it up and not busy? redis-cli --latency, and redis-cli SLOWLOG GET 10"},
	redislimit.KindBroken:      {"the connection ended before the answer", "did it restart? see its log; a TLS server also does this to who speaks no TLS (rediss://) or brings no certificate (--redis-cert)"},
	redislimit.KindCanceled:    {"given up before the answer", ""},
	redislimit.KindLoading:     {"it still reads its data from disk", "wait; redis-cli INFO persistence shows how far it is"},
	redislimit.KindBusy:        {"another script has run for too long", "redis-cli SCRIPT KILL"},
	redislimit.KindReadOnly:    {"a replica answered, which takes no writes", "the primary's address; or redis+sentinel://HOST:26379/MASTER, which follows it"},
	redislimit.KindNoWrites:    {"it refuses writes, because its disk or its replicas fail", "see its log; redis-cli INFO persistence, redis-cli INFO replication"},
	redislimit.KindClusterDown: {"the cluster cannot serve: a part of it has no primary", "wait for a failover; redis-cli --cluster check HOST:PORT"},
	redislimit.KindMasterDown:  {"a replica answered that has lost its primary", "the primary's address; or redis+sentinel://HOST:26379/MASTER, which follows it"},
	redislimit.KindTryAgain:    {"the keys' slot is being moved to another node", "try again in a moment"},
	redislimit.KindCrossSlot: {"the keys of one call are in different slots of the cluster",
		"keys with the same part in braces are in one slot, such as rl:{k-7}:second and rl:{k-7}:day"},
	redislimit.KindOutOfMemory: {"its memory is full and it may evict nothing", "redis-cli CONFIG SET maxmemory-policy volatile-ttl, or more maxmemory: limiter keys all have a TTL"},
	redislimit.KindWrongType:   {"a key of the limiter holds something else", "redis-cli TYPE KEY shows what; delete or rename it"},
	redislimit.KindMaxClients:  {"it takes no more connections", "redis-cli CONFIG SET maxclients 10000, or fewer connections here"},
	redislimit.KindNoScript:    {"it forgets a script that was just loaded", "who runs SCRIPT FLUSH? redis-cli MONITOR"},
	redislimit.KindClosed:      {"the client is closed", ""},
}

// Explain says in one line what err, from a client or a limiter on it, means,
// and what to type about it; hint is "" where there is nothing. Neither has a
// password. Both are "" for no error.
func Explain(err error) (text, hint string) {
	if err == nil {
		return "", ""
	}
	var config *ConfigError
	if errors.As(err, &config) {
		return config.Error(), config.Hint
	}
	var file *FileError
	if errors.As(err, &file) {
		return report.Clean(file.Error()), "a file that is there and that this user may read"
	}
	what, hint := meaning(err)
	return where(err) + ": " + what, hint
}

func meaning(err error) (what, hint string) {
	if bySentinels(err) {
		if what, hint, ok := aboutSentinels(err); ok {
			return what, hint
		}
	}
	kind := redislimit.Classify(err)
	switch kind {
	case redislimit.KindRefused:
		if what, hint, ok := unreachable(err); ok {
			return what, hint
		}
	case redislimit.KindTimeout:
		var ping *PingError
		if errors.As(err, &ping) && ping.TLS {
			return sayings[kind].text, "is it up, and does that port speak TLS? redis:// in place of rediss:// if not"
		}
	case redislimit.KindTLS:
		return aboutTLS(err)
	case redislimit.KindNoAuth:
		return aboutLogin(err)
	case redislimit.KindNoPerm:
		return aboutPermission(err)
	case redislimit.KindMoved:
		if text := raw(err); strings.Contains(text, "MOVED ") || strings.Contains(text, "ASK ") {
			return "it is a node of a cluster, and the key is on another one", "redis+cluster://HOST:PORT, with the same host and port; if it is that already, redis-cli --cluster check HOST:PORT"
		}
	case redislimit.KindUnexpected:
		if what, hint, ok := unreachable(err); ok {
			return what, hint
		}
		return aboutOther(err)
	}
	if s, ok := sayings[kind]; ok {
		return s.text, s.hint
	}
	return said(err), ""
}

// unreachable is about what happens before a server hears anything.
func unreachable(err error) (what, hint string, ok bool) {
	var name *net.DNSError
	switch {
	case errors.As(err, &name):
		return "no host has the name " + report.Clean(name.Name), "correct the host in the URL", true
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to it", "correct the address; is a VPN or a firewall in between?", true
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such socket", "start it with --unixsocket PATH, or correct the URL", true
	case errors.Is(err, fs.ErrPermission):
		return "this user may not open the socket", "start it with --unixsocketperm 770, and be in its group", true
	}
	return "", "", false
}

// bySentinels reports whether err is what became of asking every sentinel.
func bySentinels(err error) bool { return strings.Contains(err.Error(), "all sentinels") }

func aboutSentinels(err error) (what, hint string, ok bool) {
	const give = "WEIR_REDIS_SENTINEL_PASSWORD, or ?sentinel-user=NAME&sentinel-password=TEXT after the primary's name in the URL"
	text := err.Error()
	switch {
	case strings.Contains(text, "NOAUTH"):
		return "the sentinels want a login and were given none", give, true
	case strings.Contains(text, "WRONGPASS"):
		return "the sentinels know no such user, or the password is wrong", give, true
	case strings.Contains(text, "NOPERM"):
		return "the sentinels do not let this user ask", "redis-cli -p 26379 ACL SETUSER NAME +sentinel +subscribe '&*'", true
	case errors.Is(err, redis.Nil):
		return "the sentinels know no primary of that name", "redis-cli -p 26379 SENTINEL MASTERS shows the names", true
	case strings.Contains(text, "unknown command"):
		return "what answers is no sentinel", "a sentinel's port, which is 26379 by default; or redis:// for the server itself", true
	case errors.Is(err, syscall.ECONNREFUSED):
		return "no sentinel answers", "start them (redis-sentinel FILE), or correct the URL", true
	}
	return "", "", false
}

func aboutTLS(err error) (what, hint string) {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		dates     x509.CertificateInvalidError
		plain     tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &authority):
		return "its certificate is signed by an authority that is not trusted here", "--redis-ca FILE with the certificate of that authority"
	case errors.As(err, &name):
		return "its certificate is made out to another name: " + report.Clean(name.Error()), "a host in the URL that the certificate names"
	case errors.As(err, &dates) && dates.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet", "a new certificate, and the right time on both machines"
	case errors.As(err, &plain), strings.Contains(err.Error(), "first record does not look like a TLS handshake"):
		return "it does not speak TLS on that port", "redis:// in place of rediss://, or the port that is its tls-port"
	case strings.Contains(err.Error(), "certificate required"), strings.Contains(err.Error(), "bad certificate"):
		return "it wants a client certificate of an authority that it trusts", "--redis-cert FILE --redis-key FILE"
	}
	return "no agreement on TLS: " + said(err), "--redis-ca FILE; does its port speak TLS?"
}

func aboutLogin(err error) (what, hint string) {
	const give = "--redis-user NAME and --redis-password-file FILE, or the password in WEIR_REDIS_PASSWORD"
	text := raw(err)
	switch {
	case strings.Contains(text, "NOAUTH"):
		return "it wants a login and was given none", give
	case strings.Contains(text, "without any password configured"), strings.Contains(text, "no password is set"):
		return "a password was given, and it has none", "leave the password out"
	}
	return "it knows no such user, or the password is wrong", give
}

// commandOf finds the command in "… no permissions to run the 'set' command".
var commandOf = regexp.MustCompile(`'([a-zA-Z_.|-]{1,40})'`)

func aboutPermission(err error) (what, hint string) {
	const setuser = "redis-cli ACL SETUSER NAME "
	text := raw(err)
	switch m := commandOf.FindStringSubmatch(text); {
	case m != nil && strings.Contains(text, "command"):
		c := strings.ToLower(m[1])
		return "the user may not run " + strings.ToUpper(c), setuser + "+" + c
	case strings.Contains(text, "channel"):
		return "the user may not use this channel", setuser + "'&*'"
	case strings.Contains(text, "access"):
		return "the user may not touch the limiter's keys", setuser + "'~rl:*', and for rules '~{rl:rules}:history'"
	case strings.Contains(text, "script"):
		return "the user may not run a command that the script runs", setuser + "+@read +@write +time"
	}
	return "the user may not do this: " + said(err), setuser + "'~rl:*' +@read +@write +@scripting +@connection +time"
}

func aboutOther(err error) (what, hint string) {
	text := raw(err)
	switch {
	case strings.Contains(text, "cluster support disabled"):
		return "it is no node of a cluster", "redis://HOST:PORT, with the same host and port"
	case strings.Contains(text, "unknown command"):
		m := commandOf.FindStringSubmatch(text)
		if m == nil {
			m = []string{"", "the command"}
		}
		return "it does not know " + strings.ToUpper(m[1]), "a Redis of version 5 or later; is the command renamed, or is a proxy or a sentinel in its place?"
	case strings.HasPrefix(text, "redis: invalid reply"), strings.HasPrefix(text, "redis: can't parse"):
		return "what answers there is no Redis", "correct the host and the port; a web server, a proxy or a port for TLS (rediss://) answers so"
	case strings.Contains(text, "DB index is out of range"):
		return "it has no database of that number", "0 after the host in the URL, or a higher `databases` in its configuration"
	case strings.Contains(text, "SELECT is not allowed in cluster mode"):
		return "it is a node of a cluster, which has one database only", "redis+cluster://HOST:PORT, without a database"
	}
	return said(err), ""
}

// raw is what the server or a library said, to look for words in.
func raw(err error) string {
	var ping *PingError
	if errors.As(err, &ping) {
		err = ping.Err
	}
	var reply redis.Error
	if errors.As(err, &reply) {
		err = reply
	}
	text := err.Error()
	return text[:min(len(text), 1<<10)]
}

// said is raw as it may be shown: on one line and not long.
func said(err error) string { return report.Clean(raw(err)) }

// where names the server as well as the error knows it.
func where(err error) string {
	var store *redislimit.StoreError
	if errors.As(err, &store) && store.Node != "" {
		return "redis at " + report.Clean(store.Node)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Addr != nil {
		return "redis at " + report.Clean(op.Addr.String())
	}
	var ping *PingError
	if errors.As(err, &ping) && ping.Addr != "" {
		return "redis at " + report.Clean(ping.Addr)
	}
	return "redis"
}
