package gateway

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
)

// Rules change while requests come: each is decided, none fails, and tokens
// that were spent stay spent.
func TestRulesChangeUnderTraffic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, ruleText(1, "1/h,burst=50"), 0o600); err != nil {
		t.Fatal(err)
	}
	source := &RuleFile{Path: path}
	set, _, err := ReadRules(t.Context(), source, rules.Against{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(Config{Gateways: 2, Rules: set, Design: Central})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	defer f.Stop(t.Context())
	k := NewRuleKeeper(KeeperConfig{Source: source, Holder: f})
	a, err := NewAdmin(AdminConfig{Token: adminToken, Holder: f, Keeper: k})
	if err != nil {
		t.Fatal(err)
	}
	d := &operator{Admin: a}

	const callers, calls = 4, 200
	var calling sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]int{}
	for c := range callers {
		calling.Go(func() {
			for range calls {
				r := httptest.NewRequest("GET", "/v1/x", nil)
				r.Header.Set("X-API-Key", "k-1")
				w := httptest.NewRecorder()
				f.Handler(c%2).ServeHTTP(w, r)
				mu.Lock()
				seen[w.Code]++
				mu.Unlock()
			}
		})
	}
	const changes = 10
	for i := range changes {
		body := fmt.Sprintf(`{"limit":"1/h,burst=%d","reason":"more"}`, 51+i)
		if status, text := d.call(http.MethodPut, "/v1/limits/default", body); status != 200 {
			t.Errorf("change %d: %d %s", i, status, text)
		}
	}
	calling.Wait()
	if f.Rules().Version != 1+changes || f.Rules().Rules[0].Plan("default").Spec.Burst != 50+changes {
		t.Errorf("in force: version %d, %v", f.Rules().Version, f.Rules().Rules[0].Plan("default").Spec)
	}
	// A burst that grows gives nobody tokens: the bucket began with 50.
	if seen[200] != 50 || seen[200]+seen[429] != callers*calls {
		t.Errorf("answers %v, want 50 of 200 and the rest 429", seen)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "burst=60") || !strings.HasPrefix(string(text), "version: 11\n") {
		t.Errorf("the file has %q, %v", text, err)
	}
	if st := k.Status(); st.Taken != changes || st.At.After(time.Now()) {
		t.Errorf("status %+v", st)
	}
}
