package gateway

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-cli/weir/gateway/rules"
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
		{"a key in Connection", nil, "", http.Header{"X-Api-Key": {"k-1"}, "Connection": {"X-Api-Key"}}, http.Header{"X-Api-Key": {"k-1"}}},
		{"a key with underscores", nil, "", http.Header{"X-Api-Key": {"k-1"}, "X_Api_Key": {"k-2"}, "x-API_key": {"k-3"}}, http.Header{"X-Api-Key": {"k-1"}, "X_api_key": nil, "X_Api_Key": nil, "x-API_key": nil, "X-Api_key": nil}},
		{"no key but one with underscores", nil, "", http.Header{"X_Api_Key": {"k-2"}}, http.Header{"X-Api-Key": nil, "X_api_key": nil, "X_Api_Key": nil}},
		{"an address with underscores", nil, "", http.Header{"X_Forwarded_For": {"203.0.113.9"}}, http.Header{"X-Forwarded-For": {"127.0.0.1"}, "X_forwarded_for": nil, "X_Forwarded_For": nil}},
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

// No spelling of a guarded path reaches the upstream uncounted: whatever some
// server may take for it is refused once its limit is used up.
func TestNoSpellingPassesASecurityRule(t *testing.T) {
	reached := make(chan string, 100)
	up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.RequestURI }))
	defer up.Close()
	target, _ := url.Parse(up.URL)
	set, err := rules.Parse([]byte("version: 1\nrules:\n- {name: login, per: address, route: POST /v1/login, security: true, limits: [{default: true, limit: \"1/h,burst=1\"}]}\n"), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := started(t, Config{Rules: set, Upstream: target})
	at := strings.TrimPrefix(f.URLs()[0], "http://")
	ask := func(line, more string) string {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, line+"\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n"+more+"\r\n"); err != nil {
			t.Fatal(err)
		}
		all, _ := io.ReadAll(conn)
		_, status, _ := strings.Cut(string(all), " ")
		status, _, _ = strings.Cut(status, " ")
		return status
	}
	if got := ask("POST /v1/login HTTP/1.1", ""); got != "200" || <-reached != "/v1/login" {
		t.Fatal("the first is answered", got)
	}
	for _, path := range []string{
		"/v1/login", "/v1/login/", "//v1//login", "/./v1/./login/.", "/v1/x/../login", "/v1/%6cogin", "/v1/%6Cogin", "/v1%2flogin", "/v1%2Flogin", "/%76%31/login",
		"/%2e/v1/x/%2e%2E/login", "/v1/login;x", "/v1/login;x=1;y", "/v1;/login", "/v1/x/..;/login", "/v1/login%3bx", `/v1\login`, "/v1%5clogin", "/%5Cv1;x%5Clogin", "/v1%2Fx;%5C..%5Clogin", "/v1%5Clogin", "/V1/LOGIN", "/v1/login?x=1", "/v1/login?",
		"http://x/v1/login", "HTTP://other:81//v1/login", "http://u:p@x/v1/login;a/", "/" + strings.Repeat("a/../", 2000) + "v1/login",
	} {
		if got := ask("POST "+path+" HTTP/1.1", ""); got != "429" {
			t.Errorf("%.60s: %s", path, got)
		}
	}
	for _, line := range []string{"POST /v1/login HTTP/1.0", "post /v1/login HTTP/1.1", "PoST /v1/login HTTP/1.1"} {
		if got := ask(line, ""); got != "429" {
			t.Errorf("%s: %s", line, got)
		}
	}
	for _, line := range []string{"POST http:v1/login HTTP/1.1", "POST x:v1/login HTTP/1.1", "POST http:%2fv1/login HTTP/1.1", "POST v1/login HTTP/1.1", "POST /v1/%zz/login HTTP/1.1", "POST  /v1/login HTTP/1.1"} {
		if got := ask(line, ""); got != "400" {
			t.Errorf("%s: %s", line, got)
		}
	}
	if len(reached) > 0 {
		t.Errorf("the upstream saw %q", <-reached)
	}
	// What is another path to everybody passes, as it was sent.
	for _, path := range []string{"/v1/logins", "/v1/a%2Fb", "/v1//x/", "/v1/%ff", "/v1/x;y", "/%2e%2e/x", "/v1/..%5cx"} {
		if got := ask("POST "+path+" HTTP/1.1", ""); got != "200" {
			t.Errorf("%s: %s", path, got)
		} else if saw := <-reached; saw != path {
			t.Errorf("%s reaches the upstream as %s", path, saw)
		}
	}
}

// A path that may be one of many rules' by one reading and many others' by
// another is under more than one call to the store takes: it is not let past them.
func TestTooManyReadings(t *testing.T) {
	text := "version: 1\nrules:\n"
	for i := range 2 * rules.MaxAtOnce {
		text += fmt.Sprintf("- {name: r%d, per: key, route: /%c/x, limits: [{default: true, limit: 9/s}]}\n", i, 'a'+i%2)
	}
	set, err := rules.Parse([]byte(text), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := started(t, Config{Rules: set})
	for path, want := range map[string]int{"/a/x": 200, "/b/x": 200, "/a;/../b/x": 200, `/a;%5C..%5Cb/x`: 400} {
		res, err := http.Get(f.URLs()[0] + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
}
