package inspect

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// After each action, what weir's own limiter answers next is what the change
// said, and nothing else on the server is touched.
func TestWeirAnswersAsChanged(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		seed(t, c)
		for i, text := range weirSpecs {
			t.Run(text, func(t *testing.T) { changeWeir(t, c, text, uint64(i)) })
		}
	})
}

func changeWeir(t *testing.T, c redis.UniversalClient, text string, seed uint64) {
	ctx := context.Background()
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
	key := redislimit.Key("rl", "k-7", fmt.Sprint("r", seed))
	reader := NewReader(c, ReaderOptions{})
	rnd := rand.New(rand.NewPCG(seed, 11))
	var told *limit.Spec
	if spec.Algorithm == limit.LeakyQueue {
		told = &spec
	}
	call := func(cost int64) limit.Decision {
		a, err := store.Take(ctx, redislimit.Part{Key: key, Rule: rule, Cost: cost})
		if err != nil {
			t.Fatal(err)
		}
		// Lives pass on the real clock, the state on ours.
		if err := c.Expire(ctx, key, time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
		return a.Decision
	}
	tried := map[Action]int{}
	for step := range 150 {
		now += rnd.Int64N(int64(400 * time.Millisecond))
		if rnd.IntN(20) == 0 {
			now += int64(time.Minute)
		}
		if rnd.IntN(2) == 0 {
			call(1 + rnd.Int64N(4))
			continue
		}
		snap, err := reader.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		if !snap.Entries[0].Exists() {
			continue
		}
		found := Identify(&snap.Entries[0], Builtin(), now)
		r, err := Decode(found[0].Layout, snap.Entries, now, told)
		if err != nil {
			t.Fatal(err)
		}
		order := Order{Action: Actions[rnd.IntN(len(Actions))], Units: rnd.Int64N(6), In: time.Hour}
		if order.Action == Grant {
			order.Units++
		}
		change, err := NewChange(&r, order, false)
		if err != nil {
			t.Fatalf("step %d: %+v: %v", step, order, err)
		}
		want := *change.After.Remaining
		switch order.Action {
		case Grant:
			if want != min(*r.Capacity, *r.Remaining+order.Units) {
				t.Fatalf("step %d: %+v of %d left %d", step, order, *r.Remaining, want)
			}
		case Drain:
			if order.Units == 0 && want != 0 || order.Units > 0 && want != max(0, *r.Remaining-order.Units) {
				t.Fatalf("step %d: %+v of %d left %d", step, order, *r.Remaining, want)
			}
		case Reset:
			if want != *r.Capacity {
				t.Fatalf("step %d: %d left", step, want)
			}
		}
		others := everything(t, c, key)
		if err := Write(ctx, c, &change); err != nil {
			t.Fatalf("step %d: %+v: %v", step, order, err)
		}
		if left := everything(t, c, key); !reflect.DeepEqual(left, others) {
			t.Fatalf("step %d: other keys changed: %v", step, left)
		}
		snap, err = reader.Get(ctx, key)
		if err != nil || !sameValue(&snap.Entries[0], &change.After.Entries[0]) {
			t.Fatalf("step %d: %+v is there, want %+v", step, snap.Entries[0], change.After.Entries[0])
		}
		tried[order.Action]++
		// The limiter itself: one more than is left does not pass, what is left does.
		if want < *r.Capacity {
			wait, _ := change.After.Wait(want + 1)
			if d := call(want + 1); d.OK || d.RetryAfter-wait > time.Microsecond || wait-d.RetryAfter > time.Microsecond {
				t.Fatalf("step %d: after %+v, %d left: %d passed (%v) or waits %s, want %s", step, order, want, want+1, d.OK, d.RetryAfter, wait)
			}
		}
		if want > 0 {
			if d := call(want); !d.OK {
				t.Fatalf("step %d: after %+v, %d left: it was refused", step, order, want)
			}
		}
	}
	for _, a := range Actions {
		if tried[a] < 3 {
			t.Errorf("%s was tried %d times", a, tried[a])
		}
	}
}

// everything is what the server holds, but for one key and the TTLs.
func everything(t *testing.T, c redis.UniversalClient, but string) []Entry {
	t.Helper()
	names, err := c.Keys(context.Background(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(names, func(s string) bool { return s == but })
	s, err := NewReader(c, ReaderOptions{}).Get(context.Background(), names...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Entries {
		e := &s.Entries[i]
		e.TTL, e.Idle, e.At = 0, 0, 0
	}
	return s.Entries
}

func sameValue(a, b *Entry) bool {
	return a.Type == b.Type && string(a.Text) == string(b.Text) && (a.TTL < 0) == (b.TTL < 0) && a.TTL <= b.TTL && b.TTL-a.TTL < 5*time.Second &&
		slices.Equal(a.Members, b.Members) && fmt.Sprint(a.Fields) == fmt.Sprint(b.Fields)
}

// Every state of the fixtures of every layout that may be written: what is
// planned is written as it is, reads as was said, and is not written to a
// state that has changed.
func TestChangesOfEveryLayout(t *testing.T) {
	ctx := context.Background()
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		done := map[string]map[Action]bool{}
		readFixtures(t, func(t *testing.T, l *Layout, f *fixture) {
			var told *limit.Spec
			if f.Limit != "" {
				s, err := limit.ParseSpec(f.Limit)
				if err != nil {
					t.Fatal(err)
				}
				told = &s
			}
			for _, o := range []Order{{Action: Grant, Units: 1}, {Action: Grant, Units: 1000}, {Action: Drain, Units: 1}, {Action: Drain}, {Action: Reset}, {Action: Expire, In: 47 * time.Second}} {
				if !slices.Contains(l.Writes, o.Action) {
					continue
				}
				r, err := Decode(l, f.entries(t), f.Now, told)
				if err != nil {
					t.Fatal(err)
				}
				r.Sure = l.Sure
				change, err := NewChange(&r, o, true)
				if err != nil {
					var no *RefusedError
					if !errors.As(err, &no) {
						t.Errorf("%+v: %v", o, err)
					}
					continue
				}
				if done[l.Name] == nil {
					done[l.Name] = map[Action]bool{}
				}
				done[l.Name][o.Action] = true
				put(t, c, change.Before.Entries)
				if err := Write(ctx, c, &change); err != nil {
					t.Errorf("%+v: %v", o, err)
					continue
				}
				var keys []string
				for i := range r.Entries {
					keys = append(keys, r.Entries[i].Key)
				}
				snap, err := NewReader(c, ReaderOptions{}).Get(ctx, keys...)
				if err != nil {
					t.Fatal(err)
				}
				for i := range snap.Entries {
					if !sameValue(&snap.Entries[i], &change.After.Entries[i]) {
						t.Errorf("%+v: %+v is there, want %+v", o, snap.Entries[i], change.After.Entries[i])
					}
				}
				if !change.Nothing() && len(change.Before.Entries) > 0 {
					put(t, c, change.Before.Entries)
					spoil(t, c, &change.Before.Entries[0])
					if err := Write(ctx, c, &change); !errors.Is(err, ErrChanged) {
						t.Errorf("%+v of a state that has changed: %v", o, err)
					}
				}
			}
		})
		for _, l := range Builtin() {
			for _, a := range l.Writes {
				if !done[l.Name][a] {
					t.Errorf("no fixture of %s allows a %s", l.Name, a)
				}
			}
		}
	})
}

// put writes entries as they are.
func put(t *testing.T, c redis.UniversalClient, entries []Entry) {
	t.Helper()
	ctx := context.Background()
	pipe := c.TxPipeline()
	for _, e := range entries {
		pipe.Del(ctx, e.Key)
		switch e.Type {
		case "string":
			pipe.Set(ctx, e.Key, e.Text, 0)
		case "hash":
			for name, value := range e.Fields {
				pipe.HSet(ctx, e.Key, name, value)
			}
		case "zset":
			for _, m := range e.Members {
				pipe.ZAdd(ctx, e.Key, redis.Z{Score: m.Score, Member: m.Name})
			}
		case "list":
			for _, m := range e.Members {
				pipe.RPush(ctx, e.Key, m.Name)
			}
		}
		if e.TTL > 0 {
			pipe.PExpire(ctx, e.Key, e.TTL)
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
}

// spoil changes a value as a call in between would.
func spoil(t *testing.T, c redis.UniversalClient, e *Entry) {
	t.Helper()
	ctx := context.Background()
	var err error
	switch e.Type {
	case "none":
		err = c.Set(ctx, e.Key, "1", 0).Err()
	case "string":
		err = c.Set(ctx, e.Key, string(e.Text)+"0", redis.KeepTTL).Err()
	case "hash":
		err = c.HSet(ctx, e.Key, "x", "1").Err()
	case "zset":
		err = c.ZIncrBy(ctx, e.Key, 1, e.Members[0].Name).Err()
	case "list":
		err = c.LPush(ctx, e.Key, "1").Err()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What is not certain is not written.
func TestOrdersThatAreRefused(t *testing.T) {
	now := int64(1_795_978_030_880_559_000)
	spec := limit.Spec{Algorithm: limit.FixedWindow, Limit: 10, Window: time.Minute}
	counter := Entry{Key: "limiter:a", Type: "string", Text: []byte("3"), Len: 1, TTL: time.Minute, Idle: Unknown, At: now, Slot: -1}
	with := func(change func(e *Entry)) Entry {
		e := counter
		change(&e)
		return e
	}
	bucket := Entry{Key: "rl:{a}:r", Type: "hash", Fields: map[string]string{"g": "1", "t": "1795978030880559", "b": "20", "r": "1", "n": "5"}, Len: 5, TTL: time.Minute, At: now}
	tests := []struct {
		name, layout string
		entry        Entry
		told         *limit.Spec
		order        Order
		named        bool
		want, hint   string
	}{
		{"likely", "ulule", counter, &spec, Order{Action: Reset}, false, "it is not certain that ulule/limiter v3 wrote limiter:a", "--layout ulule"},
		{"likely, and named", "ulule", counter, &spec, Order{Action: Reset}, true, "", ""},
		{"named, under another name", "ulule", with(func(e *Entry) { e.Key = "mine:a" }), &spec, Order{Action: Reset}, true, "mine:a is not as the layout ulule says", "layouts ulule"},
		{"named, with another value", "ulule", with(func(e *Entry) { e.Text = []byte("x") }), &spec, Order{Action: Reset}, true, "not as the layout", ""},
		{"nothing there", "ulule", Entry{Key: "limiter:a", Type: "none", TTL: NoKey}, &spec, Order{Action: Reset}, true, "there is no state of limiter:a", ""},
		{"a layout without writes", "envoy", with(func(e *Entry) { e.Key = "d_k_v_1795978020" }), &spec, Order{Action: Reset}, true, "nothing can be written for the layout envoy", ""},
		{"an action that it has not", "tj-ratelimiter", Entry{Key: "limit:a", Type: "zset", Members: []Member{{"1795978030880559", 1795978030880559}}, Len: 1, TTL: time.Minute, At: now}, &spec, Order{Action: Drain}, false, "there is no drain for the layout tj-ratelimiter, only grant, reset, expire", ""},
		{"no limit for what needs one", "ulule", counter, nil, Order{Action: Drain}, true, "how much is left is not known without the limit", "--limit fixed-window:"},
		{"no limit, and none needed", "ulule", counter, nil, Order{Action: Grant, Units: 2}, true, "", ""},
		{"a limit of another kind", "ulule", counter, &limit.Spec{Algorithm: limit.TokenBucket, Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: 1}, Order{Action: Reset}, true, "keeps a limit by a count", ""},
		{"another limit than the state's", "weir", bucket, &limit.Spec{Algorithm: limit.TokenBucket, Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: 1}, Order{Action: Grant, Units: 1}, false, "last written under", ""},
		{"a clock that ran ahead", "weir", func() Entry {
			e := bucket
			e.Fields = map[string]string{"g": "1", "t": "1795978090880559", "b": "20", "r": "1", "n": "5"}
			return e
		}(), nil, Order{Action: Grant, Units: 1}, false, "ahead of the server's clock", ""},
		{"a window that is over", "rack-attack", with(func(e *Entry) { e.Key = "rack::attack:29932965:r:a" }), &spec, Order{Action: Drain, Units: 1}, false, "ended", ""},
		{"a log of which not all was read", "tj-ratelimiter", Entry{Key: "limit:a", Type: "zset", Members: []Member{{"1795978030880559", 1795978030880559}}, Len: 9, Truncated: true, Head: 1, TTL: time.Minute, At: now}, &spec, Order{Action: Grant, Units: 1}, false, "of which 1 were read", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Decode(Find(Builtin(), tt.layout), []Entry{tt.entry}, now, tt.told)
			if err != nil {
				t.Fatal(err)
			}
			_, err = NewChange(&r, tt.order, tt.named)
			var no *RefusedError
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.As(err, &no) || !strings.Contains(no.Text, tt.want) || !strings.Contains(no.Hint, tt.hint)):
				t.Errorf("%v, want %q and the hint %q", err, tt.want, tt.hint)
			}
		})
	}
}
