package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
)

const (
	adminToken = "a-token-of-24-characters"
	shopRules  = `version: 7 # by hand
rules:
  - name: requests
    per: key
    limits:
      - {plan: gold, limit: "100/s,burst=200"} # who pays
      - {key: k-1, limit: "5/s,burst=50"}
      - {default: true, limit: "10/s,burst=20"}
    cost: {POST /v1/export: 10}
    on_failure: local
    lease: {block: 2, life: 5s}
  - name: login
    per: address
    route: POST /v1/login
    limits:
      - {default: true, limit: "5/m,burst=5"}
    security: true
overrides:
  - {key: k-9, rule: requests, limit: "20/s,burst=40", reason: a launch, expires: 2030-06-01}
`
)

type operator struct {
	*Admin
	path string
	h    *ruleBox
	log  *bytes.Buffer
}

// operated is an admin listener over a file of rules.
func operated(t *testing.T) *operator {
	t.Helper()
	d := &operator{path: filepath.Join(t.TempDir(), "rules.yaml"), h: &ruleBox{set: ruleSet(t, []byte(shopRules))}, log: &bytes.Buffer{}}
	if err := os.WriteFile(d.path, []byte(shopRules), 0o600); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
	k := NewRuleKeeper(KeeperConfig{Source: &RuleFile{Path: d.path}, Holder: d.h, Now: clock})
	a, err := NewAdmin(AdminConfig{Token: adminToken, Holder: d.h, Keeper: k, Log: log.New(d.log, "", 0), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	d.Admin = a
	return d
}

// call sends one request; the answer is its status and its text.
func (d *operator) call(method, path, body string, header ...string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+adminToken)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Body)
	return w.Code, string(text)
}

func TestAdminChangesWhatIsInForce(t *testing.T) {
	d := operated(t)
	steps := []struct {
		name, method, path, body string
		status                   int
		version                  int64
		says                     string
	}{
		{"look at a plan", "GET", "/v1/limits/gold", "", 200, 7, `"limit": "100/s,burst=200"`},
		{"which has the default elsewhere", "GET", "/v1/limits/gold", "", 200, 7, `"from": "default"`},
		{"the default", "GET", "/v1/limits/default", "", 200, 7, `"limit": "10/s,burst=20"`},
		{"no such plan", "GET", "/v1/limits/tin", "", 404, 7, `no rule has a limit for the plan tin`},
		{"change a plan", "PUT", "/v1/limits/gold", `{"rule":"requests","limit":"200/s,burst=400","reason":"asked for"}`, 200, 8, `"factor": "twice"`},
		{"it is there", "GET", "/v1/limits/gold", "", 200, 8, `"limit": "200/s,burst=400"`},
		{"a new plan", "PUT", "/v1/limits/tin%2Ffoil", `{"rule":"requests","limit":"1/s,burst=10","reason":"a trial"}`, 200, 9, `"kind": "limit-added"`},
		{"below a cost", "PUT", "/v1/limits/gold", `{"rule":"requests","limit":"1/s,burst=9","reason":"x"}`, 422, 9, `"cost-above-burst"`},
		{"no such rule", "PUT", "/v1/limits/gold", `{"rule":"x","limit":"1/s","reason":"x"}`, 404, 9, `there is no rule \"x\"`},
		{"which rule", "PUT", "/v1/limits/gold", `{"limit":"1/s","reason":"x"}`, 400, 9, `rule is missing`},
		{"no reason", "PUT", "/v1/limits/gold", `{"rule":"requests","limit":"1/s","reason":" "}`, 400, 9, `reason is missing`},
		{"no limit", "PUT", "/v1/limits/gold", `{"rule":"requests","limit":"10","reason":"x"}`, 400, 9, `has no unit of time`},
		{"a word too much", "PUT", "/v1/limits/gold", `{"rule":"requests","limit":"1/s","reason":"x","force":true}`, 400, 9, `unknown field`},
		{"no JSON", "PUT", "/v1/limits/gold", `rule=requests`, 400, 9, `cannot be read`},
		{"two documents", "PUT", "/v1/limits/gold", `{"rule":"requests","limit":"1/s","reason":"x"}{}`, 400, 9, `something follows`},
		{"nothing", "PUT", "/v1/limits/gold", ``, 400, 9, `the body is empty`},
		{"too much", "PUT", "/v1/limits/gold", `{"reason":"` + strings.Repeat("x", maxBody) + `"}`, 413, 9, `longer than`},
		{"look at an override", "GET", "/v1/overrides/k-9", "", 200, 9, `"reason": "a launch"`},
		{"none", "GET", "/v1/overrides/k-1", "", 404, 9, `has no override`},
		{"grant", "PUT", "/v1/overrides/k%2F1", `{"rule":"requests","limit":"50/s,burst=50","reason":"a \"day\"","expires":"2030-02-01"}`, 200, 10, `"kind": "override-added"`},
		{"it is there, too", "GET", "/v1/overrides/k%2F1", "", 200, 10, `"limit": "50/s,burst=50"`},
		{"grant more", "PUT", "/v1/overrides/k%2F1", `{"rule":"requests","limit":"60/s,burst=60","reason":"b","expires":"2030-02-01T12:00:00+02:00"}`, 200, 11, `"kind": "override-changed"`},
		{"for ever", "PUT", "/v1/overrides/k%2F1", `{"rule":"requests","limit":"60/s,burst=60","reason":"b"}`, 400, 11, `expires is missing`},
		{"into the past", "PUT", "/v1/overrides/k%2F1", `{"rule":"requests","limit":"60/s,burst=60","reason":"b","expires":"2029-12-31"}`, 400, 11, `is over`},
		{"for years", "PUT", "/v1/overrides/k%2F1", `{"rule":"requests","limit":"60/s,burst=60","reason":"b","expires":"2039-12-31"}`, 422, 11, `override-too-long`},
		{"for an address", "PUT", "/v1/overrides/k%2F1", `{"rule":"login","limit":"60/s,burst=60","reason":"b","expires":"2030-02-01"}`, 422, 11, `mixed-scope`},
		{"a hostile key", "PUT", "/v1/overrides/k%1b%5b2J", `{"rule":"requests","limit":"60/s,burst=60","reason":"b","expires":"2030-02-01"}`, 400, 11, `control character`},
		{"a hostile reason", "PUT", "/v1/overrides/k", `{"rule":"requests","limit":"60/s,burst=60","reason":"b\u001b[2J\n- key: x","expires":"2030-02-01"}`, 400, 11, `control character`},
		{"take back", "DELETE", "/v1/overrides/k%2F1?rule=requests&reason=over", "", 200, 12, `"kind": "override-removed"`},
		{"twice", "DELETE", "/v1/overrides/k%2F1?rule=requests&reason=over", "", 404, 12, `the key has no override`},
		{"unexplained", "DELETE", "/v1/overrides/k-9?rule=requests", "", 400, 12, `reason is missing`},
		{"all rules", "GET", "/v1/rules", "", 200, 12, `"on_failure": "closed"`},
		{"keys are hashed there", "GET", "/v1/rules", "", 200, 12, rules.KeyName("k-1")},
		{"how it was loaded", "GET", "/v1/rules", "", 200, 12, `"taken": 5`},
		{"another method", "POST", "/v1/rules", "", 405, 12, `"title":"Method Not Allowed","status":405,"detail":"the path does not take POST","hint":"GET, HEAD"`},
		{"another path", "GET", "/v1/", "", 404, 12, `"detail":"the path was not found"`},
	}
	for _, step := range steps {
		status, text := d.call(step.method, step.path, step.body)
		if status != step.status || !strings.Contains(text, step.says) {
			t.Errorf("%s: %d %s\nwant %d with %s", step.name, status, text, step.status, step.says)
		}
		if got := d.h.Rules().Version; got != step.version {
			t.Fatalf("%s: version %d, want %d", step.name, got, step.version)
		}
		if (strings.Contains(text, "{")) && !json.Valid([]byte(text)) {
			t.Errorf("%s: no JSON: %s", step.name, text)
		}
	}
	text, err := os.ReadFile(d.path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("version: 7", "version: 12", "100/s,burst=200", "200/s,burst=400",
		"      - {plan: gold", "      - {plan: \"tin/foil\", limit: \"1/s,burst=10\"}\n      - {plan: gold").Replace(shopRules)
	if string(text) != want {
		t.Errorf("the file has\n%s\nwant\n%s", text, want)
	}
	told := d.log.String()
	for _, line := range []string{
		"admin at 192.0.2.1: PUT plan gold, version: 7 → 8; limit requests plan gold: 100/s,burst=200 → 200/s,burst=400: twice: asked for\n",
		"admin at 192.0.2.1: PUT plan gold, refused, the changed rules:7: POST /v1/export costs 10",
		"admin at 192.0.2.1: DELETE override of " + rules.KeyName("k/1") + ", version: 11 → 12; override removed requests " + rules.KeyName("k/1"),
	} {
		if !strings.Contains(told, line) {
			t.Errorf("no line %q in\n%s", line, told)
		}
	}
	if strings.Contains(told, "k/1") || strings.Contains(told, "\x1b") || strings.Contains(told, adminToken) {
		t.Errorf("the log tells too much:\n%s", told)
	}
}

func TestAdminWantsItsToken(t *testing.T) {
	d := operated(t)
	d.Handle("GET /metrics", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "numbers") }))
	d.HandleOpen("GET /-/healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "up") }))
	for _, tt := range []struct {
		path, authorization string
		want                int
	}{
		{"/v1/rules", "", 401}, {"/v1/rules", adminToken, 401}, {"/v1/rules", "Bearer", 401}, {"/v1/rules", "Basic " + adminToken, 401},
		{"/v1/rules", "Bearer " + adminToken[:23], 401}, {"/v1/rules", "Bearer " + adminToken + "x", 401}, {"/v1/rules", "bearer  " + adminToken, 200},
		{"/metrics", "", 401}, {"/metrics", "Bearer " + adminToken, 200}, {"/-/healthz", "", 200},
	} {
		if got, text := d.call("GET", tt.path, "", "Authorization", tt.authorization); got != tt.want || got == 401 && strings.Contains(text, "version") {
			t.Errorf("%s with %q: %d %s", tt.path, tt.authorization, got, text)
		}
	}
	if got, _ := d.call("PUT", "/v1/limits/gold", `{"rule":"requests","limit":"1/s","reason":"x"}`, "Authorization", "x"); got != 401 || d.h.Rules().Version != 7 {
		t.Errorf("%d, version %d", got, d.h.Rules().Version)
	}
}

func TestAdminIsNotOpenByMistake(t *testing.T) {
	h := &ruleBox{set: ruleSet(t, []byte(shopRules))}
	for _, c := range []AdminConfig{
		{Holder: h}, {Holder: h, Token: "short"}, {Holder: h, Token: "with a space in the middle"}, {Holder: h, Token: adminToken, Listen: "80"},
	} {
		var e *ConfigError
		if _, err := NewAdmin(c); !errors.As(err, &e) || strings.Contains(err.Error(), "short\"") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, address := range []string{":9000", "0.0.0.0:9000", "192.0.2.1:9000", "example.com:80", "[::]:1"} {
		if _, err := NewAdmin(AdminConfig{Holder: h, Token: adminToken, Listen: address}); !errors.Is(err, ErrRemote) {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := NewAdmin(AdminConfig{Holder: h, Token: adminToken, Listen: address, AllowRemote: true}); err != nil {
			t.Errorf("%s, allowed: %v", address, err)
		}
	}
}

func TestAdminWithoutAFile(t *testing.T) {
	h := &ruleBox{set: ruleSet(t, []byte(shopRules))}
	a, err := NewAdmin(AdminConfig{Token: adminToken, Holder: h})
	if err != nil {
		t.Fatal(err)
	}
	d := &operator{Admin: a}
	if got, text := d.call("GET", "/v1/rules", ""); got != 200 || strings.Contains(text, "loading") {
		t.Errorf("%d %s", got, text)
	}
	if got, text := d.call("PUT", "/v1/limits/gold", `{"rule":"requests","limit":"1/s","reason":"x"}`); got != 409 || !strings.Contains(text, "come from no file") {
		t.Errorf("%d %s", got, text)
	}
}

func TestAdminServes(t *testing.T) {
	d := operated(t)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest("GET", d.URL()+"/v1/rules", nil)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	// The address is taken now.
	second, err := NewAdmin(AdminConfig{Token: adminToken, Holder: d.h, Listen: strings.TrimPrefix(d.URL(), "http://")})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Start(); err == nil {
		t.Error("two on one address")
	}
	if err := second.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := d.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := http.DefaultClient.Do(r); err == nil {
		t.Error("it still serves")
	}
}

func TestReadToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("  "+adminToken+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadToken(path); got != adminToken || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if _, err := ReadToken(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// Every field of an answer has its place on the page.
func TestAdminAnswersAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range []any{problemDetails{}, planLimits{}, ruleLimit{}, keyOverrides{}, overrideRow{}, changeDone{}, inForce{}, ruleRow{}, costRow{}, leaseRow{}} {
		for i := range reflect.TypeOf(v).NumField() {
			n++
			if name, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ","); !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/rules.md does not name %q of %T", name, v)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d fields", n)
	}
}

// Without the token nobody learns which paths there are.
func TestAdminTellsNothingWithoutTheToken(t *testing.T) {
	d := operated(t)
	for _, r := range [][2]string{{"GET", "/v1/rules"}, {"POST", "/v1/rules"}, {"GET", "/"}, {"GET", "/v1/limits"}} {
		if status, text := d.call(r[0], r[1], "", "Authorization", "Bearer another-token-of-24-chars"); status != 401 || !strings.Contains(text, "the token is missing or wrong") {
			t.Errorf("%v: %d %s", r, status, text)
		}
	}
}

// RFC 9110, 15.5.6: a 405 names the methods that there are.
func TestAdminNamesTheMethods(t *testing.T) {
	r := httptest.NewRequest("POST", "/v1/rules", nil)
	r.Header.Set("Authorization", "Bearer "+adminToken)
	w := httptest.NewRecorder()
	operated(t).ServeHTTP(w, r)
	if allow := w.Header().Get("Allow"); w.Code != 405 || allow != "GET, HEAD" {
		t.Errorf("%d, Allow: %s", w.Code, allow)
	}
}
