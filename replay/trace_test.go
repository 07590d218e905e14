package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/report"
)

// readAll reads a trace as text, one call a line.
func readAll(t testing.TB, text string, o Options) ([]string, Seen, error) {
	t.Helper()
	src, err := Open(strings.NewReader(text), o)
	if err != nil {
		return nil, Seen{}, err
	}
	var out []string
	for {
		var c Call
		err := src.Next(&c)
		if err == io.EOF {
			return out, src.Seen(), nil
		}
		if err != nil {
			return out, src.Seen(), err
		}
		s := fmt.Sprintf("%d %s %d", c.At, c.Key, c.Cost)
		if c.Recorded != report.InFlight {
			s += " " + c.Recorded.String()
		}
		for _, v := range c.Values {
			s += fmt.Sprintf(" %q", v)
		}
		if len(c.Args) > 0 {
			s += fmt.Sprintf(" args %q", c.Args)
		}
		out = append(out, s)
	}
}

const second2000 = 971186136_000_000_000 // 10/Oct/2000:13:55:36 UTC

func TestForms(t *testing.T) {
	const clf = `- - [10/Oct/2000:13:55:36 +0000] "GET /v1/o?k=a1&z=2 HTTP/1.1"`
	for _, tt := range []struct {
		name, text, form string
		o                Options
		want             []string
	}{
		{"csv without names", "0,k-1\n0.5,k-1,3\n1.25,k-2,1,x,y\n", "csv", Options{},
			[]string{"0 k-1 1", "500000000 k-1 3", `1250000000 k-2 1 args ["x" "y"]`}},
		{"csv with names, quotes and comments", "# a storm\nkey,t,Verdict,plan\n\"a,b\",1700000000.5,refused,\"g\"\"1\"\n", "csv", Options{Fields: []string{"plan"}},
			[]string{`1700000000500000000 a,b 1 refused "g\"1"`}},
		{"load's traces", "seconds,key,cost\n0.25,k,2\n", "csv", Options{}, []string{"250000000 k 2"}},
		{"times by size", "1700000000,a\n1700000000001,a\n1700000000001002,a\n1700000000001002003,a\n2023-11-14T22:13:21.5+00:00,a\n", "csv", Options{},
			[]string{"1700000000000000000 a 1", "1700000000001000000 a 1", "1700000000001002000 a 1", "1700000000001002003 a 1", "1700000001500000000 a 1"}},
		{"ndjson", `{"t":1.5,"key":"k\u002d1","cost":2,"verdict":"admitted","x":{"y":[1,"}"]}}` + "\n", "ndjson", Options{},
			[]string{"1500000000 k-1 2 admitted"}},
		{"a json log", `{"time_iso8601":"2023-11-14T23:13:20+01:00","user":{"id":7},"status":429}` + "\n", "ndjson", Options{KeyField: "user.id", Fields: []string{"status", "none"}},
			[]string{`1700000000000000000 7 1 refused "429" ""`}},
		{"the better name wins", `{"status":200,"verdict":"refused","t":1,"ip":"x","key":"k"}` + "\n", "ndjson", Options{}, []string{"1000000000 k 1 refused"}},
		{"combined", "10.1.2.3 " + clf + ` 429 512 "-" "curl \"x\""` + "\n", "combined", Options{},
			[]string{fmt.Sprint(second2000, " 10.1.2.3 1 refused")}},
		{"combined by a parameter", "10.1.2.3 " + clf + ` 503 - "-" "a" "extra" 0.002` + "\n", "combined", Options{KeyField: "query.k", Refused: []int64{503}, Fields: []string{"path", "method", "user_agent", "args[2]"}},
			[]string{fmt.Sprint(second2000, ` a1 1 refused "/v1/o" "GET" "a" "0.002"`)}},
		{"monitor", "OK\n1700000000.000001 [0 127.0.0.1:5] \"EVALSHA\" \"ab\" \"1\" \"k\\x20\\\"1\" \"5\"\n1700000000.000002 [0 lua] \"GET\" \"k\"\n1700000000.1 [0 127.0.0.1:5] \"get\" \"k\"\n1700000000.2 [0 127.0.0.1:5] \"eval\" \"return 1\" \"1\" \"q\"\n", "monitor", Options{},
			[]string{`1700000000000001000 k "1 1 args ["5"]`, "1700000000200000000 q 1"}},
		{"monitor, one script", "1700000000.1 [0 u] \"EVALSHA\" \"AB\" \"1\" \"a\"\n1700000000.2 [0 u] \"EVALSHA\" \"cd\" \"1\" \"b\"\n", "monitor", Options{SHA: "ab"},
			[]string{"1700000000100000000 a 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, seen, err := readAll(t, tt.text, tt.o)
			if err != nil || seen.Format != tt.form || seen.Broken > 0 {
				t.Fatalf("read as %s with %d broken (%v), %v", seen.Format, seen.Broken, seen.First, err)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte("0,k\n1,k\n"))
	_ = z.Close()
	if got, _, err := readAll(t, b.String(), Options{}); err != nil || len(got) != 2 {
		t.Errorf("%q, %v", got, err)
	}
	// One that is cut off says so.
	if _, _, err := readAll(t, b.String()[:b.Len()-6], Options{}); err == nil {
		t.Error("a cut file was read to its end")
	}
}

func TestBrokenLinesAreCounted(t *testing.T) {
	text := "0,k\nx,k\n1,\n2,k,0\n3,k,1\n1700000000,k\n" + strings.Repeat("y", maxLine+9) + "\n4,\"k\n5,k"
	got, seen, err := readAll(t, text, Options{})
	if err != nil || seen.Broken != 6 || seen.Calls != 3 || seen.Lines != 9 {
		t.Fatalf("%q: broken %d, calls %d of %d lines, %v", got, seen.Broken, seen.Calls, seen.Lines, err)
	}
	why := []error{errTime, errNoKey, errCost, errTimeKind, errLongLine}
	for i, w := range why {
		if f := seen.First[i]; !errors.Is(f.Err, w) {
			t.Errorf("line %d: %v, want %v", f.Line, f.Err, w)
		}
	}
	if len(seen.First) != firstBroken {
		t.Errorf("%d broken lines are shown", len(seen.First))
	}
	_, _, err = readAll(t, text, Options{Strict: true})
	var le *LineError
	if !errors.As(err, &le) || le.Line != 2 || le.Text != "x,k" {
		t.Errorf("strict ended with %v", err)
	}
}

func TestTimeGoesBack(t *testing.T) {
	got, seen, err := readAll(t, "5,k\n3,k\n6,k\n5.5,k\n", Options{})
	want := []string{"5000000000 k 1", "5000000000 k 1", "6000000000 k 1", "6000000000 k 1"}
	if err != nil || !slices.Equal(got, want) || seen.Backwards != 2 || seen.MostBack != 2e9 {
		t.Errorf("%q, %d back by %d, %v", got, seen.Backwards, seen.MostBack, err)
	}
}

func TestInstantsAgreeWithTime(t *testing.T) {
	for at := time.Date(1973, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2199; at = at.Add(997*time.Hour + 13*time.Minute + 7*time.Second) {
		for _, layout := range []string{time.RFC3339Nano, "02/Jan/2006:15:04:05 -0700", "2006-01-02 15:04:05"} {
			text := at.Format(layout)
			if got, _, err := parseInstant([]byte(text)); err != nil || got != at.UnixNano() {
				t.Fatalf("%s is %d, %v; want %d", text, got, err, at.UnixNano())
			}
		}
	}
	for _, bad := range []string{"", "x", "-1", "1e", "12345678901234567890", "2023-13-01T00:00:00Z", "2023-01-01T24:00:00Z", "2023-01-01T00:00:00+1", "40/Oct/2000:13:55:36 +0000", "99999999999"} {
		if got, _, err := parseInstant([]byte(bad)); err == nil {
			t.Errorf("%q is %d", bad, got)
		}
	}
}

// What a trace says, whatever is in it, every line is counted once.
func FuzzTrace(f *testing.F) {
	f.Add("0,k,1\n1,k\n")
	f.Add(`{"t":1,"key":"a","x":{"y":"z\u00e9"}}`)
	f.Add(`1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET / HTTP/1.1" 200 1 "-" "x"`)
	f.Add("1700000000.1 [0 u] \"EVALSHA\" \"AB\" \"1\" \"a\\x41\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range []string{"csv", "ndjson", "combined", "monitor"} {
			got, seen, err := readAll(t, text, Options{Format: form, Fields: []string{"path"}})
			if form != "combined" && err != nil || int64(len(got)) != seen.Calls {
				var field *FieldError
				if !errors.As(err, &field) {
					t.Fatalf("%s: %d calls, %v", form, len(got), err)
				}
			}
			if seen.Lines != seen.Calls+seen.Passed+seen.Broken {
				t.Fatalf("%s: %d lines are not %d calls, %d passed and %d broken", form, seen.Lines, seen.Calls, seen.Passed, seen.Broken)
			}
		}
	})
}

// What was converted reads the same.
func TestConvert(t *testing.T) {
	const text = `{"t":1700000000.25,"key":"a,\"b\"","cost":3,"verdict":"refused","p":" x\ny"}` + "\n" + `{"t":1700000001,"key":"#k"}` + "\n"
	first, _, err := readAll(t, text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"csv", "ndjson"} {
		src, err := Open(strings.NewReader(text), Options{Fields: []string{"p"}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Convert(t.Context(), &out, src, form, []string{"p"}); err != nil {
			t.Fatal(err)
		}
		again, seen, err := readAll(t, out.String(), Options{})
		if err != nil || !slices.Equal(first, again) || seen.Format != form {
			t.Errorf("%s (%s): %q became %q, %v\n%s", form, seen.Format, first, again, err, out.String())
		}
	}
}
