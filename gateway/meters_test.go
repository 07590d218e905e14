package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit/metering"
)

// readMeterFile folds a meter's file, and counts the lines that are no record.
func readMeterFile(t *testing.T, path string) (b metering.Book, bad int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r metering.Record
		if len(lines.Bytes()) == 0 {
			continue
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || b.Apply(r) != nil {
			bad++
		}
	}
	return b, bad
}

// The meter agrees with the books, key by key, and every gateway ends.
func TestMeterAgreesWithTheBooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meter.ndjson")
	if err := os.WriteFile(path, []byte(`{"kind":"tot`), 0o600); err != nil {
		t.Fatal(err) // what a crash left
	}
	sink, err := OpenMeterFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := started(t, Config{Gateways: 4, Limit: spec(t, "1/h,burst=30"), Design: Central,
		Observe: Observe{Meter: sink, MeterEvery: 5 * time.Millisecond}})
	storm(t, f, "k", 8, 10)
	storm(t, f, "l", 4, 3)
	if err := f.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	b, bad := readMeterFile(t, path)
	if bad != 1 {
		t.Errorf("%d bad lines, want the one that a crash left", bad)
	}
	booked := map[string]int64{}
	for _, k := range f.Counts(10).PerKey {
		booked[k.Key] = k.AdmittedUnits
	}
	keys := b.Keys()
	for _, k := range keys {
		if booked[k.Key] != k.Units || k.Requests != k.Units {
			t.Errorf("metered %+v, booked %d", k, booked[k.Key])
		}
	}
	if len(keys) != 2 || b.Units() != 42 {
		t.Errorf("metered %+v", keys)
	}
	in := b.Instances()
	for i, one := range in {
		if !one.Ended || one.Missing != 0 || one.Contradicts || one.Gateway != i+1 {
			t.Errorf("instance %+v", one)
		}
	}
	if len(in) != 4 {
		t.Errorf("%d instances", len(in))
	}
}

// flaky takes nothing for its first calls, and then twice.
type flaky struct {
	mu     sync.Mutex
	fails  int
	book   metering.Book
	closed bool
}

func (s *flaky) Write(_ context.Context, records []metering.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return errors.New("no answer")
	}
	for _, r := range append(records, records...) {
		if err := s.book.Apply(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *flaky) Close() error { s.closed = true; return nil }

func TestAFlushThatFailsIsMadeUpFor(t *testing.T) {
	sink := &flaky{fails: 4}
	w, err := newObserver(Observe{Metrics: true, Meter: sink}, 1, 1000, false, func() int64 { return 5 }, func() internals { return internals{} })
	if err != nil {
		t.Fatal(err)
	}
	w.start(time.Millisecond)
	v := verdict{Source: FromMemory}
	v.OK = true
	for i := range 100 {
		w.decided(0, 5, &v, &caller{Key: "k"}, 2, 0)
		if i == 50 {
			for w.internals(internals{}).MeterUnsent < 3 {
				time.Sleep(time.Millisecond)
			}
		}
	}
	w.decided(0, 5, &v, &caller{Address: "10.0.0.9"}, 1, 0)
	v.OK = false
	w.decided(0, 5, &v, &caller{Key: "k"}, 9, 0)
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	want := []metering.KeyTotal{{Key: "k", Units: 200, Requests: 100}, {Key: noKey, Units: 1, Requests: 1}}
	if got := sink.book.Keys(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] || !sink.closed {
		t.Errorf("metered %+v, want %+v", got, want)
	}
	if got := w.internals(internals{}).MeterUnsent; got != 4 {
		t.Errorf("%d flushes are said to have failed, want 4", got)
	}
}

// The end is tried more than once, and then said to be missing.
func TestAMeterThatCannotEndSaysSo(t *testing.T) {
	sink := &flaky{fails: 1 << 30}
	w, err := newObserver(Observe{Meter: sink}, 1, 10, false, func() int64 { return 5 }, func() internals { return internals{} })
	if err != nil {
		t.Fatal(err)
	}
	w.start(time.Hour)
	var out *OutputError
	if err := w.close(); !errors.As(err, &out) || out.What != "the meter" || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("got %v", err)
	}
}

func TestMeterNames(t *testing.T) {
	n := names{hash: true}
	if got := n.metered("k-7"); !strings.HasPrefix(got, hashed("k-7")) || len(got) != len("key#")+32 {
		t.Errorf("%q and %q", got, hashed("k-7"))
	}
	if n.metered(noKey) != noKey || n.metered(metering.OtherKey) != metering.OtherKey || (names{}).metered("k") != "k" {
		t.Error("a name that is no key was hashed, or a key that should be plain")
	}
}

func TestMetersInRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := r.Client(t)
		testMetersIn(t, c)
		ttl := c.PTTL(context.Background(), meterPrefix+"gw-1").Val()
		if ttl <= MeterKeep-time.Minute || ttl > MeterKeep {
			t.Errorf("kept for %v, want %v", ttl, MeterKeep)
		}
	})
}

func TestMetersInACluster(t *testing.T) {
	testMetersIn(t, redistest.Cluster(t, 3, 0).Client(t))
}

func testMetersIn(t *testing.T, c redis.UniversalClient) {
	t.Helper()
	ctx := context.Background()
	var want metering.Book
	write := func(records []metering.Record) {
		t.Helper()
		for _, r := range records {
			if err := want.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := (&MeterRedis{c}).Write(ctx, records); err != nil {
			t.Fatal(err)
		}
	}
	a, b := metering.NewMeter("gw-1", 1, 5000), metering.NewMeter("gw-2", 2, 5000)
	for i := range 1200 { // more than fit into two calls
		a.Add("k "+strings.Repeat("x", i%3)+string(rune('a'+i%26)), int64(i), int64(1+i%5))
	}
	b.Add("k \x00\n{}", 7, 9_007_199_254_740_000)
	old := a.Flush(1e9, []metering.Record{a.Begin(1)})
	write(append(old, b.Flush(1e9, nil)...))
	a.Add("k a", 9, 100)
	write(a.End(2e9, nil))
	write(old) // a call that was given up is executed late
	if err := c.HSet(ctx, meterPrefix+"gw-1", "total 5", "1 2 3", "total x k", "1 1 1 1 1", "junk", "").Err(); err != nil {
		t.Fatal(err)
	}

	var got metering.Book
	bad, err := ReadMeters(ctx, c, func(r metering.Record) {
		if err := got.Apply(r); err != nil {
			t.Error(err)
		}
	})
	if err != nil || bad != 3 {
		t.Fatalf("%d fields that no meter wrote, want 3; %v", bad, err)
	}
	gotKeys, wantKeys := got.Keys(), want.Keys()
	if len(gotKeys) != len(wantKeys) {
		t.Fatalf("%d keys, want %d", len(gotKeys), len(wantKeys))
	}
	for i := range wantKeys {
		if gotKeys[i] != wantKeys[i] {
			t.Errorf("%+v, want %+v", gotKeys[i], wantKeys[i])
		}
	}
	for i, in := range want.Instances() {
		if got := got.Instances()[i]; got != in {
			t.Errorf("%+v, want %+v", got, in)
		}
	}
}

// FuzzMeterField holds what is read from a hostile store to its bounds, and
// what a meter wrote to its own form.
func FuzzMeterField(f *testing.F) {
	r := metering.Record{Kind: metering.Total, Instance: "a", Gateway: 1, At: time.Unix(0, 5), Seq: 2, Key: "k k", Start: 3, Units: 4, Requests: 5}
	f.Add(meterField(&r), meterValue(&r))
	f.Add("end", "1 2 3 4 5")
	f.Fuzz(func(t *testing.T, field, value string) {
		r, err := meterRecord("a", field, value)
		if err != nil {
			return
		}
		again, err := meterRecord("a", meterField(&r), meterValue(&r))
		if err != nil || again != r {
			t.Fatalf("%+v came back as %+v, %v", r, again, err)
		}
	})
}

// A fleet that never served has not begun, so nothing is missing.
func TestAFleetThatNeverServedBeginsNoMeter(t *testing.T) {
	taken := started(t, Config{Limit: spec(t, "1/h,burst=1")})
	path := filepath.Join(t.TempDir(), "meter")
	sink, err := OpenMeterFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(Config{Limit: spec(t, "1/h,burst=1"), Listen: strings.TrimPrefix(taken.URLs()[0], "http://"), Observe: Observe{Meter: sink}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Start() == nil {
		t.Fatal("it listens where another does")
	}
	if err := f.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if b, _ := readMeterFile(t, path); len(b.Instances()) != 0 {
		t.Errorf("%+v", b.Instances())
	}
}
