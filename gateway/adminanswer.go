package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// maxBody bounds what a caller of the admin listener may send, in bytes.
const maxBody = 64 << 10

// problemDetails is an answer of RFC 9457.
type problemDetails struct {
	Title    string          `json:"title"`
	Status   int             `json:"status"`
	Detail   string          `json:"detail"`
	Hint     string          `json:"hint,omitempty"`
	Problems []rules.Problem `json:"problems,omitempty"` // what the checker found
}

func writeProblem(w http.ResponseWriter, p problemDetails) {
	p.Title = http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	// An error here is the caller's hanging up.
	_ = json.NewEncoder(w).Encode(p)
}

func writeAnswer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v)
}

// readBody reads one JSON document without unknown fields into v.
func readBody(w http.ResponseWriter, r *http.Request, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the document")
		}
	}
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return &requestError{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", big.Limit), ""}
	case errors.Is(err, io.EOF):
		return &requestError{http.StatusBadRequest, "the body is empty", ""}
	case err != nil:
		return &requestError{http.StatusBadRequest, "the body cannot be read: " + strings.TrimPrefix(err.Error(), "json: "), ""}
	}
	return nil
}

// oneLine is a text as a log may have it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, atMost(s, 2<<10))
}

// requestError is what is wrong with a request itself.
type requestError struct {
	status       int
	detail, hint string
}

func (e *requestError) Error() string { return e.detail }

// adminProblem says what err means for the caller.
func adminProblem(err error) problemDetails {
	var (
		request *requestError
		edit    *rules.EditError
		refused *RefusedRulesError
		late    *OldRulesError
		spec    *limit.SpecError
		store   *RuleStoreError
	)
	switch {
	case errors.As(err, &request):
		return problemDetails{Status: request.status, Detail: request.detail, Hint: request.hint}
	case errors.As(err, &spec):
		return problemDetails{Status: http.StatusBadRequest, Detail: spec.Error(), Hint: spec.Hint}
	case errors.As(err, &edit) && edit.Missing:
		return problemDetails{Status: http.StatusNotFound, Detail: edit.Msg, Hint: edit.Hint}
	case errors.As(err, &edit) && edit.Unfit:
		return problemDetails{Status: http.StatusBadRequest, Detail: edit.Msg, Hint: edit.Hint}
	case errors.As(err, &edit):
		return problemDetails{Status: http.StatusConflict, Detail: edit.Msg, Hint: edit.Hint}
	case errors.As(err, &refused):
		return problemDetails{Status: http.StatusUnprocessableEntity, Detail: refused.Error(), Problems: refused.Problems}
	case errors.As(err, &late):
		return problemDetails{Status: http.StatusConflict, Detail: late.Error(), Hint: "weir serve rules push, with a version above it"}
	case errors.Is(err, ErrRulesChanged):
		return problemDetails{Status: http.StatusConflict, Detail: err.Error(), Hint: "look at them and try again"}
	case errors.As(err, &store):
		return problemDetails{Status: http.StatusBadGateway, Detail: store.Error(), Hint: store.Hint()}
	}
	return problemDetails{Status: http.StatusInternalServerError, Detail: err.Error()}
}
