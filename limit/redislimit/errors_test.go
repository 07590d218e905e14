package redislimit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
)

func TestClassify(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tt := range []struct {
		err  error
		want Kind
	}{
		{nil, KindUnexpected},
		{errors.New("what"), KindUnexpected},
		{fault("ERR unknown command"), KindUnexpected},
		{fault("LOADING Redis is loading the dataset in memory"), KindLoading},
		{fault("BUSY Redis is busy running a script"), KindBusy},
		{fault("READONLY You can't write against a read only replica. script: 1, on @user_script:3."), KindReadOnly},
		{fault("ERR Error running script (call to f_1): @user_script:3: -READONLY You can't write against a read only replica."), KindReadOnly},
		{fault("ERR Error running script (call to f_1): @user_script:3: -OOM command not allowed when used memory > 'maxmemory'."), KindOutOfMemory},
		{fault("ERR Error running script (call to f_1): @user_script:3: WRONGTYPE Operation against a key"), KindWrongType},
		{fault("ERR Error running script (call to f_1): @user_script:3: user_script:3: attempt to compare"), KindUnexpected},
		{fault("OOM command not allowed when used memory > 'maxmemory'."), KindOutOfMemory},
		{fault("WRONGTYPE Operation against a key holding the wrong kind of value"), KindWrongType},
		{fault("MISCONF Redis is configured to save RDB snapshots"), KindNoWrites},
		{fault("NOREPLICAS Not enough good replicas to write."), KindNoWrites},
		{fault("CLUSTERDOWN Hash slot not served"), KindClusterDown},
		{fault("MASTERDOWN Link with MASTER is down"), KindMasterDown},
		{fault("TRYAGAIN Multiple keys request during rehashing of slot"), KindTryAgain},
		{fault("MOVED 1 127.0.0.1:1"), KindMoved},
		{fault("ASK 1 127.0.0.1:1"), KindMoved},
		{fault("CROSSSLOT Keys in request don't hash to the same slot"), KindCrossSlot},
		{fault("ERR Script attempted to access keys that do not hash to the same slot"), KindCrossSlot},
		{fault("NOAUTH Authentication required."), KindNoAuth},
		{fault("WRONGPASS invalid username-password pair or user is disabled."), KindNoAuth},
		{fault("ERR invalid password"), KindNoAuth},
		{fault("ERR Protocol error: unauthenticated multibulk length"), KindNoAuth},
		{fault("NOPERM this user has no permissions to run the 'evalsha' command"), KindNoPerm},
		{fault("ERR max number of clients reached"), KindMaxClients},
		{fault("NOSCRIPT No matching script. Please use EVAL."), KindNoScript},
		{redis.ErrClosed, KindClosed},
		{redis.ErrPoolTimeout, KindTimeout},
		{context.Canceled, KindCanceled},
		{context.DeadlineExceeded, KindTimeout},
		{fmt.Errorf("wrapped: %w", os.ErrDeadlineExceeded), KindTimeout},
		{io.EOF, KindBroken},
		{io.ErrUnexpectedEOF, KindBroken},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, KindBroken},
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, KindBroken},
		{dial(syscall.ECONNREFUSED), KindRefused},
		{dial(syscall.EHOSTUNREACH), KindRefused},
		{dial(&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}), KindRefused},
		{dial(os.ErrDeadlineExceeded), KindTimeout},
		{&net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ENOENT)}, KindRefused},
		{errors.New("redis: all sentinels specified in configuration are unreachable"), KindRefused},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, KindTLS},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, KindTLS},
		{errors.New("remote error: tls: certificate required"), KindTLS},
		{&StoreError{Kind: KindBusy, Err: io.EOF}, KindBusy},
	} {
		if got := Classify(tt.err); got != tt.want {
			t.Errorf("Classify(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestKindsHaveNamesAndHints(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		e := &StoreError{Kind: k, Err: io.EOF}
		if k.String() == "" || e.Hint() == "" || seen[k.String()] {
			t.Errorf("kind %d: name %q, hint %q", k, k, e.Hint())
		}
		seen[k.String()] = true
	}
	if beyond := (&StoreError{Kind: kinds, Err: io.EOF}); beyond.Kind.String() != "unexpected" || beyond.Hint() == "" {
		t.Errorf("a kind that is none: %v, %q", beyond, beyond.Hint())
	}
}

// A server's words end up in logs and on screens.
func TestErrorsAreOneBoundedLine(t *testing.T) {
	e := &StoreError{Kind: KindUnexpected, Node: "127.0.0.1:1", Err: errors.New("a\nb\x1b[31m" + strings.Repeat("x", 1<<20) + "\xff")}
	text := e.Error()
	if len(text) > maxErrorText+100 || strings.ContainsAny(text, "\n\x1b") || !strings.HasPrefix(text, "store at 127.0.0.1:1: unexpected: a·b") {
		t.Errorf("%d bytes: %.80q", len(text), text)
	}
	if !errors.Is(&StoreError{Err: io.EOF}, io.EOF) {
		t.Error("the cause is lost")
	}
}

// A cluster says what its nodes are called.
func TestErrorsAreOneCleanLine(t *testing.T) {
	e := &StoreError{Kind: KindTimeout, Node: "a\nb\x1b[2J\xff:6379", Err: errors.New("x\r\ny")}
	if text := e.Error(); strings.ContainsAny(text, "\r\n\x1b") || !utf8.ValidString(text) {
		t.Errorf("%q", text)
	}
}
