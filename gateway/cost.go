package gateway

import (
	"net/http"
	"net/textproto"
	"strconv"
)

// Cost says where a request names its cost. The zero value makes every
// request cost 1.
type Cost struct {
	Header string // read first
	Query  string // a query parameter
	Max    int64  // highest cost that is taken; 0 is 1,000,000
}

func (c *Cost) check() error {
	if c.Header != "" {
		if !headerName(c.Header) {
			return &ConfigError{"cost header", c.Header, "not a header name"}
		}
		c.Header = textproto.CanonicalMIMEHeaderKey(c.Header)
	}
	if c.Max < 0 || c.Max > MaxCost {
		return &ConfigError{"max cost", strconv.FormatInt(c.Max, 10), "want 1 to " + strconv.Itoa(MaxCost)}
	}
	return nil
}

// of returns r's cost, or false when r names one that is not a whole number
// from 1 to Max. A zero is refused because it would pass without being counted.
func (c *Cost) of(r *http.Request) (int64, bool) {
	s := ""
	if c.Header != "" {
		s = first(r, c.Header)
	}
	if s == "" && c.Query != "" && r.URL.RawQuery != "" {
		s = r.URL.Query().Get(c.Query)
	}
	if s == "" {
		return 1, true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n >= 1 && n <= c.Max
}
