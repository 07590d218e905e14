package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/report"
)

// served runs `weir serve` with args, sends n requests for one key to each
// gateway in turn, ends it with an interrupt and returns what it said.
func served(t *testing.T, n int, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ports := filepath.Join(t.TempDir(), "ports")
	a, out, errs := testApp()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	args = append([]string{"serve", "--listen=127.0.0.1:0", "--ports-file=" + ports}, args...)
	go func() { done <- a.execute(ctx, newRoot(a, newServeCmd(a)), args) }()

	var urls []string
	for deadline := time.Now().Add(30 * time.Second); urls == nil; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(ports)
		if err == nil {
			urls = strings.Fields(string(text))
		}
		select {
		case code := <-done:
			return code, out.String(), errs.String()
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("no addresses after 30s")
		}
	}
	for i := range n {
		req, _ := http.NewRequest("GET", urls[i%len(urls)], nil)
		req.Header.Set("X-API-Key", "k")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	select {
	case code = <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("an interrupt did not end it")
	}
	if !strings.HasPrefix(errs.String(), strings.Join(urls, "\n")+"\n") || !strings.Contains(errs.String(), ", kept in ") {
		t.Errorf("stderr %q, want the addresses %q, and where the limit is kept", errs, urls)
	}
	return code, out.String(), errs.String()
}

func TestServeReportsWhatItDecided(t *testing.T) {
	code, stdout, _ := served(t, 8, "--gateways=2", "--design=local", "--limit=1/h,burst=3", "--json")
	var r report.Result
	if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&r); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if code != exitOK || r.Schema != report.Schema || r.Source != "serve" || r.Interrupted {
		t.Errorf("exit %d, %s", code, stdout)
	}
	if r.Totals.Offered != 8 || r.Totals.Admitted != 6 || r.Totals.Refused != 2 || r.Verdict != report.Broken {
		t.Errorf("%s %+v", r.Verdict, r.Totals)
	}
	if want := "weir serve --design=local --gateways=2 --limit=1/h,burst=3 "; !strings.HasPrefix(r.Repeat, want) ||
		!strings.Contains(r.Repeat, " --seed=") || strings.Contains(r.Repeat, "json") {
		t.Errorf("repeat %q, want %q…", r.Repeat, want)
	}
}

func TestServeInterruptedEarly(t *testing.T) {
	code, stdout, _ := served(t, 1, "--for=1h")
	if code != exitInterrupted || !strings.Contains(stdout, "1 request offered, 1 admitted, 0 refused") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

func TestServeText(t *testing.T) {
	r := &report.Result{Name: "2 gateways, local, 10/s,burst=20", DurationS: 120, Verdict: report.Broken,
		Totals: report.Totals{Offered: 48000, Admitted: 2440, Refused: 45560},
		Bound: &report.Bound{Promise: "10/s,burst=20", Key: "k-7", WorstAdmitted: 2440, WorstAllows: 1220,
			WorstInterval: report.Interval{ToS: 120}},
		PerKey: []report.KeyRow{
			{Key: "k-7", Offered: 47999, Admitted: 2439, Refused: 45560, WorstExcess: 1219},
			{Key: "\x1b[2Jevil", Offered: 1, Admitted: 1, WorstExcess: -19},
		},
		Findings: []report.Finding{{ID: "bound-broken", Severity: report.High, Text: "Too many."}},
		Notes:    []string{"a note"},
	}
	half := gateway.Counts{Offered: 24000, Admitted: 1220, Refused: 22780}
	c := gateway.Snapshot{PerGateway: []gateway.GatewayCounts{{Gateway: 1, Counts: half}, {Gateway: 2, Counts: half}}}
	var b bytes.Buffer
	if err := writeServed(&b, r, c, 80); err != nil {
		t.Fatal(err)
	}
	const want = `2 gateways, local, 10/s,burst=20: 48,000 requests offered, 2,440 admitted,
45,560 refused in 120.0 s
The promise was broken: key k-7 got 2,440 between 0.000 s and 120.000 s, where
10/s,burst=20 allows 1220.0.

  gateway  offered  admitted  refused
        1   24,000     1,220   22,780
        2   24,000     1,220   22,780

key          offered  admitted  refused  worst excess
k-7          47,999   2,439     45,560   1219.0
\x1b[2Jevil  1        1         0        -19.0

high bound-broken
  Too many.

note: a note
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
