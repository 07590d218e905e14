package sim

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"testing"

	"github.com/weir-cli/weir/report"
)

func TestStoryFigures(t *testing.T) {
	tests := []struct {
		why  string
		name string
		sets []string
		want fig
	}{
		{"a window's worth on each side of the edge; 20 and 9.99 s worth for the bucket",
			"freshbox/window-edge", nil, fig{"fixed_window_admitted": 1200, "sliding_log_admitted": 600, "sliding_counter_admitted": 609, "short_window_admitted": 20, "token_bucket_admitted": 39, "fixed_window_admitted_after_edge": 600}},
		{"the counter takes the first minute as evenly spread, and it was not",
			"freshbox/window-edge-attack", nil, fig{"sliding_counter_max_in_60s": 1189, "sliding_log_max_in_60s": 600}},
		{"all 15 have read before the first writes", "freshbox/race", nil, fig{"three_step_allowed": 15, "three_step_tokens_left": 4, "atomic_allowed": 5, "atomic_tokens_left": 0}},
		{"far apart, nobody reads before the one before has written", "freshbox/race", []string{"spacing=2ms"}, fig{"three_step_allowed": 5, "three_step_tokens_left": 0}},
		{"", "freshbox/honour-retry-after", nil, fig{"requests": 5490, "admitted": 1219}},
		{"", "freshbox/honour-retry-after", []string{"wait_jitter=250ms", "answer_jitter=1ms", "seed=9"}, fig{"requests": 5054, "admitted": 1219}},
		{"40 workers with an answer each 100 ms", "freshbox/shipped-client", nil, fig{"requests": 48000, "admitted": 1219}},
		{"", "freshbox/rule-rollout", nil, fig{"admitted_in_rollout_first_10s": 153, "admitted_in_rollout_after_10s": 1000}},
		{"a second bucket, full", "freshbox/rule-rollout-two-buckets", nil, fig{"admitted_in_rollout_first_10s": 334, "rollout_max_in_1s": 66, "rollout_busiest_second": 59}},
		{"the contract's rate second by second", "freshbox/central-bucket", nil, fig{"admitted_in_storm_second_1": 29, "admitted_in_storm_second_2": 10, "admitted_in_storm_second_120": 10}},
		{"every call of the other key comes first", "freshbox/shared-address", nil, fig{"neighbour_admitted_in_storm_second_1": 20, "neighbour_admitted_in_storm_second_120": 20}},
		{"20 a second from the first", "freshbox/rule-rollout-at-once", nil, fig{"admitted_in_rollout_second_1": 20, "admitted_in_rollout_second_60": 20, "admitted_in_rollout_first_10s": 200, "admitted_in_rollout_after_10s": 1000}},
		{"", "freshbox/rule-rollout-late-copy", nil, fig{"admitted_in_rollout_after_10s": 980, "late_copies_seen": 1}},
		{"as without the late copy", "freshbox/rule-rollout-versions-up", nil, fig{"admitted_in_rollout_after_10s": 1000, "late_copies_seen": 1}},
		{"", "freshbox/store-outage-open", nil, fig{"policy_admitted": 4840, "partners_refused": 0, "backend_busiest_second": 1095}},
		{"", "freshbox/store-outage-closed", nil, fig{"policy_admitted": 0, "partners_refused": 8400, "central_admitted": 1117}},
		{"20 gateways with a token each, and half a one a second", "freshbox/store-outage", nil, fig{"policy_admitted": 140, "partners_refused": 0, "central_admitted_first_second_after_outage": 28, "first_breaker_closed_after_s": 12.08733, "last_breaker_closed_after_s": 12.114669, "breaker_1_opened_after_s": 0.060553}},
		{"", "freshbox/store-outage", []string{"outage_for=7.3s", "failures=3", "probe_every=700ms"}, fig{"policy_admitted": 80, "central_admitted": 1161, "last_breaker_closed_after_s": 7.769345}},
		{"while the store is well the fallback changes nothing", "freshbox/fallback", nil, fig{"admitted_in_storm": 1219, "admitted": 1834, "breakers_opened": 0}},
		{"20 full buckets of 5, or of 1", "freshbox/login-outage", nil, fig{"full_limit_admitted": 100, "share_admitted": 20}},
		{"", "freshbox/exports", nil, fig{"together_exports_admitted": 1, "together_plan_tokens_left": 10.01, "together_export_2_retry_after_s": 5, "apart_plan_tokens_left": 0.01, "apart_plan_tokens_lost": 10}},
		{"over at 63.76 s, seen at 70, blocked at 100", "freshbox/edge-firewall", nil, fig{"count_passes_threshold_at_s": 63.76, "check_over_at_s": 70, "blocking_from_s": 100, "blocking_until_s": 270, "passed_before_block_storm": 16000, "passed_before_block_other_key": 800, "blocked_normal": 450}},
		{"", "freshbox/edge-firewall", []string{"delay=50s"}, fig{"blocking_from_s": 120, "blocking_until_s": 290, "passed_before_block_storm": 24000}},
		{"", "freshbox/edge-firewall", []string{"count_blocked=false"}, fig{"blocking_until_s": 190, "blocked_other_key": 1800}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { want(t, figures(t, tt.name, tt.sets...), tt.want) })
	}
}

// Every scenario reads, runs, reports only what its kind explains, and is the
// same again from its own YAML, on one core or several.
func TestLibrary(t *testing.T) {
	if len(List()) < 25 {
		t.Errorf("only %d scenarios", len(List()))
	}
	for _, info := range List() {
		t.Run(info.Name, func(t *testing.T) {
			s, err := Open(info.Name)
			if short, err := Open(info.Name, "duration=1s"); err == nil {
				s = short // a whole fleet takes seconds
			}
			if err != nil {
				t.Fatal(err)
			}
			if info.About == "" || len(s.Kind.Rules) == 0 {
				t.Error("says nothing about itself")
			}
			for _, p := range s.Parameters() {
				if p.About == "" {
					t.Errorf("parameter %s is not explained", p.Path)
				}
			}
			r, err := s.Result(context.Background(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Figures) == 0 {
				t.Error("no figures")
			}
			for name := range r.Figures {
				if f := s.Kind.Explain(name); f == nil || f.Unit == "" || f.Meaning == "" {
					t.Errorf("figure %s is not explained", name)
				}
			}
			again, err := Decode(info.Name+".yaml", []byte(s.YAML()))
			if err != nil {
				t.Fatalf("%v in\n%s", err, s.YAML())
			}
			if !reflect.DeepEqual(again.Parameters(), s.Parameters()) {
				t.Errorf("its YAML reads as\n%v, want\n%v", again.Parameters(), s.Parameters())
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			same, err := again.Result(context.Background(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			same.Name = r.Name
			if a, b := asJSON(t, r), asJSON(t, same); a != b {
				t.Error("on one core the document is another")
			}
		})
	}
}

func asJSON(t *testing.T, r *report.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A run that is cut short reports what it had.
func TestInterrupted(t *testing.T) {
	for _, name := range []string{"freshbox/central-bucket", "freshbox/shipped-client", "freshbox/store-outage", "freshbox/rule-rollout", "freshbox/edge-firewall", "freshbox/window-edge-attack", "freshbox/login-outage"} {
		sets := []string{"storm_rate=1M/s"}
		switch name {
		case "freshbox/shipped-client":
			sets = []string{"workers=100k", "length=1h"}
		case "freshbox/window-edge-attack":
			sets = []string{"calls_after=1000M"}
		case "freshbox/login-outage":
			sets = []string{"attempts=1M/s", "outage=1h"}
		}
		t.Run(name, func(t *testing.T) {
			s, err := Open(name, sets...)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			var o Outcome
			if err := s.Run(ctx, &o); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if len(o.Figures) == 0 {
				t.Error("reported nothing")
			}
		})
	}
}
