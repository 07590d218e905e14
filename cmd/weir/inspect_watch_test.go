package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redistest"
)

// tapped is a stdout that calls fn with all that it has after each write.
type tapped struct {
	mu  sync.Mutex
	buf bytes.Buffer
	fn  func(text string)
}

func (w *tapped) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(p)
	if w.fn != nil {
		w.fn(w.buf.String())
	}
	return len(p), nil
}

// watchCmd runs a watch, and interrupts it when stop says so.
func watchCmd(t *testing.T, url string, tty bool, stop func(text string) bool, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	a, _, errs := testApp("WEIR_REDIS_URL=" + url)
	a.now = time.Now
	a.stdoutTTY = tty
	out := &tapped{fn: func(text string) {
		if stop != nil && stop(text) {
			cancel()
		}
	}}
	a.stdout = out
	code = a.execute(ctx, newRoot(a, verbs(a)...), append([]string{"inspect", "watch"}, args...))
	return code, out.buf.String(), errs.String()
}

func TestInspectWatch(t *testing.T) {
	r := redistest.Server(t)
	c, ctx := r.Client(t), context.Background()
	ten := []string{"--limit", "fixed-window:limit=10,window=1h", "--every", "100ms"}
	set := func(n int, life time.Duration) {
		if err := c.Set(ctx, "rlflx:k-9", n, life).Err(); err != nil {
			t.Error(err)
		}
	}
	set(3, time.Hour)
	// The second look finds four calls more, the third that it was deleted.
	stages := 0
	stop := func(text string) bool {
		switch looks := strings.Count(text, "left") + strings.Count(text, `"look"`); {
		case looks == 1 && stages == 0:
			stages++
			set(7, redis.KeepTTL)
		case looks >= 2 && stages == 1:
			stages++
			c.Del(ctx, "rlflx:k-9")
		}
		return strings.Contains(text, "deleted before its time")
	}
	code, out, errs := watchCmd(t, r.URL, false, stop, append([]string{"k-9"}, ten...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	for _, want := range []string{"  7 of 10 left  next now  full in 1h", "  3 of 10 left  4 admitted  next now", "  no key, so all of 10 left  next now  [the key was deleted before its time]\n", " looks in ", "at least 4 admitted, 1 event.\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q:\n%s", want, out)
		}
	}

	set(3, time.Hour)
	stages = 0
	code, out, errs = watchCmd(t, r.URL, false, stop, append([]string{"--id", "k-9", "--json", "--for", "20s"}, ten...)...)
	if code != exitInterrupted {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	d := json.NewDecoder(strings.NewReader(out))
	var admitted int64
	kinds := map[string]int{}
	for {
		var l struct {
			lookJSON
			EventCount int `json:"event_count"`
		}
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if kinds[l.Kind]++; l.Kind == "look" && l.Admitted != nil {
			admitted += *l.Admitted
		}
		if l.Schema != watchSchema || l.Kind == "summary" && (l.EventCount != 1 || *l.Admitted != 4) {
			t.Errorf("%+v", l)
		}
	}
	if kinds["look"] < 3 || kinds["summary"] != 1 || admitted != 4 {
		t.Errorf("%v, %d admitted:\n%s", kinds, admitted, out)
	}

	// In place, on a terminal, with a name that would do things to it.
	if err := c.Set(ctx, "rlflx:\x1b[2Jk", "3", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	code, out, errs = watchCmd(t, r.URL, true, func(text string) bool { return strings.Count(text, "7 of 10 left") >= 3 }, append([]string{"rlflx:\x1b[2Jk"}, ten...)...)
	if code != exitOK || !strings.HasPrefix(out, hideCursor+"\r"+clearBelow) || !strings.Contains(out, "\x1b[") || !strings.HasSuffix(out, ".\r\n"+showCursor) ||
		strings.Contains(out, "\x1b[2J") || !strings.Contains(out, "[████████████████░░░░░░░░]  7 of 10 left\r\n") || !strings.Contains(out, "\r\x1b[3A"+clearBelow) {
		t.Errorf("exit %d: %q %s", code, out, errs)
	}
	for line := range strings.SplitSeq(out, "\n") {
		if columns(strings.TrimSpace(line)) > 80+len("[?25l[J[9A") {
			t.Errorf("too wide: %q", line)
		}
	}
}

func TestInspectWatchEnds(t *testing.T) {
	r := redistest.Server(t)
	seedLimits(t, r)
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"limiter:none --every 100ms --for 150ms", exitOK, "nothing is there\n"},
		{"--id k-nobody", exitCheck, "nothing of k-nobody is there"},
		{"odd\x1b[2J", exitCheck, "no layout fits"},
		{"k-7 --every 50ms", exitUsage, "--every 50ms is below 100ms"},
		{"k-7 --for -1s", exitUsage, "--for -1s is negative"},
		{"k-7 --id k-8", exitUsage, "only one KEY or ID"},
		{"", exitUsage, "missing KEY"},
	} {
		code, out, errs := watchCmd(t, r.URL, false, nil, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) || strings.Contains(out+errs, "\x1b") {
			t.Errorf("%q: exit %d, want %d and %q: %s%s", tt.args, code, tt.code, tt.want, out, errs)
		}
	}
	// A Redis that is gone for a moment.
	gone := false
	code, out, errs := watchCmd(t, r.URL, false, func(text string) bool {
		if n := strings.Count(text, "used"); n == 1 && !gone {
			gone = true
			r.Kill()
			go func() { time.Sleep(300 * time.Millisecond); r.Restart() }()
		}
		return false
	}, "limiter:10.0.0.1", "--every", "100ms", "--for", "1500ms")
	if code != exitOK || !strings.Contains(errs, "; trying on\n") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
