package replay

import (
	"fmt"
	"strings"
	"testing"
)

func TestKeyTableNumbersKeysInTheirOrder(t *testing.T) {
	const many = 50_000 // the index grows six times
	keys := newKeyTable(false)
	key := func(i int) string {
		switch {
		case i%1000 == 7:
			return fmt.Sprint(strings.Repeat("long", 2000), i)
		case i == 8:
			return ""
		}
		return fmt.Sprint("k-", i)
	}
	for round := range 2 {
		for i := range many {
			text := []byte(key(i))
			id, fresh := keys.id(text)
			if id != uint32(i) || fresh != (round == 0) {
				t.Fatalf("round %d: key %d has number %d, fresh %t", round, i, id, fresh)
			}
			for j := range text {
				text[j] = '?' // the bytes belong to the reader
			}
		}
	}
	for i := range many {
		if keys.label(uint32(i)) != key(i) && len(key(i)) < 100 {
			t.Fatalf("key %d is called %q", i, keys.label(uint32(i)))
		}
	}
	if full := len(keys.names) * 4 / 3; len(keys.index) < full || len(keys.index) > 4*full {
		t.Errorf("%d places for %d keys", len(keys.index), len(keys.names))
	}
}

// Keys whose hashes have the same upper half, or all of it, are told apart by
// their text.
func TestKeyTableToldApartByText(t *testing.T) {
	keys := newKeyTable(false)
	const hash = ^uint64(0) // the last place, so that the search goes round
	for round := range 2 {
		for i := range 2000 {
			id, fresh := keys.idOf(hash-uint64(i%2), fmt.Append(nil, i))
			if id != uint32(i) || fresh != (round == 0) {
				t.Fatalf("round %d: key %d has number %d, fresh %t", round, i, id, fresh)
			}
		}
	}
	if some, none := keys.guess(hash), keys.guess(1<<63); some >= 2000 || none != rest {
		t.Errorf("guesses %d and %d", some, none)
	}
}

func TestKeyTableBeyondTheLastNumber(t *testing.T) {
	keys := newKeyTable(false)
	var text []byte
	for i := range MaxKeys + 10 {
		text = fmt.Appendf(text[:0], "%d", i)
		if id, fresh := keys.id(text); id != uint32(min(i, rest)) || fresh != (i < rest) {
			t.Fatalf("key %d has number %d, fresh %t", i, id, fresh)
		}
	}
	if id, _ := keys.id([]byte("77")); id != 77 {
		t.Errorf("a known key has number %d", id)
	}
}
