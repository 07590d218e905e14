package limit_test

import (
	"testing"

	"github.com/weir-cli/weir/limit"
)

// A key is fresh exactly from its ResetAfter on, and not at an instant before
// one that it has seen, even if only a refusal was seen there.
func TestFresh(t *testing.T) {
	for _, text := range []string{
		"10/s,burst=20", "gcra:rate=10/s,burst=20", "leaky-meter:rate=10/s,burst=20", "leaky-queue:rate=10/s,queue=20",
		"fixed-window:limit=20,window=1s", "sliding-log:limit=20,window=1s", "sliding-counter:limit=20,window=1s",
	} {
		spec, err := limit.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		l := build(t, spec)
		var s limit.State
		if !l.Fresh(&s, 0) || !l.Fresh(&s, -1) {
			t.Errorf("%s: a key never seen is not fresh", text)
		}
		d := l.Take(&s, 10*second, 7)
		at := 10*second + int64(d.ResetAfter)
		if l.Fresh(&s, at-1) || !l.Fresh(&s, at) {
			t.Errorf("%s: not fresh exactly from %v on", text, d.ResetAfter)
		}
		if d := l.Take(&s, 100*second, 1000); d.OK {
			t.Errorf("%s: %+v", text, d)
		}
		if l.Fresh(&s, 50*second) {
			t.Errorf("%s: fresh at 50 s, but has seen 100 s", text)
		}
		if !l.Fresh(&s, 101*second) {
			t.Errorf("%s: not fresh long after", text)
		}
	}
	spec, _ := limit.ParseSpec("concurrency:limit=2")
	l := build(t, spec).(limit.Releaser)
	var s limit.State
	l.Take(&s, 0, 1)
	if l.Fresh(&s, 1000*second) {
		t.Error("a held slot is forgotten")
	}
	l.Release(&s, 0, 1)
	if !l.Fresh(&s, 0) {
		t.Error("nothing held is not fresh")
	}
}
