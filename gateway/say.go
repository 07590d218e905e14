package gateway

import (
	"github.com/weir-cli/weir/limit"
	"net/http"
	"strconv"
	"time"
)

func (f *Fleet) say(h http.Header, d limit.Decision) {
	if !d.OK && d.RetryAfter >= 0 {
		h["Retry-After"] = []string{strconv.FormatInt(int64((d.RetryAfter+time.Second-1)/time.Second), 10)}
	}
}
func (f *Fleet) fieldNames() []string { return nil }
