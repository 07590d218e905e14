package limit_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

const second = int64(time.Second)

func newStore(t testing.TB, text string, o limit.StoreOptions) *limit.Store {
	t.Helper()
	s, err := limit.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.New()
	if err != nil {
		t.Fatal(err)
	}
	return limit.NewStore(l, o)
}

func TestStoreDropsFullKeys(t *testing.T) {
	s := newStore(t, "10/s,burst=20", limit.StoreOptions{Shards: 4})
	for i := range 10_000 {
		if !s.Take(fmt.Sprint("key-", i), 0, 1).OK {
			t.Fatal("a new key was refused")
		}
	}
	if s.Len() != 10_000 {
		t.Fatalf("%d keys held", s.Len())
	}
	// One key's calls are enough to be rid of the rest of its shard; other
	// shards wait for theirs or for Sweep.
	for i := range int64(100_000) {
		s.Take("hot", 60*second+i, 1)
	}
	if got := s.Len(); got > 8_000 {
		t.Errorf("%d keys held after a minute", got)
	}
	s.Sweep(120 * second)
	if got := s.Len(); got != 0 {
		t.Errorf("%d keys held after a sweep", got)
	}
	st := s.Stats()
	if st.Inserted != st.Dropped || st.Inserted < 10_001 || st.Calls != 110_000 {
		t.Errorf("%+v", st)
	}
}

func TestStoreKeepsKeysThatAreNotFull(t *testing.T) {
	s := newStore(t, "1/h,burst=2", limit.StoreOptions{Shards: 1})
	for i := range 1000 {
		s.Take(fmt.Sprint(i), 0, 2)
	}
	s.Sweep(3600 * second)
	if s.Len() != 1000 {
		t.Fatalf("%d keys held with one token missing from each", s.Len())
	}
	// Full since 7200 s, but within the slack.
	s.Sweep(7200*second + 4*second)
	if s.Len() != 1000 {
		t.Fatalf("%d keys held within the slack", s.Len())
	}
	s.Sweep(7200*second + 5*second)
	if s.Len() != 0 {
		t.Fatalf("%d keys held beyond the slack", s.Len())
	}
}

// A key that was dropped must not start afresh at a time that has been paid
// for already.
func TestStoreClockStepsBackOverADrop(t *testing.T) {
	s := newStore(t, "10/s,burst=20", limit.StoreOptions{Shards: 1})
	s.Take("k", 0, 20)
	s.Take("k", 100*second, 20)
	s.Sweep(200 * second)
	if s.Len() != 0 {
		t.Fatal("not dropped")
	}
	if d := s.Take("k", 100*second, 20); !d.OK || d.ResetAfter != 97*time.Second {
		t.Errorf("first call after the step: %+v", d)
	}
	for _, at := range []int64{101, 150, 195} {
		if d := s.Take("k", at*second, 1); d.OK {
			t.Errorf("a token at %d s, which had been spent before the step", at)
		}
	}
	if d := s.Take("k", 195*second+second/10, 1); !d.OK {
		t.Errorf("no token once the clock has passed the drop: %+v", d)
	}
}

func TestStoreShareOne(t *testing.T) {
	s := newStore(t, "1/s,burst=10", limit.StoreOptions{Shards: 1, MaxKeys: 3})
	for _, k := range []string{"a", "b", "c"} {
		s.Take(k, 0, 10)
	}
	admitted := 0
	for i := range 100 {
		if s.Take(fmt.Sprint("over-", i), 0, 1).OK {
			admitted++
		}
	}
	if admitted != 10 || s.Len() != 3 {
		t.Fatalf("%d admitted above the cap with %d keys held", admitted, s.Len())
	}
	if st := s.Stats(); st.TurnedAway != 100 || st.SharedNow != 1 {
		t.Errorf("%+v", st)
	}
	if s.Take("over-0", 0, 0).OK {
		t.Error("a peek above the cap finds more than the shared state has")
	}
	// A, b and c are dropped at 15 s. The shared state, spent at 14 s, gives
	// its keys nothing extra when they get their own.
	if !s.Take("over-1", 14*second, 10).OK {
		t.Fatal("the shared state did not refill")
	}
	for i := range 3 {
		s.Take("over-1", 15*second+int64(i), 1)
	}
	s.Sweep(15 * second)
	if d := s.Take("over-1", 16*second, 1); !d.OK {
		t.Fatalf("%+v", d)
	}
	if d := s.Take("over-1", 16*second, 1); d.OK {
		t.Fatal("a key of its own began full although its tokens were spent in the shared state")
	}
	if s.Len() == 0 {
		t.Fatal("no key of its own after room was made")
	}
	s.Take("new", 60*second, 1)
	if st := s.Stats(); st.SharedNow != 0 {
		t.Errorf("the shared state is still in use once full: %+v", st)
	}
}

func TestStoreSharedSlotsComeBack(t *testing.T) {
	s := newStore(t, "concurrency:limit=2", limit.StoreOptions{Shards: 1, MaxKeys: 1})
	s.Take("a", 0, 1)
	s.Take("b", 0, 2) // shared
	s.Release("a", 1, 1)
	s.Sweep(10 * second)
	// There is room, but b's slots are held in the shared state and must be
	// found there.
	if s.Take("b", 10*second, 1).OK {
		t.Error("b got a third slot from a state of its own")
	}
	s.Release("b", 11*second, 2)
	if d := s.Take("b", 12*second, 2); !d.OK || s.Len() != 1 {
		t.Errorf("%+v with %d keys", d, s.Len())
	}
	if st := s.Stats(); st.SharedNow != 0 {
		t.Errorf("slots given back are still held in the shared state: %+v", st)
	}
}

func TestStoreRefuseNew(t *testing.T) {
	s := newStore(t, "1/s,burst=10", limit.StoreOptions{MaxKeys: 2, Shards: 1, WhenFull: limit.RefuseNew})
	s.Take("a", 0, 10)
	s.Take("b", 0, 10)
	for _, cost := range []int64{1, 0} {
		if d := s.Take("c", 0, cost); d.OK || d.RetryAfter != limit.Unknown || d.Limit != 10 {
			t.Errorf("cost %d: %+v", cost, d)
		}
	}
	if d := s.Take("a", second, 1); !d.OK {
		t.Errorf("a known key: %+v", d)
	}
	if d := s.Take("c", 20*second, 1); !d.OK {
		t.Errorf("a new key with room made: %+v", d)
	}
}

func TestStoreAdmitNew(t *testing.T) {
	s := newStore(t, "1/s,burst=10", limit.StoreOptions{MaxKeys: 1, WhenFull: limit.AdmitNew})
	s.Take("a", 0, 10)
	for range 3 {
		if d := s.Take("b", 0, 10); !d.OK {
			t.Errorf("%+v", d)
		}
	}
	if d := s.Take("b", 0, 11); d.OK || d.RetryAfter != limit.Never {
		t.Errorf("a cost above the burst: %+v", d)
	}
	if s.Len() != 1 {
		t.Errorf("%d keys", s.Len())
	}
}

// Calls that change nothing leave no key behind.
func TestStoreForgetsWhatChangedNothing(t *testing.T) {
	for _, a := range []string{"10/s,burst=20", "gcra:rate=10/s,burst=20", "leaky-queue:rate=10/s,queue=19", "concurrency:limit=20"} {
		s := newStore(t, a, limit.StoreOptions{})
		s.Take("peek", 0, 0)
		s.Take("negative", 0, -5)
		s.Release("nothing", 0, 3)
		if s.Len() != 0 {
			t.Errorf("%s: %d keys", a, s.Len())
		}
	}
}

func TestStoreRange(t *testing.T) {
	s := newStore(t, "10/s,burst=20", limit.StoreOptions{})
	for i := range 100 {
		s.TakeBytes(fmt.Appendf(nil, "key-%d", i), 0, int64(i%20)+1)
	}
	seen := 0
	s.Range(0, func(key string, d limit.Decision) bool {
		var i int64
		fmt.Sscanf(key, "key-%d", &i)
		if d.Remaining != 19-i%20 {
			t.Errorf("%s has %d left", key, d.Remaining)
		}
		seen++
		return true
	})
	if seen != 100 {
		t.Errorf("saw %d keys", seen)
	}
	s.Range(0, func(string, limit.Decision) bool { seen++; return false })
	if seen != 101 {
		t.Errorf("Range went on after false")
	}
}

func TestStoreTakeBytesDoesNotKeepTheBytes(t *testing.T) {
	s := newStore(t, "10/s,burst=20", limit.StoreOptions{})
	k := []byte("aaaa")
	s.TakeBytes(k, 0, 20)
	copy(k, "bbbb")
	if s.Take("aaaa", 0, 1).OK {
		t.Error("the key changed with the caller's bytes")
	}
	if !s.Take("bbbb", 0, 1).OK {
		t.Error("a key never seen was refused")
	}
	if n := testing.AllocsPerRun(100, func() { s.TakeBytes(k, 0, 1) }); n != 0 {
		t.Errorf("%v allocations on a known key", n)
	}
	if !s.TakeBytes(nil, 0, 20).OK || s.Take("", 0, 1).OK {
		t.Error("the empty key is not a key of its own")
	}
}

// Keys come and go under a small cap while the clock runs: no key may pass
// more than its bound, whatever state it was decided on.
func TestStoreChurnHoldsTheBound(t *testing.T) {
	s := newStore(t, "100/s,burst=5", limit.StoreOptions{MaxKeys: 64, Shards: 4, Slack: time.Millisecond})
	const workers, keys = 4, 200
	var mu sync.Mutex
	admitted := map[string]int64{}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			local := map[string]int64{}
			x := uint64(w + 1)
			for i := range int64(20_000) {
				x = x*6364136223846793005 + 1442695040888963407
				k := fmt.Sprint((x >> 33) % keys)
				if s.Take(k, i*int64(100*time.Microsecond), 1).OK {
					local[k]++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for k, n := range local {
				admitted[k] += n
			}
		})
	}
	wg.Wait()
	for k, n := range admitted {
		if n > 5+200 {
			t.Errorf("key %s passed %d in 2 s", k, n)
		}
	}
	if s.Len() > 64 {
		t.Errorf("%d keys above a cap of 64", s.Len())
	}
	if st := s.Stats(); st.TurnedAway == 0 || st.Dropped == 0 {
		t.Errorf("the test did not churn: %+v", st)
	}
}
