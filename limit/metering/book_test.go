package metering

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func at(s int) time.Time { return time.Unix(int64(s), 0).UTC() }

// line is a record in a step's words: kind, instance, seq, key, units.
func line(kind Kind, instance string, seq int64, key string, units int64) Record {
	r := Record{Kind: kind, Instance: instance, Gateway: 1, At: at(int(seq) * 5), Seq: seq, Key: key, Units: units, Requests: units}
	if kind == Total {
		r.Start = 1
	}
	return r
}

func TestBook(t *testing.T) {
	var b Book
	for _, step := range []struct {
		why     string
		r       Record
		units   int64 // of all keys, afterwards
		missing int64 // of the instance a
		odd     bool  // whether a contradicts itself
	}{
		{"a comes up", line(Begin, "a", 0, "", 0), 0, 0, false},
		{"k used 10", line(Total, "a", 1, "k", 10), 10, 0, false},
		{"the same again", line(Total, "a", 1, "k", 10), 10, 0, false},
		{"the third flush before the second", line(Total, "a", 3, "k", 30), 30, 0, false},
		{"which then says nothing new", line(Total, "a", 2, "k", 20), 30, 0, false},
		{"a says 37 in all", line(Beat, "a", 3, "", 37), 30, 7, false},
		{"another key of the same flush", line(Total, "a", 3, "l", 7), 37, 0, false},
		{"another gateway has a total of its own", line(Total, "b", 1, "k", 5), 42, 0, false},
		{"k begins again in a", Record{Kind: Total, Instance: "a", Gateway: 1, At: at(20), Seq: 4, Key: "k", Start: 2, Units: 1, Requests: 1}, 43, 0, false},
		{"a ends", line(End, "a", 4, "", 38), 43, 0, false},
		{"a late copy after the end", line(Total, "a", 2, "k", 20), 43, 0, false},
		{"a second process under the name a", line(Total, "a", 9, "k", 2), 43, 0, true},
	} {
		if err := b.Apply(step.r); err != nil {
			t.Fatalf("%s: %v", step.why, err)
		}
		a := b.Instances()[0]
		if b.Units() != step.units || a.Missing != step.missing || a.Contradicts != step.odd {
			t.Errorf("%s: %d units, %+v", step.why, b.Units(), a)
		}
	}
	want := []KeyTotal{{"k", 36, 36}, {"l", 7, 7}}
	if got := b.Keys(); !slices.Equal(got, want) {
		t.Errorf("keys %+v, want %+v", got, want)
	}
}

func TestWhoWentWithoutAnEnd(t *testing.T) {
	var b Book
	for _, r := range []Record{
		line(Begin, "ended", 0, "", 0), line(End, "ended", 2, "", 0),
		line(Begin, "crashed", 0, "", 0),
		line(Begin, "running", 0, "", 0), line(Beat, "running", 100, "", 0),
	} {
		if err := b.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	silent := map[string]bool{}
	for _, in := range b.Instances() {
		silent[in.Name] = in.Silent(b.Newest(), time.Minute)
	}
	if want := map[string]bool{"ended": false, "crashed": true, "running": false}; !reflect.DeepEqual(silent, want) {
		t.Errorf("%v, want %v", silent, want)
	}
}

func TestRecordsThatNoMeterWrites(t *testing.T) {
	good := line(Total, "a", 1, "k", 1)
	for why, change := range map[string]func(r *Record){
		"kind":                  func(r *Record) { r.Kind = "bill" },
		"nobody":                func(r *Record) { r.Instance = "" },
		"a name without end":    func(r *Record) { r.Instance = strings.Repeat("a", MaxText+1) },
		"a key without end":     func(r *Record) { r.Key = strings.Repeat("a", MaxText+1) },
		"negative":              func(r *Record) { r.Units = -1 },
		"beyond what is exact":  func(r *Record) { r.Units = MaxTotal + 1 },
		"negative requests":     func(r *Record) { r.Requests = -1 },
		"negative seq":          func(r *Record) { r.Seq = math.MinInt64 },
		"negative gateway":      func(r *Record) { r.Gateway = -1 },
		"a beat about one key":  func(r *Record) { r.Kind = Beat },
		"an end with one start": func(r *Record) { r.Kind, r.Key = End, "" },
	} {
		r := good
		change(&r)
		var b Book
		var wrong *RecordError
		if err := b.Apply(r); !errors.As(err, &wrong) || len(b.Instances()) != 0 {
			t.Errorf("%s: %v, %+v", why, err, b.Instances())
		}
	}
}

// fleet is a number of meters at work: it gives the records of all their
// flushes and what was really used.
func fleet(seed uint64) (records []Record, used map[string]int64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	used = map[string]int64{}
	now := int64(1)
	meters := make([]*Meter, 1+rng.IntN(4))
	for i := range meters {
		meters[i] = NewMeter(fmt.Sprint("gw-", i), i+1, 8*meterShards) // all eight keys fit into any shard
		records = append(records, meters[i].Begin(now))
	}
	for range 20 {
		for range rng.IntN(50) {
			key, units := fmt.Sprint("k-", rng.IntN(8)), 1+rng.Int64N(5)
			meters[rng.IntN(len(meters))].Add(key, now, units)
			used[key] += units
		}
		now += 5e9
		for _, m := range meters {
			records = m.Flush(now, records)
		}
	}
	for _, m := range meters {
		records = m.End(now, records)
	}
	return records, used
}

// Whatever happens to records on their way, but for the loss of a key's last,
// the book is the same.
func TestDuplicatesOrderAndLossChangeNothing(t *testing.T) {
	for seed := range uint64(50) {
		records, used := fleet(seed)
		rng := rand.New(rand.NewPCG(seed, 2))

		last := map[life]int{} // the newest record of each running total
		for i, r := range records {
			last[life{r.Instance, r.Key, r.Start}] = i
		}
		var sent []Record
		for i, r := range records {
			kept := last[life{r.Instance, r.Key, r.Start}] == i || r.Kind != Total
			for range rng.IntN(3) {
				sent = append(sent, r) // none, one or two copies
			}
			if kept {
				sent = append(sent, r)
			}
		}
		rng.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })

		var whole, book Book
		for _, r := range records {
			if err := whole.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range sent {
			if err := book.Apply(r); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]int64{}
		for _, k := range book.Keys() {
			got[k.Key] = k.Units
		}
		if !reflect.DeepEqual(got, used) {
			t.Fatalf("seed %d: book %v, used %v", seed, got, used)
		}
		if !reflect.DeepEqual(book.Keys(), whole.Keys()) || !reflect.DeepEqual(book.Instances(), whole.Instances()) {
			t.Fatalf("seed %d: %+v\nin order %+v", seed, book.Instances(), whole.Instances())
		}
		for _, in := range book.Instances() {
			if !in.Ended || in.Missing != 0 || in.Contradicts {
				t.Fatalf("seed %d: %+v", seed, in)
			}
		}
	}
}

// The newest record of a key is the one that must arrive, and its loss is seen.
func TestLossOfALastRecordIsSeen(t *testing.T) {
	m := NewMeter("a", 1, 10)
	m.Add("k", 1, 4)
	records := m.Flush(2, nil)
	m.Add("k", 3, 5)
	records = append(records, m.End(4, nil)[1:]...)
	var b Book
	for _, r := range records {
		if err := b.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	if in := b.Instances()[0]; b.Units() != 4 || in.Missing != 5 || !in.Ended {
		t.Errorf("%d units, %+v", b.Units(), in)
	}
}

// FuzzBook holds the fold to its algebra on records that no honest sender
// wrote: order and copies never matter, totals never fall.
func FuzzBook(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 250, 251, 252})
	f.Fuzz(func(t *testing.T, data []byte) {
		var records []Record
		for ; len(data) >= 4 && len(records) < 200; data = data[4:] {
			r := line([]Kind{Begin, Total, Total, Beat, End}[data[0]%5], string('a'+rune(data[0]>>6)), int64(data[1]%8), "", int64(data[2]))
			if r.Kind == Total {
				r.Key, r.Start = string('k'+rune(data[3]&1)), int64(data[3]>>7)
				if data[3] == 77 {
					r.Units = MaxTotal
				}
			}
			records = append(records, r)
		}
		var forward, backward Book
		before := int64(0)
		for _, r := range records {
			if err := forward.Apply(r); err != nil {
				t.Fatal(err)
			}
			if forward.Units() < before {
				t.Fatalf("units fell from %d to %d", before, forward.Units())
			}
			before = forward.Units()
		}
		for _, r := range slices.Backward(records) {
			_ = backward.Apply(r)
			_ = backward.Apply(r)
		}
		if !reflect.DeepEqual(forward.Keys(), backward.Keys()) || !reflect.DeepEqual(forward.Instances(), backward.Instances()) {
			t.Fatalf("%+v %+v\nbackward %+v %+v", forward.Keys(), forward.Instances(), backward.Keys(), backward.Instances())
		}
	})
}
