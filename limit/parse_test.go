package limit_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-cli/weir/limit"
)

func TestParseSpec(t *testing.T) {
	sec := time.Second
	for _, c := range []struct {
		text string
		want limit.Spec
		back string // String, when it differs from text
	}{
		{"10/s,burst=20", limit.Spec{Rate: limit.Rate{Units: 10, Per: sec}, Burst: 20}, ""},
		{" 10/s , burst = 20 ", limit.Spec{Rate: limit.Rate{Units: 10, Per: sec}, Burst: 20}, "10/s,burst=20"},
		{"burst=20,rate=10/s", limit.Spec{Rate: limit.Rate{Units: 10, Per: sec}, Burst: 20}, "10/s,burst=20"},
		{"10/s", limit.Spec{Rate: limit.Rate{Units: 10, Per: sec}, Burst: 10}, "10/s,burst=10"},
		{"90/m", limit.Spec{Rate: limit.Rate{Units: 90, Per: time.Minute}, Burst: 1}, "90/m,burst=1"},
		{"100000/d", limit.Spec{Rate: limit.Rate{Units: 100000, Per: 24 * time.Hour}, Burst: 1}, "100000/d,burst=1"},
		{"0.5/s,burst=2", limit.Spec{Rate: limit.Rate{Units: 1, Per: 2 * sec}, Burst: 2}, "1/2s,burst=2"},
		{"2.50/s,burst=2", limit.Spec{Rate: limit.Rate{Units: 5, Per: 2 * sec}, Burst: 2}, "5/2s,burst=2"},
		{"1.5k/m,burst=1M", limit.Spec{Rate: limit.Rate{Units: 1500, Per: time.Minute}, Burst: 1_000_000}, "1500/m,burst=1000000"},
		{"0.0015k/s", limit.Spec{Rate: limit.Rate{Units: 3, Per: 2 * sec}, Burst: 1}, "3/2s,burst=1"},
		{"5/100ms", limit.Spec{Rate: limit.Rate{Units: 5, Per: 100 * time.Millisecond}, Burst: 50}, "5/100ms,burst=50"},
		{"10/60s,burst=1", limit.Spec{Rate: limit.Rate{Units: 10, Per: time.Minute}, Burst: 1}, "10/m,burst=1"},
		{"token-bucket:rate=10/s,burst=20", limit.Spec{Rate: limit.Rate{Units: 10, Per: sec}, Burst: 20}, "10/s,burst=20"},
		{"gcra:rate=5/h,burst=3", limit.Spec{Algorithm: limit.GCRA, Rate: limit.Rate{Units: 5, Per: time.Hour}, Burst: 3}, ""},
		{"fixed-window:limit=600,window=60s", limit.Spec{Algorithm: limit.FixedWindow, Limit: 600, Window: time.Minute}, "fixed-window:limit=600,window=1m"},
		{"sliding-log:limit=600,window=1m30s", limit.Spec{Algorithm: limit.SlidingLog, Limit: 600, Window: 90 * sec}, ""},
		{"sliding-counter:limit=1k,window=1h", limit.Spec{Algorithm: limit.SlidingCounter, Limit: 1000, Window: time.Hour}, "sliding-counter:limit=1000,window=1h"},
		{"leaky-queue:rate=10/s,queue=0", limit.Spec{Algorithm: limit.LeakyQueue, Rate: limit.Rate{Units: 10, Per: sec}}, ""},
		{"leaky-meter:rate=10/s,capacity=20", limit.Spec{Algorithm: limit.LeakyMeter, Rate: limit.Rate{Units: 10, Per: sec}, Burst: 20}, "leaky-meter:rate=10/s,burst=20"},
		{"concurrency:limit=40", limit.Spec{Algorithm: limit.Concurrency, Limit: 40}, ""},
	} {
		got, err := limit.ParseSpec(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
		if c.back == "" {
			c.back = c.text
		}
		if got.String() != c.back {
			t.Errorf("%q prints as %q, want %q", c.text, got, c.back)
		}
	}
}

func TestParseSpecRefuses(t *testing.T) {
	for text, field := range map[string]string{
		"":                                       "",
		",":                                      "",
		"gcra":                                   "",
		"banana":                                 "rate",
		"banana:rate=1/s":                        "algorithm",
		"10":                                     "rate",
		"10/fortnight":                           "rate",
		"10/0s":                                  "rate",
		"10/-1s":                                 "rate",
		"0/s":                                    "rate",
		"-1/s":                                   "rate",
		"NaN/s":                                  "rate",
		"Inf/s":                                  "rate",
		"+Inf/s":                                 "rate",
		"1e3/s":                                  "rate",
		"./s":                                    "rate",
		"1./s":                                   "rate",
		".5/s":                                   "rate",
		"10m/s":                                  "rate",
		"99999999999999999999/s":                 "rate",
		"0.00000000001/d":                        "rate",
		"9223372036854775807/1ns":                "burst",
		"10/s,burst=0":                           "burst",
		"10/s,burst=-3":                          "burst",
		"10/s,burst=1.5":                         "burst",
		"10/s,burst=":                            "burst",
		"10/s,burst=NaN":                         "burst",
		"10/s,burst=20,burst=20":                 "burst",
		"10/s,20":                                "",
		"10/s,size=20":                           "size",
		"7/d,burst=1000k":                        "burst",
		"10/s,burst=9223372036854775807":         "burst",
		"leaky-queue:rate=10/s":                  "queue",
		"leaky-queue:rate=10/s,queue=-1":         "queue",
		"leaky-queue:rate=1/s,queue=4611686018M": "queue",
		"fixed-window:limit=600":                 "window",
		"fixed-window:limit=0,window=60s":        "limit",
		"fixed-window:limit=600,window=0s":       "window",
		"fixed-window:limit=600,window=-60s":     "window",
		"fixed-window:limit=600,window=1d":       "window",
		"fixed-window:limit=600,window=400000h":  "window",
		"fixed-window:600/m":                     "",
		"sliding-log:limit=100M,window=1s":       "limit",
		"sliding-counter:rate=10/s":              "rate",
		"concurrency:limit=9223372036854775807":  "limit",
		"concurrency:limit=0":                    "limit",
		"gcra:rate=10/s,burst=20,capacity=20":    "capacity",
		"leaky-meter:rate=1/s,burst=2,capacity=2": "burst",
	} {
		s, err := limit.ParseSpec(text)
		var bad *limit.SpecError
		if !errors.As(err, &bad) {
			t.Errorf("%q: got %v, %v", text, s, err)
			continue
		}
		if bad.Field != field {
			t.Errorf("%q: blames field %q, want %q (%v)", text, bad.Field, field, err)
		}
		if _, err := limit.ParseSpec(bad.Hint); err != nil {
			t.Errorf("%q: its hint %q is refused too: %v", text, bad.Hint, err)
		}
	}
}

func TestParseRateHints(t *testing.T) {
	for _, text := range []string{"", "10", "x", "10/x", "0/m", "10/0s", "-1/s", "1K/s", "0.00000000001/d"} {
		_, err := limit.ParseRate(text)
		var bad *limit.SpecError
		if !errors.As(err, &bad) {
			t.Errorf("%q: %v", text, err)
		} else if _, err := limit.ParseRate(bad.Hint); err != nil {
			t.Errorf("%q: hint %q: %v", text, bad.Hint, err)
		}
	}
}

func TestValidate(t *testing.T) {
	good := limit.Spec{Rate: limit.Rate{Units: 10, Per: time.Second}, Burst: 20}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*limit.Spec){
		"algorithm": func(s *limit.Spec) { s.Algorithm = 99 },
		"rate":      func(s *limit.Spec) { s.Rate.Per = 0 },
		"burst":     func(s *limit.Spec) { s.Burst = math.MinInt64 },
		"queue":     func(s *limit.Spec) { s.Queue = 1 },
		"limit":     func(s *limit.Spec) { s.Limit = 1 },
		"window":    func(s *limit.Spec) { s.Window = 1 },
		"follow":    func(s *limit.Spec) { s.Algorithm, s.Follow = limit.GCRA, true },
	} {
		s := good
		change(&s)
		var bad *limit.SpecError
		if err := s.Validate(); !errors.As(err, &bad) || bad.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"10/s,burst=20", "0.5/s", "1.5k/m,burst=1M", "leaky-queue:rate=1/3ms,queue=0", "fixed-window:limit=600,window=1h0.5s", "sliding-log:limit=1,window=1ns", "concurrency:limit=2M", "gcra:rate=9223372036854775807/9223372036854775807ns,burst=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := limit.ParseSpec(text)
		if err != nil {
			var bad *limit.SpecError
			if !errors.As(err, &bad) || bad.Reason == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			if _, err := limit.ParseSpec(bad.Hint); err != nil {
				t.Fatalf("%q: hint %q: %v", text, bad.Hint, err)
			}
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("%q parses to what is not valid: %v", text, err)
		}
		again, err := limit.ParseSpec(s.String())
		if err != nil || again != s {
			t.Fatalf("%q -> %+v -> %q -> %+v, %v", text, s, s, again, err)
		}
	})
}
