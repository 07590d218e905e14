package gateway

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

// TestWhoTheUpstreamIsToldOf: the upstream sees the key that was counted, and an
// address from nobody but a listed proxy.
func TestWhoTheUpstreamIsToldOf(t *testing.T) {
	for _, tt := range []struct {
		name    string
		proxies []string
		header  string // that says the address; "" is X-Forwarded-For
		sent    http.Header
		want    http.Header // of these names; a port is shown as PORT
	}{
		{"several keys", nil, "", http.Header{"X-Api-Key": {"k-1", "k-2"}}, http.Header{"X-Api-Key": {"k-1"}}},
		{"a forged address", nil, "X-Real-IP", http.Header{"X-Real-Ip": {"203.0.113.9"}, "X-Forwarded-For": {"203.0.113.9"}},
			http.Header{"X-Real-Ip": nil, "X-Forwarded-For": {"127.0.0.1"}}},
		{"an address from a proxy", []string{"127.0.0.1"}, "X-Real-IP", http.Header{"X-Real-Ip": {"203.0.113.9"}}, http.Header{"X-Real-Ip": {"203.0.113.9"}}},
		{"a list from a proxy", []string{"127.0.0.1"}, "", http.Header{"X-Forwarded-For": {"203.0.113.9"}}, http.Header{"X-Forwarded-For": {"203.0.113.9, 127.0.0.1"}}},
		{"a forged RFC 7239", nil, "Forwarded", http.Header{"Forwarded": {"for=203.0.113.9"}}, http.Header{"Forwarded": nil}},
		{"RFC 7239 from a proxy", []string{"127.0.0.1"}, "Forwarded", http.Header{"Forwarded": {"for=203.0.113.9"}},
			http.Header{"Forwarded": {"for=203.0.113.9", `for="127.0.0.1:PORT"`}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make(chan http.Header, 1)
			up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
			defer up.Close()
			target, _ := url.Parse(up.URL)
			f := started(t, Config{Limit: spec(t, "1/h,burst=2"), Upstream: target, Proxies: *proxies(t, tt.header, tt.proxies...)})
			req, _ := http.NewRequest("GET", f.URLs()[0], nil)
			req.Header = tt.sent
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			seen := <-got
			for name, want := range tt.want {
				var have []string
				for _, v := range seen[name] {
					if i := strings.LastIndex(v, `127.0.0.1:`); i >= 0 {
						v = v[:i] + `127.0.0.1:PORT"`
					}
					have = append(have, v)
				}
				if !reflect.DeepEqual(have, want) {
					t.Errorf("%s: %q, want %q", name, have, want)
				}
			}
		})
	}
}

func TestKeptSlashes(t *testing.T) {
	for sent, want := range map[string]string{
		"/v1/login": "", "/v1/%6cogin": "", "/v1/a%2Fb": "/v1/a\x00b", "/v1%2flogin": "/v1\x00login", "/v1/%252F": "", "/%2F%2f": "/\x00\x00",
		"/v1/%6c%2Fx?a=%2F": "/v1/l\x00x", "/v1/x?a=%2F": "",
	} {
		u, err := url.ParseRequestURI(sent)
		if err != nil {
			t.Fatal(err)
		}
		if got := keptSlashes(u); got != want {
			t.Errorf("%s: %q, want %q", sent, got, want)
		}
	}
}
