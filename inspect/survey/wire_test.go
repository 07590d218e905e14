package survey

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/inspect"
)

// answering is a connection whose server says text, whatever it is asked.
type answering struct {
	net.Conn
	r *strings.Reader
}

func (a *answering) Read(p []byte) (int, error)  { return a.r.Read(p) }
func (a *answering) Write(p []byte) (int, error) { return len(p), nil }
func (a *answering) SetDeadline(time.Time) error { return nil }
func (a *answering) Close() error                { return nil }

func wireOf(text string) *wire {
	w := &wire{c: &answering{r: strings.NewReader(text)}, patience: time.Second}
	w.r = bufio.NewReaderSize(countingReader{w}, maxLine)
	return w
}

// Whatever a server says, reading ends and what is kept is bounded.
func FuzzHostileServer(f *testing.F) {
	f.Add("*2\r\n$10\r\n1790000000\r\n$1\r\n0\r\n:5\r\n:1000\r\n:90\r\n+string\r\n*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n:3\r\n$3\r\nabc\r\n")
	f.Add("*2\r\n$10\r\n1790000000\r\n$1\r\n0\r\n-ERR\r\n:-1\r\n$-1\r\n+hash\r\n*2\r\n$1\r\n7\r\n*0\r\n:1\r\n*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n")
	f.Add("*2\r\n$99999999999\r\n")
	f.Add("*-1\r\n")
	f.Add("+OK\r\n" + strings.Repeat("*1\r\n", 100))
	f.Add("$18446744073709551616\r\n")
	f.Add(":\r\n-\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, guess := range []string{"", "string", "hash", "zset", "list"} {
			r := newKeyReader(wireOf(text), "", func() time.Time { return time.Unix(1_790_000_000, 0) })
			if guess != "" {
				r.types[stem("k:1")] = guess
			}
			keys, _, err := r.read([]string{"k:1", "k:2"}, &cursorAt{cursor: noCursor, count: 1})
			if err != nil {
				continue
			}
			for i := range keys {
				k := &keys[i]
				if len(k.Text) > maxText || len(k.Members) > maxMembers || len(k.Fields) > maxMembers || !k.Exists() && k.TTL != inspect.NoKey {
					t.Fatalf("%+v", k)
				}
				NewTally(3).add(&Sighting{Key: k})
			}
		}
	})
}

// A text that is longer than what is kept is passed over without being held.
func TestWireDropsWhatIsTooLong(t *testing.T) {
	w := wireOf("$300000\r\n" + strings.Repeat("x", 300_000) + "\r\n:7\r\n")
	text, full, err := w.text(10)
	if err != nil || string(text) != "xxxxxxxxxx" || full != 300_000 {
		t.Fatalf("%q of %d, %v", text, full, err)
	}
	if n, ok, err := w.whole(); n != 7 || !ok || err != nil {
		t.Errorf("what follows: %d, %v", n, err)
	}
}

// A server that hangs does not hold up the end.
func TestScanOfAServerThatHangs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close() // when the test ends: until then it says nothing
		}
	}()
	c := redis.NewClient(&redis.Options{Addr: l.Addr().String()})
	defer c.Close()
	s, err := Scan(context.Background(), c, Options{Layouts: inspect.Builtin(), Patience: 50 * time.Millisecond})
	if err == nil || s.Stopped != "failed" {
		t.Errorf("%v, %+v", err, s)
	}
}

// However many names there are, what is kept of them is bounded and adds up.
func TestTallyIsBounded(t *testing.T) {
	sum := NewTally(5)
	for part := range 3 {
		tally := NewTally(5)
		for i := range 4000 {
			k := &Key{Entry: inspect.Entry{Key: fmt.Sprintf("%d-%d:x", part, i), Type: "string", TTL: inspect.NoTTL, Idle: time.Duration(i), Bytes: int64(i)}, Frequency: -1}
			tally.add(&Sighting{Key: k})
		}
		text, err := json.Marshal(tally)
		if err != nil || len(text) > 200_000 {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		sum.Plus(tally)
	}
	rows := int64(0)
	for _, r := range sum.Stems.Rows {
		rows += r.Keys
	}
	if len(sum.Stems.Rows) > maxTable || rows+sum.Stems.Other.Keys != 12_000 || sum.All.Keys != 12_000 || sum.All.NoTTL != 12_000 {
		t.Errorf("%d rows with %d keys, and %d others", len(sum.Stems.Rows), rows, sum.Stems.Other.Keys)
	}
	top := sum.Tops["biggest"].Sorted()
	if len(top) != 5 || top[0].Bytes != 3999 || top[2].Bytes != 3999 || top[3].Bytes != 3998 {
		t.Errorf("%+v", top)
	}
}

func TestUnmarshalRefusesWhatIsNoSurvey(t *testing.T) {
	for _, text := range []string{"", "{}", `{"schema":"weir.scan-state/v1"}`, `{"schema":"weir.scan-state/v1","top":10,"nodes":[null]}`,
		`{"schema":"weir.scan-state/v1","top":10,"nodes":[{"cursor":"0"}]}`, `{"schema":"weir.scan-state/v1","top":10,"nodes":[{"cursor":"x","tally":{"problems":{}}}]}`,
		`{"schema":"weir.scan-state/v1","top":100000,"nodes":[]}`, `{"schema":"weir.scan-state/v2","top":10}`} {
		if s, err := Unmarshal([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, s)
		}
	}
}
