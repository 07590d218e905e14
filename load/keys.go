package load

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/weir-cli/weir/profiles"
)

// keyTable numbers every key of a plan without storing the generated ones:
// a space is a prefix and a count. Populations with the same prefix share
// keys, as do a file's line and a generated key of the same name.
type keyTable struct {
	spaces []keySpace
	names  []string // from files; numbered after the spaces
	total  uint32   // of the spaces
	byName map[string]uint32
}

// keySpace holds the keys prefix1 to prefixCOUNT.
type keySpace struct {
	prefix string
	first  uint32
	count  uint64
}

// want makes room for the keys prefix1 to prefixN. Only before seal.
func (t *keyTable) want(prefix string, n uint64) {
	for i := range t.spaces {
		if t.spaces[i].prefix == prefix {
			t.spaces[i].count = max(t.spaces[i].count, n)
			return
		}
	}
	t.spaces = append(t.spaces, keySpace{prefix: prefix, count: n})
}

// seal numbers the spaces.
func (t *keyTable) seal() error {
	sum := uint64(0)
	for i := range t.spaces {
		t.spaces[i].first = uint32(sum)
		if sum += t.spaces[i].count; sum > maxNumbered {
			return &PlanError{Msg: fmt.Sprintf("more than %d keys", uint64(maxNumbered)), Hint: "set a count of keys, or clients above 0"}
		}
		for j := range t.spaces {
			a, b := t.spaces[i].prefix, t.spaces[j].prefix
			if rest, ok := strings.CutPrefix(b, a); ok && i != j && allDigits(rest) {
				return &PlanError{
					Msg:  fmt.Sprintf("the key prefixes %q and %q give the same names to different keys", a, b),
					Hint: fmt.Sprintf("end the prefix with a letter or a dash, such as %q", b+"-"),
				}
			}
		}
	}
	t.total = uint32(sum)
	t.byName = make(map[string]uint32)
	return nil
}

// add numbers a name from a file. Only after seal.
func (t *keyTable) add(name string) (uint32, error) {
	for _, s := range t.spaces {
		rest, ok := strings.CutPrefix(name, s.prefix)
		if !ok || !allDigits(rest) || rest[0] == '0' {
			continue
		}
		if n, err := strconv.ParseUint(rest, 10, 32); err == nil && n <= s.count {
			return s.first + uint32(n-1), nil
		}
	}
	if i, ok := t.byName[name]; ok {
		return i, nil
	}
	i := uint64(t.total) + uint64(len(t.names))
	if i >= maxNumbered {
		return 0, &PlanError{Msg: fmt.Sprintf("more than %d keys", uint64(maxNumbered))}
	}
	t.names = append(t.names, name)
	t.byName[name] = uint32(i)
	return uint32(i), nil
}

func (t *keyTable) len() int { return int(t.total) + len(t.names) }

func (t *keyTable) name(i uint32) string { return string(t.append(nil, i)) }

func (t *keyTable) append(dst []byte, i uint32) []byte {
	if i >= t.total {
		return append(dst, t.names[i-t.total]...)
	}
	k := sort.Search(len(t.spaces), func(k int) bool {
		return uint64(t.spaces[k].first)+t.spaces[k].count > uint64(i)
	})
	s := t.spaces[k]
	return strconv.AppendUint(append(dst, s.prefix...), uint64(i-s.first)+1, 10)
}

// label is what may be printed: a generated name as it is, a key from a file
// as a short hash, since it may be a credential.
func (t *keyTable) label(i uint32) string {
	if i < t.total {
		return t.name(i)
	}
	sum := sha256.Sum256([]byte(t.names[i-t.total]))
	return "key#" + hex.EncodeToString(sum[:4])
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// keyRule is how a population's callers get their keys.
type keyRule struct {
	kind  profiles.KeyKind
	first uint32
	n     uint64
	zipf  zipf
	lines []uint32 // keys of a file's lines
}

// pick is the key of a call by caller (from 0 within its population).
func (k *keyRule) pick(caller uint32, r *Rand) uint32 {
	switch k.kind {
	case profiles.KeyEach:
		return k.first + caller
	case profiles.KeyCycle:
		return k.first + uint32(uint64(caller)%k.n)
	case profiles.KeyUniform:
		return k.first + uint32(r.Int64n(int64(k.n)))
	case profiles.KeyZipf:
		return k.first + uint32(k.zipf.draw(r)-1)
	case profiles.KeyFile:
		return k.lines[uint64(caller)%uint64(len(k.lines))]
	}
	return k.first
}
