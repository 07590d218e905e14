package inspect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// What two looks say was admitted in between is what the limiter admitted, and
// never more where it says at least.
func TestCompareCountsWhatWeirAdmits(t *testing.T) {
	server := redistest.Mini(t)
	c, ctx := server.Client(t), context.Background()
	for i, text := range weirSpecs {
		t.Run(text, func(t *testing.T) {
			spec, err := limit.ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			rule, err := redislimit.Compile(spec)
			if err != nil {
				t.Fatal(err)
			}
			now := int64(1_795_978_030_880_559_000)
			store := redislimit.NewStore(c, redislimit.Options{Clock: func() int64 { return now }, Timeout: 10 * time.Second})
			defer store.Close()
			key := redislimit.Key("rl", "k-7", fmt.Sprint("m", i))
			rnd := rand.New(rand.NewPCG(uint64(i), 5))
			var before *Reading
			admitted, exact, units, bounded := int64(0), 0, int64(0), 0
			for step := range 400 {
				now += rnd.Int64N(int64(300*time.Millisecond)) / 1000 * 1000
				if rnd.IntN(30) == 0 {
					now += int64(30 * time.Second)
				}
				if rnd.IntN(3) > 0 {
					cost := 1 + rnd.Int64N(3)
					a, err := store.Take(ctx, redislimit.Part{Key: key, Rule: rule, Cost: cost})
					if err != nil {
						t.Fatal(err)
					}
					if a.OK {
						admitted += cost
					}
					continue
				}
				snap, err := NewReader(c, ReaderOptions{}).Get(ctx, key)
				if err != nil {
					t.Fatal(err)
				}
				e := snap.Entries[0]
				if !e.Exists() {
					continue
				}
				snap.Entries[0].TTL = time.Hour // lives pass on the real clock
				r, err := Decode(Identify(&e, Builtin(), now)[0].Layout, snap.Entries, now, nil)
				if err != nil {
					t.Fatal(err)
				}
				m := Compare(before, &r)
				switch {
				case before == nil:
					if m.Admitted != nil || len(m.Events) > 0 {
						t.Fatalf("the first look sees %+v", m)
					}
				case m.Admitted == nil:
					t.Fatalf("step %d: nothing is known: %+v", step, m)
				case m.AtLeast && *m.Admitted > admitted || !m.AtLeast && *m.Admitted != admitted:
					t.Fatalf("step %d: %d were admitted, seen %d (at least: %v)", step, admitted, *m.Admitted, m.AtLeast)
				case m.AtLeast:
					bounded++
				default:
					exact++
					units += admitted
				}
				before, admitted = &r, 0
			}
			if exact < 20 || units < 5 {
				t.Errorf("%d exact, %d units, %d at least", exact, units, bounded)
			}
		})
	}
}

func TestCompareSeesEvents(t *testing.T) {
	const now = int64(1_795_978_030_000_000_000)
	entry := func(key, text string, ttl time.Duration) Entry {
		return Entry{Key: key, Type: "string", Text: []byte(text), Len: int64(len(text)), TTL: ttl, Idle: Unknown, Bytes: Unknown, Slot: -1}
	}
	none := Entry{Key: "limiter:a", Type: "none", TTL: NoKey}
	one := func(n int64) *int64 { return &n }
	tests := []struct {
		name, layout, limit string
		before, after       Entry
		after1              time.Duration
		admitted            *int64
		atLeast, counted    bool
		events              string
	}{
		{"some more", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "3", 40*time.Second), entry("limiter:a", "7", 39*time.Second), time.Second, one(4), false, false, ""},
		{"over the limit, where refusals count", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "8", 40*time.Second), entry("limiter:a", "70", 39*time.Second), time.Second, one(2), false, false, ""},
		{"without the limit", "ulule", "", entry("limiter:a", "8", 40*time.Second), entry("limiter:a", "70", 39*time.Second), time.Second, one(62), false, true, ""},
		{"a new window", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "8", time.Second/2), entry("limiter:a", "2", 59500*time.Millisecond), time.Second, one(2), true, false, "new-window"},
		{"the window moved", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "8", 5*time.Second), entry("limiter:a", "9", 50*time.Second), time.Second, one(1), true, false, "window-moved"},
		{"expired", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "8", time.Second/2), none, time.Second, nil, false, false, "expired"},
		{"deleted", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "8", time.Minute), none, time.Second, nil, false, false, "reset"},
		{"begun", "ulule", "fixed-window:limit=10,window=60s", none, entry("limiter:a", "2", time.Minute), time.Second, one(2), true, false, "begun"},
		{"still nothing", "ulule", "fixed-window:limit=10,window=60s", none, none, time.Second, nil, false, false, ""},
		{"given back", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "8", time.Minute), entry("limiter:a", "3", 59*time.Second), time.Second, nil, false, false, "lowered"},
		{"it lost its TTL", "ulule", "fixed-window:limit=10,window=60s", entry("limiter:a", "8", time.Minute), entry("limiter:a", "8", NoTTL), time.Second, one(0), false, false, "no-ttl"},
		{"tokens that came from elsewhere", "redis-rate", "10/m,burst=20", entry("rate:a", fmt.Sprint(now/1e9-1483228800+60), time.Minute), entry("rate:a", fmt.Sprint(now/1e9-1483228800+6), time.Minute), time.Second, nil, false, false, "raised"},
		{"GCRA", "redis-rate", "10/m,burst=20", entry("rate:a", fmt.Sprint(now/1e9-1483228800+60), 2*time.Minute), entry("rate:a", fmt.Sprint(now/1e9-1483228800+84), 2*time.Minute), time.Second, one(4), false, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var told *limit.Spec
			if tt.limit != "" {
				s, err := limit.ParseSpec(tt.limit)
				if err != nil {
					t.Fatal(err)
				}
				told = &s
			}
			l := Find(Builtin(), tt.layout)
			a, err := Decode(l, []Entry{tt.before}, now, told)
			if err != nil {
				t.Fatal(err)
			}
			b, err := Decode(l, []Entry{tt.after}, now+int64(tt.after1), told)
			if err != nil {
				t.Fatal(err)
			}
			m := Compare(&a, &b)
			var ids []string
			for _, e := range m.Events {
				ids = append(ids, e.ID)
			}
			same := (m.Admitted == nil) == (tt.admitted == nil) && (m.Admitted == nil || *m.Admitted == *tt.admitted)
			if !same || m.AtLeast != tt.atLeast || m.Counted != tt.counted || strings.Join(ids, " ") != tt.events || m.Interval != tt.after1 {
				n := "nothing"
				if m.Admitted != nil {
					n = fmt.Sprint(*m.Admitted)
				}
				t.Errorf("admitted %s, %+v", n, m)
			}
		})
	}
}

// A follower goes on with the window of now, and sees that a key is gone.
func TestFollowerMovesWithTheWindow(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c, ctx := server.Client(t), context.Background()
		spec, _ := limit.ParseSpec("fixed-window:limit=10,window=1s")
		put := func() string {
			key := fmt.Sprintf("rack::attack:%d:req/ip:k-7", time.Now().Unix())
			if err := c.Incr(ctx, key).Err(); err != nil {
				t.Fatal(err)
			}
			return key
		}
		first := put()
		f, _, err := Follow(ctx, NewReader(c, ReaderOptions{}), Query{Keys: []string{first}, Layouts: Builtin(), Told: &spec})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{first}
		for end := time.Now().Add(20 * time.Second); len(names) < 3 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			put()
			r, _, err := f.Look(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if key := r.Entries[0].Key; !slices.Contains(names, key) {
				names = append(names, key)
			}
		}
		if len(names) < 3 {
			t.Errorf("followed %q", names)
		}
		if err := c.FlushAll(ctx).Err(); err != nil {
			t.Fatal(err)
		}
		if r, _, err := f.Look(ctx); err != nil || r.Existing() != 0 || *r.Remaining != 10 {
			t.Errorf("%+v, %v", r, err)
		}
		// A key that is not there yet.
		g, _, err := Follow(ctx, NewReader(c, ReaderOptions{}), Query{Keys: []string{"limiter:new"}, Layouts: Builtin(), Told: &spec})
		if err != nil {
			t.Fatal(err)
		}
		if r, _, err := g.Look(ctx); r != nil || err != nil {
			t.Errorf("%+v, %v", r, err)
		}
		if err := c.Set(ctx, "limiter:new", 3, time.Second).Err(); err != nil {
			t.Fatal(err)
		}
		if r, s, err := g.Look(ctx); err != nil || r == nil || *r.Used != 3 || s.Tried != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
