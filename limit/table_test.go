package limit

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Random inserts and removals beside a map, with so few hashes that every
// chain holds several keys of one hash.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tab table
	want := map[string]int64{}
	mark := func(key string) uint32 { return live | uint32(len(key)*int(key[len(key)-1]))%16 }
	check := func(step int) {
		t.Helper()
		if tab.n != len(want) {
			t.Fatalf("step %d: %d entries, want %d", step, tab.n, len(want))
		}
		for key, v := range want {
			if e := tab.find(mark(key), key); e == nil || e.key != key || e.state.a != v {
				t.Fatalf("step %d: %q is %+v, want %d", step, key, e, v)
			}
		}
	}
	for step := range 4000 {
		key := fmt.Sprint(r.IntN(900))
		e := tab.find(mark(key), key)
		if _, ok := want[key]; ok != (e != nil) {
			t.Fatalf("step %d: %q found %v, want %v", step, key, e != nil, ok)
		}
		// Grow for a while, then shrink, then grow again into the free list.
		remove := step > 1500 && step < 3000 || r.IntN(4) == 0
		switch {
		case e == nil && !remove:
			want[key] = int64(step)
			tab.insert(mark(key), key, State{a: int64(step)})
		case e != nil && remove:
			for i := uint32(1); i <= tab.high; i++ {
				if tab.slot(i) == e {
					tab.remove(i)
					break
				}
			}
			delete(want, key)
		}
		if step%250 == 0 {
			check(step)
		}
	}
	check(-1)
}

func TestTableGivesMemoryBack(t *testing.T) {
	var tab table
	const n = 100 * chunkLen
	for i := range uint32(n) {
		tab.insert(live|i, fmt.Sprint(i), State{a: int64(i)})
	}
	for i := uint32(1); i <= n; i++ {
		if i%10 != 0 {
			tab.remove(i)
			tab.compact()
		}
		if i == n/2 && len(tab.chunks) != 100 {
			t.Fatalf("compacted at half full: %d chunks", len(tab.chunks))
		}
		if len(tab.chunks) < 50 {
			break
		}
	}
	if got := len(tab.chunks); got > 26 {
		t.Errorf("%d chunks after three quarters were removed", got)
	}
	seen := 0
	for i := uint32(1); i <= tab.high; i++ {
		e := tab.slot(i)
		if e.mark == 0 {
			continue
		}
		seen++
		if e.key != fmt.Sprint(e.state.a) || tab.find(e.mark, e.key) != e {
			t.Fatalf("slot %d: %+v", i, e)
		}
	}
	if seen != tab.n {
		t.Errorf("%d live entries, %d counted", seen, tab.n)
	}
}

func TestStoreGivesMemoryBack(t *testing.T) {
	l, err := Spec{Algorithm: Concurrency, Limit: 1}.New()
	if err != nil {
		t.Fatal(err)
	}
	s := NewStore(l, StoreOptions{Shards: 2})
	for i := range 20_000 {
		s.Take(fmt.Sprint(i), 0, 1)
	}
	for i := range 20_000 {
		s.Release(fmt.Sprint(i), 0, 1)
	}
	s.Sweep(0)
	for i := range s.shards {
		if n := len(s.shards[i].chunks); n > 4 {
			t.Errorf("shard %d holds %d chunks for no keys", i, n)
		}
	}
}
