package report

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

var testNames = Names{
	Key:        func(i uint32) string { return "key \"" + string(rune('a'+i%26)) + "\"\u202e\x1b" },
	Target:     func(i uint16) string { return "http://127.0.0.1:" + string(rune('1'+i)) },
	Population: func(i uint16) string { return "crowd" },
	Text:       func(i uint32) string { return []string{"", "other", "1", "soon\x00é😀\U000e0001"}[i] },
	Source:     func(i uint8) string { return []string{"", "Retry-After"}[i] },
	Unit:       func(i uint8) string { return []string{"", "seconds"}[i] },
}

func save(evs []Event, p *Promise, end bool) []byte {
	var b bytes.Buffer
	w := NewEventWriter(&b, testNames, Meta{Source: "load", Name: "x", Seed: 9, Repeat: "weir load"}, time.Unix(5, 0), p)
	for i := range evs {
		w.Write(&evs[i])
	}
	if end {
		w.End(Meta{Duration: 30 * sec, CPUSeconds: 1.5, RSSMB: 20})
	} else {
		w.Flush()
	}
	return b.Bytes()
}

func TestSavedEventsComeBack(t *testing.T) {
	evs := []Event{
		{Due: 1, Sent: 2, First: 3, Done: 4, Has: HasFirst | NewConn, Cost: 1, Attempt: 1, Wait: -1, Status: 200, Verdict: Admitted, Bytes: 12},
		{Due: 1, Sent: 2, First: 3, Done: 5, Has: HasFirst | HasRetryAfter | HasLimit | HasRemaining | HasReset | Obeyed | Suspect,
			RetryAfter: sec, Reset: 2 * sec, Limit: 10, Remaining: 0, Text: 1, HintSource: 1, HintUnit: 1, Key: 1, Target: 1,
			Cost: 3, Attempt: 2, Wait: sec, Status: 429, Verdict: Refused, Client: 1<<32 - 1, Route: 4},
		{Due: 1, Sent: 2, Done: 6, Has: Abandoned | Early | Capped | BadRetryAfter, Cost: 1, Attempt: 3, Wait: -1, Verdict: Failed, Class: Timeout},
		{Due: 7, Done: 7, Wait: -1, Verdict: Dropped},
		{Due: 7, Sent: 8, Done: 9, Wait: -1, Verdict: InFlight, Cost: 1, Attempt: 1},
	}
	evs[1].Text = 2
	r, err := NewEventReader(bytes.NewReader(save(evs, tenPerSecond, true)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range evs {
		var e Event
		if err := r.Next(&e); err != nil {
			t.Fatal(err)
		}
		want := evs[i]
		if n := r.Names().Key(e.Key); n != testNames.Key(want.Key) {
			t.Errorf("event %d: key %q", i, n)
		}
		if n := r.Names().Text(e.Text); n != testNames.Text(want.Text) {
			t.Errorf("event %d: text %q", i, n)
		}
		e.Text = want.Text // numbered anew
		if e != want {
			t.Errorf("event %d:\ngot  %+v\nwant %+v", i, e, want)
		}
	}
	var e Event
	if err := r.Next(&e); !errors.Is(err, io.EOF) || !r.Complete() {
		t.Errorf("%v, complete %v", err, r.Complete())
	}
	if m := r.Meta(); m.Duration != 30*sec || m.Seed != 9 || m.Interrupted || m.CPUSeconds != 1.5 || *r.Promise() != *tenPerSecond {
		t.Errorf("meta %+v, promise %+v", m, r.Promise())
	}
}

func TestSavedRunGivesTheSameResult(t *testing.T) {
	w := storm(gates(20, func() gate { return bucket(10, 20) }))
	w.tell = roundUp
	w.key = func(c int) uint32 { return uint32(c % 5) }
	evs := w.run()
	live := NewCollector(Setup{Names: testNames, Promise: tenPerSecond, Start: time.Unix(5, 0)})
	sh := live.Shard()
	for i := range evs {
		sh.Record(&evs[i])
	}
	want := live.Finish(Meta{Source: "load", Name: "x", Seed: 9, Repeat: "weir load", Duration: 30 * sec, CPUSeconds: 1.5, RSSMB: 20})
	r, err := NewEventReader(bytes.NewReader(save(evs, tenPerSecond, true)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Rebuild(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	WriteJSON(&a, got)
	WriteJSON(&b, want)
	if a.String() != b.String() {
		t.Errorf("saved run differs\ngot  %s\nwant %s", a.String(), b.String())
	}
}

// Names are numbered as they come up in a saved run, so equal rows must not go
// by number.
func TestEqualRowsKeepTheirOrderWhenSaved(t *testing.T) {
	var evs []Event
	for i := range 150 {
		// More keys than are listed, the last first, all alike.
		at := int64(i) * sec / 10
		evs = append(evs, Event{Due: at, Sent: at, Done: at + 1, Key: uint32(149 - i), Target: uint16(149-i) % 12, Status: 200, Verdict: Admitted, Attempt: 1, Cost: 1, Wait: -1})
	}
	names := testNames
	names.Key = func(i uint32) string { return "k-" + strconv.Itoa(int(i)) }
	names.Target = func(i uint16) string { return "g" + strconv.Itoa(int(i)) }
	for _, promise := range []*Promise{nil, tenPerSecond} {
		live := NewCollector(Setup{Names: names, Promise: promise, Start: time.Unix(5, 0)})
		sh := live.Shard()
		for i := range evs {
			sh.Record(&evs[i])
		}
		want := live.Finish(Meta{Duration: 30 * sec})
		var saved bytes.Buffer
		w := NewEventWriter(&saved, names, Meta{}, time.Unix(5, 0), promise)
		for i := range evs {
			w.Write(&evs[i])
		}
		if err := w.End(Meta{Duration: 30 * sec}); err != nil {
			t.Fatal(err)
		}
		r, err := NewEventReader(&saved)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Rebuild(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.PerKey, want.PerKey) || !reflect.DeepEqual(got.PerTarget, want.PerTarget) {
			t.Errorf("promise %v: saved %+v %+v\nlive %+v %+v", promise, got.PerKey[:3], got.PerTarget, want.PerKey[:3], want.PerTarget)
		}
	}
}

func TestSavedRunMayBeCutAnywhere(t *testing.T) {
	evs := storm(gates(1, func() gate { return bucket(10, 20) })).run()[:20]
	whole := save(evs, nil, false)
	head := bytes.IndexByte(whole, '\n') + 1
	for n := head; n <= len(whole); n += 7 {
		r, err := NewEventReader(bytes.NewReader(whole[:n]))
		if err != nil {
			t.Fatal(err)
		}
		res, err := Rebuild(r, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		part := whole[head:n]
		lines := int64(bytes.Count(part, []byte("\n")))
		if bytes.HasSuffix(part, []byte("}")) {
			lines++ // only the newline is missing
		}
		if res.Totals.Offered != lines || !res.Interrupted || len(res.Notes) == 0 {
			t.Fatalf("cut at %d: %d events of %d, notes %v", n, res.Totals.Offered, lines, res.Notes)
		}
	}
}

func TestSavedRunErrorsNameTheLine(t *testing.T) {
	good := string(save([]Event{{Verdict: Admitted, Cost: 1}}, nil, false))
	for _, c := range []struct{ in, want string }{
		{"", "line 1: the file is empty"},
		{"GET / HTTP/1.1\n", "line 1: not a header"},
		{`{"schema":"other"}` + "\n", "line 1: schema is"},
		{good + "garbage\n" + good, "line 3"},
		{good + `{"verdict":"perhaps"}` + "\n", "unknown verdict"},
		{good + `{"verdict":"admitted","sent":9223372036854775807}` + "\n", "out of range"},
		{good + `{"key":"` + strings.Repeat("x", lineMax) + `"}` + "\n", "longer than"},
	} {
		r, err := NewEventReader(strings.NewReader(c.in))
		if err == nil {
			_, err = Rebuild(r, nil)
		}
		var se *SavedError
		if !errors.As(err, &se) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.in, err, c.want)
		}
	}
}

type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.left {
		return 0, errors.New("no space left on device")
	}
	f.left -= len(b)
	return len(b), nil
}

func TestEventWriterKeepsItsFirstError(t *testing.T) {
	w := NewEventWriter(&full{100_000}, Names{}, Meta{}, time.Time{}, nil)
	for range 2000 {
		w.Write(&Event{Verdict: Admitted})
	}
	if w.Flush() == nil {
		t.Error("Flush hides the error")
	}
	if w.End(Meta{}) == nil {
		t.Error("End hides the error")
	}
}

// A server may ask for more than a year, and a client without a cap on its waits
// agrees to it.
func TestAWaitOfYearsIsReadAgain(t *testing.T) {
	e := at(1, 2, Refused)
	e.Has, e.RetryAfter, e.Wait = e.Has|HasRetryAfter, math.MaxInt64/2, math.MaxInt64/2
	r, err := NewEventReader(bytes.NewReader(save([]Event{e}, tenPerSecond, true)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := Rebuild(r, nil)
	if err != nil || res.Totals.Refused != 1 || res.RetryAfter.Seen != 1 {
		t.Errorf("%v, %+v", err, res)
	}
}

func TestEventWriterDoesNotAllocate(t *testing.T) {
	w := NewEventWriter(io.Discard, Names{Key: func(uint32) string { return "k" }, Target: func(uint16) string { return "t" },
		Population: func(uint16) string { return "p" }}, Meta{}, time.Time{}, nil)
	e := at(1, 2, Admitted)
	if n := testing.AllocsPerRun(1000, func() { w.Write(&e) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSavedRun(f *testing.F) {
	evs := storm(gates(2, func() gate { return bucket(10, 20) })).run()[:6]
	f.Add(save(evs, tenPerSecond, true))
	f.Add(save(evs, window600, false))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := NewEventReader(bytes.NewReader(in))
		if err != nil {
			return
		}
		res, err := Rebuild(r, nil)
		if err != nil {
			return
		}
		n := res.Totals
		if n.Planned != n.Offered+n.Dropped || n.Offered != n.Admitted+n.Refused+n.Failed+n.InFlight {
			t.Errorf("sums do not balance: %+v", n)
		}
		if res.DurationS > 100 {
			return // a day of seconds is slow to print and no different
		}
		if err := WriteJSON(io.Discard, res); err != nil {
			t.Error(err)
		}
		if err := WriteText(io.Discard, res, TextOptions{Plot: true}); err != nil {
			t.Error(err)
		}
	})
}

func TestTextsAreBounded(t *testing.T) {
	var x Texts
	if x.Intern(nil) != 0 || x.Text(0) != "" || x.Text(1) != "other" || x.Text(99) != "" {
		t.Error("the empty table")
	}
	a := x.Intern([]byte("1"))
	if a < 2 || x.Intern([]byte("1")) != a || x.Text(a) != "1" {
		t.Errorf("id %d, text %q", a, x.Text(a))
	}
	for i := range 3000 {
		x.Intern([]byte(strings.Repeat("x", i%100) + string(rune('a'+i%26)) + time.Duration(i).String()))
	}
	if id := x.Intern([]byte("one more")); id != 1 {
		t.Errorf("beyond the table: %d", id)
	}
	if id := x.Intern([]byte("1")); id != a {
		t.Errorf("a known text moved from %d to %d", a, id)
	}
	if n := testing.AllocsPerRun(100, func() { x.Intern([]byte("1")) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if l := x.get().list; len(l) != textsMax || len(l[50]) > textMax {
		t.Errorf("%d texts, one of %d bytes", len(l), len(l[50]))
	}
}

func TestCopiedPromiseIsWhole(t *testing.T) {
	a, b := reflect.TypeFor[Promise](), reflect.TypeFor[promiseJSON]()
	if a.NumField() != b.NumField() {
		t.Errorf("%d fields saved of %d", b.NumField(), a.NumField())
	}
}
