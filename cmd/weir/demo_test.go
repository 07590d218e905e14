package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-cli/weir/report"
)

// Every act of the story, cut short, tells what it is there to tell.
func TestDemoActs(t *testing.T) {
	a, _, _ := testApp()
	a.now = time.Now
	var peaks []int64
	for _, act := range demoActs() {
		act.profile.Duration = 2 * time.Second
		if act.gateways > 1 {
			act.profile.Duration = 4 * time.Second // twenty bursts last for two
		}
		r, err := act.play(context.Background(), a, &console{quiet: true}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		act.tell(&out, r, 80)
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(line); n > 80 { // with its newline
				t.Errorf("%d columns: %s", n, line)
			}
		}
		t.Logf("%s\n%s", act.title, &out)
		peaks = append(peaks, r.Herd.Peak10ms)
		switch act.title[0] {
		case '1':
			if r.Verdict != report.Broken || !bytes.Contains(out.Bytes(), []byte("20 separate buckets")) {
				t.Errorf("separate buckets: %s", &out)
			}
		default:
			if r.Verdict != report.Held {
				t.Errorf("%s: %s\n%s", act.title, r.Verdict, &out)
			}
		}
	}
	if len(peaks) != 4 || peaks[2] < 3*peaks[3] {
		t.Errorf("peaks %v: jitter should have taken the herd apart", peaks)
	}
}
