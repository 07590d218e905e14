package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/textproto"
	"strings"
)

// KeyBy says what a limit counts by.
type KeyBy uint8

const (
	ByHeader   KeyBy = iota
	ByAddress        // the peer's IP address, without its port
	ByPath           // the request's path, without its query
	ByConstant       // everybody shares one
)

var keyBys = [...]string{"header", "address", "path", "constant"}

func (b KeyBy) String() string { return nameOf(keyBys[:], int(b)) }

// ParseKeyBy reads header, address, path or constant.
func ParseKeyBy(s string) (KeyBy, error) {
	i, err := indexOf("key-by", keyBys[:], s)
	return KeyBy(i), err
}

// DefaultKeyHeader is the header that a zero Key reads.
const DefaultKeyHeader = "X-Api-Key"

// maxKey bounds how much of a caller's text a table may hold.
const maxKey = 200

// Key picks the key of a request. A request without the header is counted
// under its address.
type Key struct {
	By       KeyBy
	Header   string // "" is X-API-Key
	Constant string // "" is "all"
}

func (k *Key) check() error {
	if k.Header == "" {
		k.Header = DefaultKeyHeader
	}
	if !headerName(k.Header) {
		return &ConfigError{"key header", k.Header, "not a header name"}
	}
	k.Header = textproto.CanonicalMIMEHeaderKey(k.Header)
	if k.Constant == "" {
		k.Constant = "all"
	}
	if len(k.Constant) > maxKey {
		return &ConfigError{"constant key", k.Constant[:20] + "…", "too long"}
	}
	return nil
}

// of returns r's key; "" is for its address to be the key. It allocates only
// for a key too long to keep.
func (k *Key) of(r *http.Request) string {
	switch k.By {
	case ByPath:
		return bounded(r.URL.Path)
	case ByConstant:
		return k.Constant
	case ByHeader:
		return bounded(first(r, k.Header))
	}
	return ""
}

// first is Header.Get for a name that is canonical already.
func first(r *http.Request, canonical string) string {
	if canonical == "Host" {
		return r.Host
	}
	if v := r.Header[canonical]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// address cuts the port off. The peers of a unix socket have no name of their
// own and share one.
func address(remote string) string {
	if remote == "" || remote == "@" {
		return "unix"
	}
	i := strings.LastIndexByte(remote, ':')
	if i < 0 {
		return remote
	}
	return strings.Trim(remote[:i], "[]")
}

// bounded keeps a long key apart from others with the same beginning, in
// bounded space.
func bounded(s string) string {
	if len(s) <= maxKey {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return s[:32] + "…" + hex.EncodeToString(sum[:])
}
