package replay

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A trace that comes slowly is opened once its first line is there, and a line
// is a call as soon as it has ended.
func TestOpenWaitsForTheFirstLineOnly(t *testing.T) {
	for _, tt := range []struct{ format, head, line string }{
		{"csv", "t,key\n", "%d,k-%d\n"},
		{"csv", "", "%d,k-%d\n"},
		{"csv", "# a comment\n\nt,key\n", "%d,k-%d\n"},
		{"ndjson", "", "{\"t\":%d,\"key\":\"k-%d\"}\n"},
		{"combined", "", "k-%[2]d - - [10/Oct/2023:13:55:0%[1]d +0000] \"GET / HTTP/1.1\" 200 5\n"},
		{"monitor", "OK\n", "17000000%02d.5 [0 1.2.3.4:5] \"EVALSHA\" \"aa\" \"1\" \"k-%d\"\n"},
	} {
		for cut := range 4 { // in one piece or two, as it is or packed
			pack := cut >= 2
			r, w := io.Pipe()
			defer r.Close()
			written := make(chan struct{}) // closed once a line has been sent
			step := make(chan struct{})
			go func() {
				defer w.Close()
				var out io.Writer = w
				flush := func() error { return nil }
				if pack {
					z := gzip.NewWriter(w)
					out, flush = z, z.Flush
				}
				for i := range 3 {
					text := fmt.Sprintf(tt.line, i, i)
					if i == 0 {
						text = tt.head + text
					}
					for _, piece := range []string{text[:len(text)*(cut%2)/2], text[len(text)*(cut%2)/2:]} {
						_, _ = io.WriteString(out, piece)
						_ = flush()
					}
					<-step
				}
				close(written)
			}()
			src, err := Open(r, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if f := src.Seen().Format; f != tt.format {
				t.Errorf("%q is taken for %s", tt.head+tt.line, f)
			}
			for i := range 3 {
				var c Call
				if err := src.Next(&c); err != nil || string(c.Key) != fmt.Sprint("k-", i) {
					t.Errorf("%s: call %d is %q: %v", tt.format, i, c.Key, err)
				}
				step <- struct{}{} // only now the next one comes
			}
			<-written
		}
	}
}

// What is no line yet, or never becomes one, is waited for up to a bound.
func TestBeginningIsBounded(t *testing.T) {
	src, err := Open(strings.NewReader("1,"+strings.Repeat("x", 3*beginningLen)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var c Call
	if err := src.Next(&c); err != nil || len(c.Key) != 3*beginningLen || src.Seen().Format != "csv" {
		t.Errorf("%d bytes: %v, %+v", len(c.Key), err, src.Seen())
	}
}

// Keys of a column with credentials are hidden where comments stand before the
// line of names too.
func TestCredentialsBelowAComment(t *testing.T) {
	for text, want := range map[string]bool{
		"t,api_key\n1,s3cret\n":              true,
		"# made by hand\nt,api_key\n1,s3c\n": true,
		"# no api_key here\nt,key\n1,a\n":    false,
	} {
		if got := open(t, text, Options{HideCredential: true}).Hidden(); got != want {
			t.Errorf("%q: hidden %t", text, got)
		}
	}
}
