package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"strings"

	"github.com/weir-cli/weir/report"
)

// MaxKeys is how many keys have figures of their own; the rest share a row.
const MaxKeys = 1 << 21

// rest is the number of every key beyond MaxKeys.
const rest = MaxKeys

// keyBlock is how much of the keys' text lies in one piece, in bytes.
const keyBlock = 64 << 10

// keyTable numbers keys in the order they come. Its index is open: a slot holds
// the upper half of a key's hash, which tells nearly all others from it without
// a look at their text, and above 0 the key's number + 1. The seed differs from
// run to run, so that nobody can write a log whose keys all collide.
type keyTable struct {
	seed   maphash.Seed
	index  []uint64 // a power of two
	shift  int      // from an upper half to its place
	names  []string
	block  strings.Builder // where the names' text goes
	hidden bool
}

// firstIndex is the length of a new table's index, as a power of two.
const firstIndex = 10

func newKeyTable(hidden bool) *keyTable {
	return &keyTable{seed: maphash.MakeSeed(), index: make([]uint64, 1<<firstIndex), shift: 64 - firstIndex, hidden: hidden}
}

// id numbers a key, the number is len-1 for a new one.
func (t *keyTable) id(key []byte) (id uint32, fresh bool) { return t.idOf(t.hash(key), key) }

func (t *keyTable) hash(key []byte) uint64 { return maphash.Bytes(t.seed, key) }

// place is where the search for a hash begins.
func (t *keyTable) place(hash uint64) int { return int(hash >> t.shift) }

// idOf is id for a key whose hash is known.
func (t *keyTable) idOf(hash uint64, key []byte) (id uint32, fresh bool) {
	at := t.place(hash)
	for {
		slot := t.index[at]
		if slot == 0 {
			break
		}
		if id := uint32(slot) - 1; slot>>32 == hash>>32 && t.names[id] == string(key) {
			return id, false
		}
		at = (at + 1) & (len(t.index) - 1)
	}
	if len(t.names) >= MaxKeys {
		return rest, false
	}
	id = uint32(len(t.names))
	t.names = append(t.names, t.keep(key))
	t.index[at] = hash>>32<<32 | uint64(id+1)
	if len(t.names) > len(t.index)/4*3 {
		t.grow()
	}
	return id, true
}

// grow doubles the index. The upper halves suffice for that: their bits are
// more than the places of MaxKeys need.
func (t *keyTable) grow() {
	old := t.index
	t.index = make([]uint64, 2*len(old))
	t.shift--
	for _, slot := range old {
		if slot == 0 {
			continue
		}
		at := t.place(slot)
		for t.index[at] != 0 {
			at = (at + 1) & (len(t.index) - 1)
		}
		t.index[at] = slot
	}
}

// keep copies a key.
func (t *keyTable) keep(key []byte) string {
	if len(key) > keyBlock/16 {
		return string(key)
	}
	if t.block.Cap()-t.block.Len() < len(key) {
		t.block.Reset() // the names hold on to the one before
		t.block.Grow(keyBlock)
	}
	from := t.block.Len()
	t.block.Write(key)
	return t.block.String()[from:]
}

// guess is the number of the key in the first place that a hash leads to,
// which nearly always is the one that is looked for. It may be any known
// number, and is rest where that place is empty.
func (t *keyTable) guess(hash uint64) uint32 {
	slot := t.index[t.place(hash)]
	if slot == 0 {
		return rest
	}
	return uint32(slot) - 1
}

// label is a key as it may be shown.
func (t *keyTable) label(id uint32) string {
	switch {
	case int(id) >= len(t.names):
		return "(other)"
	case t.hidden:
		return Hidden(t.names[id])
	}
	return report.Clean(t.names[id])
}

// Hidden stands for a key that must not be shown.
func Hidden(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "key#" + hex.EncodeToString(sum[:4])
}
