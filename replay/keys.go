package replay

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/weir-cli/weir/report"
)

// MaxKeys is how many keys have figures of their own; the rest share a row.
const MaxKeys = 1 << 21

// rest is the number of every key beyond MaxKeys.
const rest = MaxKeys

// keyTable numbers keys in the order they come.
type keyTable struct {
	ids    map[string]uint32
	names  []string
	hidden bool
}

func newKeyTable(hidden bool) *keyTable {
	return &keyTable{ids: map[string]uint32{}, hidden: hidden}
}

// id numbers a key, the number is len-1 for a new one.
func (t *keyTable) id(key []byte) (id uint32, fresh bool) {
	if id, ok := t.ids[string(key)]; ok {
		return id, false
	}
	if len(t.names) >= MaxKeys {
		return rest, false
	}
	name := string(key)
	id = uint32(len(t.names))
	t.ids[name] = id
	t.names = append(t.names, name)
	return id, true
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
