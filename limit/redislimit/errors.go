package redislimit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"unicode"

	"github.com/redis/go-redis/v9"
)

// StoreError is every error that a [Store] returns.
type StoreError struct {
	Kind Kind
	Node string // the server's address; "" when none was chosen yet
	Err  error
	// MayHaveRun is set when the check had left, or may have, and no reply
	// tells that it was not executed.
	MayHaveRun bool
}

func (e *StoreError) Error() string {
	at := ""
	if e.Node != "" {
		at = " at " + clean(e.Node)
	}
	return "store" + at + ": " + e.Kind.String() + ": " + clean(e.Err.Error())
}

func (e *StoreError) Unwrap() error { return e.Err }

// Hint says what to do about it.
func (e *StoreError) Hint() string {
	if e.Kind >= kinds {
		return kindTexts[KindUnexpected].hint
	}
	return kindTexts[e.Kind].hint
}

// Ambiguous reports whether the check may have been executed although it
// failed here. It is not sent again.
func (e *StoreError) Ambiguous() bool { return e.MayHaveRun }

// codes are the error codes of Redis that have a kind of their own.
var codes = map[string]Kind{
	"LOADING":     KindLoading,
	"BUSY":        KindBusy,
	"UNKILLABLE":  KindBusy,
	"READONLY":    KindReadOnly,
	"MISCONF":     KindNoWrites,
	"NOREPLICAS":  KindNoWrites,
	"CLUSTERDOWN": KindClusterDown,
	"MASTERDOWN":  KindMasterDown,
	"TRYAGAIN":    KindTryAgain,
	"MOVED":       KindMoved,
	"ASK":         KindMoved,
	"CROSSSLOT":   KindCrossSlot,
	"NOAUTH":      KindNoAuth,
	"WRONGPASS":   KindNoAuth,
	"NOPERM":      KindNoPerm,
	"OOM":         KindOutOfMemory,
	"WRONGTYPE":   KindWrongType,
	"NOSCRIPT":    KindNoScript,
}

// Classify names what went wrong. The kind of nil is KindUnexpected.
func Classify(err error) Kind {
	if err == nil {
		return KindUnexpected
	}
	var own *StoreError
	if errors.As(err, &own) {
		return own.Kind
	}
	var reply redis.Error
	if errors.As(err, &reply) {
		return classifyReply(reply.Error())
	}
	switch {
	case errors.Is(err, redis.ErrClosed):
		return KindClosed
	case isTLS(err):
		return KindTLS
	case errors.Is(err, context.Canceled):
		return KindCanceled
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return KindRefused
	case isTimeout(err):
		return KindTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return KindBroken
	}
	// Errors of the libraries that have no type, and of proxies that speak
	// through them.
	text := err.Error()
	switch {
	case strings.Contains(text, "connection refused"), strings.Contains(text, "no such host"):
		return KindRefused
	case strings.Contains(text, "all sentinels"), strings.Contains(text, "cluster has no nodes"):
		return KindRefused
	}
	var op *net.OpError
	if errors.As(err, &op) {
		if op.Op == "dial" {
			return KindRefused
		}
		return KindBroken
	}
	return classifyReply(text)
}

// classifyReply reads an error reply. Servers before 7 put what a script met
// behind words of their own: "ERR Error running script (…): -OOM command …".
func classifyReply(text string) Kind {
	text = strings.TrimPrefix(text, "-")
	code, _, _ := strings.Cut(text, " ")
	if kind, ok := codes[code]; ok {
		return kind
	}
	switch {
	case strings.HasPrefix(text, "ERR max number of clients"), strings.HasPrefix(text, "max number of clients"):
		return KindMaxClients
	case strings.Contains(text, "Protocol error: unauthenticated"): // so many words, and no login
		return KindNoAuth
	case strings.HasPrefix(text, "ERR Client sent AUTH"), strings.HasPrefix(text, "ERR invalid password"), strings.HasPrefix(text, "ERR AUTH"):
		return KindNoAuth
	case strings.Contains(text, "user executing the script can't"):
		return KindNoPerm
	case strings.Contains(text, "keys in different slots"), strings.Contains(text, "hash to the same slot"):
		return KindCrossSlot
	case strings.Contains(text, "unning script"), strings.Contains(text, "ompiling script"): // the latter is miniredis
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ':' }) {
			if kind, ok := codes[strings.TrimPrefix(word, "-")]; ok {
				return kind
			}
		}
	}
	return KindUnexpected
}

// isTimeout asks the error itself: some of go-redis's are no net.Error.
func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, redis.ErrPoolTimeout) {
		return true
	}
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func isTLS(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		header    tls.RecordHeaderError
		alert     tls.AlertError
		unknown   x509.UnknownAuthorityError
		host      x509.HostnameError
		certified x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &header) || errors.As(err, &alert) ||
		errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &certified) ||
		strings.Contains(err.Error(), "remote error: tls:") || strings.Contains(err.Error(), "tls: ")
}

// neverRan are the kinds of replies that tell for sure that the script did
// not begin, or wrote nothing.
func neverRan(k Kind) bool {
	switch k {
	case KindUnexpected, KindTimeout, KindBroken, KindCanceled, KindClosed, KindRefused, KindTLS:
		return false
	}
	return true
}

// maxErrorText bounds, in bytes, what a server's words add to an error.
const maxErrorText = 300

// clean makes a server's words fit for one line of a log.
func clean(text string) string {
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, text)
}
