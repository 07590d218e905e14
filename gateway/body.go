package gateway

import (
	"net/http"
	"strconv"
)

// body is an answer's content, made once and shared by every request: the
// slices go into header maps as they are and are never written to.
type body struct {
	bytes         []byte
	ctype, length []string
}

func newBody(ctype, text string) body {
	return body{[]byte(text), []string{ctype}, []string{strconv.Itoa(len(text))}}
}

// problem is a problem document (RFC 9457).
func problem(text string) body { return newBody("application/problem+json", text) }

var (
	badCost    = problem(`{"type":"about:blank","title":"The cost is not a whole number that this limiter takes","status":400}` + "\n")
	badPath    = problem(`{"type":"about:blank","title":"The path can be read in too many ways, or is none","status":400}` + "\n")
	badGateway = problem(`{"type":"about:blank","title":"The upstream did not answer","status":502}` + "\n")
)

func (b *body) head(h http.Header) {
	h["Content-Type"] = b.ctype
	h["Content-Length"] = b.length
}

func (b *body) write(w http.ResponseWriter, r *http.Request, status int) {
	b.head(w.Header())
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(b.bytes)
	}
}
