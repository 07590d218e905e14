package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// counts is what a server says at some instant.
func counts(elapsed float64, offered, admitted int64) string {
	return fmt.Sprintf(`{"schema":"weir.counts/v1","limit":"10/s,burst=20","design":"local","gateways":2,"elapsed_s":%g,
		"totals":{"offered":%[2]d,"admitted":%[3]d,"refused":%[4]d,"admitted_units":%[3]d},
		"per_gateway":[{"gateway":1,"url":"http://127.0.0.1:1","offered":%[2]d,"admitted":%[3]d,"refused":%[4]d}],
		"keys":1,"per_key":[{"key":"k-\u001b[1m","offered":%[2]d,"admitted":%[3]d,"refused":%[4]d,"admitted_units":%[3]d}],"other":{}}`,
		elapsed, offered, admitted, offered-admitted)
}

// A server that is asked again and again becomes a chart of what was new each
// time, a verdict where counts can give one, and trouble when it goes away.
func TestAttach(t *testing.T) {
	answer, status := counts(7, 100, 50), 200
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/-/counts" || r.URL.Query().Get("top") == "" {
			t.Errorf("asked for %s", r.URL)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	defer server.Close()
	s, err := newServedRun(context.Background(), server.URL+"/some/path?x=1#y")
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range []struct {
		name         string
		answer       string
		offered, new uint32
		verdict      string
	}{
		{"what came before has no time", counts(7.1, 100, 50), 100, 0, report.NotJudged},
		{"new ones", counts(7.6, 140, 60), 140, 40, report.NotJudged},
		{"more than the promise of 97 allows", counts(7.7, 300, 98), 300, 200, report.Broken},
		{"a reset", counts(0.2, 5, 5), 5, 0, report.NotJudged},
		{"and on", counts(1, 9, 5), 9, 4, report.NotJudged},
		{"a very long time later", counts(1e12, 20, 5), 20, 11, report.NotJudged},
	} {
		answer = st.answer
		if err := s.ask(context.Background()); err != nil {
			t.Fatalf("%s: %v", st.name, err)
		}
		snap := s.Snapshot()
		var sum uint32
		for _, k := range snap.Detail.Whole.Ticks {
			sum += k.Offered
		}
		if uint32(snap.Totals.Offered) != st.offered || sum != st.new || snap.Verdict != st.verdict {
			t.Errorf("%s: offered %d, drawn %d, %s; want %d, %d, %s", st.name, snap.Totals.Offered, sum, snap.Verdict, st.offered, st.new, st.verdict)
		}
		for v := tui.Traffic; v <= tui.Bucket; v++ {
			if text := tui.Screen(s, tui.Options{View: v}, 120, 40); strings.Contains(text, "\x1b") || !strings.Contains(text, "2 gateways, local") {
				t.Errorf("%s: the view %s is wrong:\n%s", st.name, v, text)
			}
		}
	}
	for want, bad := range map[string]string{"cannot be read": "{", "weir.counts/v9": `{"schema":"weir.counts/v9"}`, "cannot be read ": ""} {
		answer = bad
		if err := s.ask(context.Background()); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%q: %v, want %q", bad, err, want)
		}
	}
	answer, status = counts(1, 1, 1), 404
	if err := s.ask(context.Background()); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("got %v", err)
	}
}

// Pointed at the listener for operators, or at anything else, it says what it
// should be pointed at.
func TestAttachToSomethingElse(t *testing.T) {
	for _, tc := range []struct{ name, realm, want string }{
		{"admin", `Bearer realm="weir"`, "this is the --admin listener of a weir serve, which shows no counts"},
		{"another server", `Basic realm="shop"`, "status 401, so this is no weir serve that shows its counts"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", tc.realm)
			w.WriteHeader(http.StatusUnauthorized)
		}))
		_, err := newServedRun(context.Background(), server.URL)
		server.Close()
		var f *failure
		if !errors.As(err, &f) || f.err.Error() != server.URL+": "+tc.want || f.hint != "--attach takes the URL that weir serve prints first, that of its --listen" {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// Answers that are due at any time of a step give even traffic an even chart,
// with nothing lost: no step takes two answers and its neighbour none.
func TestAttachSharesOut(t *testing.T) {
	s := &servedRun{trail: report.Trail{Step: int64(attachEvery)}}
	s.latest.Store(&servedView{})
	elapsed, offered := 3.1, int64(310)
	for i := range 60 {
		sn := gateway.Snapshot{Schema: gateway.CountsSchema, Limit: "10/s", ElapsedS: elapsed}
		sn.Totals.Offered, sn.Totals.Admitted = offered, offered/2
		s.take(&sn)
		elapsed += []float64{0.49, 0.51, 0.7, 0.3}[i%4]
		offered = int64(elapsed * 100)
	}
	ticks := s.trail.Ticks
	var sum uint32
	for i, k := range ticks {
		sum += k.Offered
		if whole := i > 0 && i < len(ticks)-1; whole && (k.Offered < 48 || k.Offered > 52) {
			t.Errorf("step %d has %d of 50", i, k.Offered)
		}
	}
	if want := uint32(s.last.Totals.Offered - 310); sum != want {
		t.Errorf("%d drawn of %d", sum, want)
	}
}

// A server that does not answer in time is said to, in words.
func TestAttachSaysWhatIsWrong(t *testing.T) {
	hold := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	defer server.Close()
	defer close(hold)
	s := &servedRun{url: server.URL, client: &http.Client{Timeout: 50 * time.Millisecond}}
	if err := s.ask(context.Background()); err == nil || err.Error() != "nothing within 50ms" {
		t.Errorf("got %v", err)
	}
}

// A password in the URL is in no message and on no screen.
func TestAttachKeepsSecrets(t *testing.T) {
	_, err := newServedRun(context.Background(), "http://me:s3cret@127.0.0.1:1")
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func TestParseScreen(t *testing.T) {
	if w, h, err := parseScreen("120x40"); w != 120 || h != 40 || err != nil {
		t.Errorf("%d %d %v", w, h, err)
	}
	for _, bad := range []string{"", "x", "120", "120x", "x40", "0x5", "5x-1", "5x100000", "1e3x5"} {
		if _, _, err := parseScreen(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// What a terminal says of itself decides about colours.
func TestColors(t *testing.T) {
	for env, want := range map[string]tui.Colors{
		"TERM=xterm-256color": tui.Colors256, "TERM=xterm": tui.Colors16, "TERM=vt100": tui.NoColor, "TERM=linux": tui.Colors16,
		"TERM=xterm COLORTERM=truecolor": tui.TrueColor, "TERM=xterm COLORTERM=truecolor NO_COLOR=1": tui.NoColor,
		"TERM=tmux-256color": tui.Colors256, "TERM=xterm-direct": tui.TrueColor, "TERM=dumb": tui.NoColor,
	} {
		a, _, _ := testApp(strings.Fields(env)...)
		if got := (&console{}).colors(a); got != want {
			t.Errorf("%s: %v, want %v", env, got, want)
		}
		if got := (&console{noColor: true}).colors(a); got != tui.NoColor {
			t.Errorf("%s with --no-color: %v", env, got)
		}
	}
}
