package redisconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit/redislimit"
)

// Error replies as servers write them, by way of a real connection.
func TestReplies(t *testing.T) {
	r := redistest.Mini(t)
	c, err := Open(Options{URL: r.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, tt := range []struct{ reply, text, hint string }{
		{"LOADING Redis is loading the dataset in memory", "it still reads its data from disk", "INFO persistence"},
		{"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", "another script has run for too long", "SCRIPT KILL"},
		{"READONLY You can't write against a read only replica.", "a replica answered, which takes no writes", "redis+sentinel://"},
		{"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", "it refuses writes, because its disk or its replicas fail", "log"},
		{"CLUSTERDOWN Hash slot not served", "the cluster cannot serve: a part of it has no primary", "--cluster check"},
		{"CROSSSLOT Keys in request don't hash to the same slot", "the keys of one call are in different slots of the cluster", "rl:{k-7}:"},
		{"MOVED 3999 127.0.0.1:6381", "it is a node of a cluster, and the key is on another one", "redis+cluster://"},
		{"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "a replica answered that has lost its primary", "primary"},
		{"OOM command not allowed when used memory > 'maxmemory'.", "its memory is full and it may evict nothing", "volatile-ttl"},
		{"WRONGTYPE Operation against a key holding the wrong kind of value", "a key of the limiter holds something else", "TYPE"},
		{"ERR max number of clients reached", "it takes no more connections", "maxclients"},
		{"NOAUTH Authentication required.", "it wants a login and was given none", "--redis-password-file"},
		{"WRONGPASS invalid username-password pair or user is disabled.", "it knows no such user, or the password is wrong", "--redis-user"},
		{"NOPERM User limiter has no permissions to run the 'evalsha' command", "the user may not run EVALSHA", "+evalsha"},
		{"NOPERM No permissions to access a key", "the user may not touch the limiter's keys", "~rl:*"},
		{"ERR unknown command 'EVALSHA', with args beginning with: ", "it does not know EVALSHA", "version 5"},
		{"ERR This instance has cluster support disabled", "it is no node of a cluster", "redis://"},
		{"ERR something\x1b[31m new", `ERR something\x1b[31m new`, ""},
	} {
		r.Mini.SetError(tt.reply)
		err := c.Get(context.Background(), "k").Err()
		if err == nil {
			t.Fatalf("%s is no error", tt.reply)
		}
		text, hint := Explain(err)
		if text != "redis: "+tt.text || !strings.Contains(hint, tt.hint) || (tt.hint == "") != (hint == "") {
			t.Errorf("%s:\n%s\n%s; want %s and %s", tt.reply, text, hint, tt.text, tt.hint)
		}
	}
}

func TestExplain(t *testing.T) {
	if text, hint := Explain(nil); text != "" || hint != "" {
		t.Errorf("no error: %q, %q", text, hint)
	}
	dial := func(err error) error {
		addr := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 6379}
		return &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: os.NewSyscallError("connect", err)}
	}
	for _, tt := range []struct {
		err  error
		text string
	}{
		{dial(syscall.EHOSTUNREACH), "redis at 192.0.2.1:6379: there is no route to it"},
		{fmt.Errorf("wrapped: %w", dial(syscall.ENETUNREACH)), "redis at 192.0.2.1:6379: there is no route to it"},
		{dial(syscall.EACCES), "redis at 192.0.2.1:6379: this user may not open the socket"},
		{&redislimit.StoreError{Kind: redislimit.KindTimeout, Node: "10.0.0.1:7000", Err: context.DeadlineExceeded}, "redis at 10.0.0.1:7000: no answer in time"},
		{errors.New(`redis: invalid reply: "<!DOCTYPE HTML>"`), "redis: what answers there is no Redis"},
		{context.Canceled, "redis: given up before the answer"},
		{errors.New(strings.Repeat("x", 5000)), "redis: " + strings.Repeat("x", 120) + "…"},
	} {
		if text, _ := Explain(tt.err); text != tt.text {
			t.Errorf("%v: %s, want %s", tt.err, text, tt.text)
		}
	}
	// Every kind that a limiter can fail with has its words.
	for _, kind := range redislimit.Kinds() {
		if text, _ := Explain(&redislimit.StoreError{Kind: kind, Err: errors.New("said")}); text == "redis: " {
			t.Errorf("nothing to say about %v", kind)
		}
	}
}
