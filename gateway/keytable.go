package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a file of keys.
const (
	maxKeysFile = 256 << 20
	maxKeyLine  = 4 << 10
	maxPlan     = 64
)

// keyTable is a file of keys made ready. Immutable.
//
// It finds a key by its SHA-256. That look-up does not take constant time, and
// need not: how long it takes depends on the hash, whose bytes nobody can
// choose one by one to feel their way to a key that is there.
type keyTable struct {
	known map[[sha256.Size]byte]keyOwner
}

// keyOwner is what a key stands for. Keys of one name share their buckets.
type keyOwner struct{ name, plan string }

// KeysError is what is wrong with a file of keys. It never holds a key.
type KeysError struct {
	File string
	Line int // from 1; 0 when it is about the whole file
	Why  string
}

func (e *KeysError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Why)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}

// hashedPrefix begins a key that the file holds as a hash only.
const hashedPrefix = "sha256:"

// parseKeys reads a file of keys: one a line, KEY PLAN [NAME], separated by
// spaces or tabs; a plan of - is none; lines that are empty or begin with #
// say nothing. KEY may be sha256: and the 64 hex digits of the key's SHA-256.
//
// NAME is what rules, overrides, counts and the store call the key. Without
// one it is the key itself, or the first 16 digits of a hash.
func parseKeys(data []byte, file string) (*keyTable, error) {
	if len(data) > maxKeysFile {
		return nil, &KeysError{file, 0, fmt.Sprintf("longer than %d MiB", maxKeysFile>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors put it before UTF-8
	t := &keyTable{known: map[[sha256.Size]byte]keyOwner{}}
	lines := map[[sha256.Size]byte]int{}
	short := map[string]int{} // names made from hashes
	named := map[string]int{} // the first line of each name
	plans := map[string]string{}
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		data = rest
		fail := func(why string, args ...any) (*keyTable, error) {
			return nil, &KeysError{file, number, fmt.Sprintf(why, args...)}
		}
		if len(line) > maxKeyLine {
			return fail("longer than %d bytes", maxKeyLine)
		}
		if !utf8.Valid(line) {
			return fail("not UTF-8")
		}
		fields := strings.Fields(string(line))
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if len(fields) < 2 || len(fields) > 3 {
			return fail("has %d fields, want KEY PLAN [NAME]", len(fields))
		}
		sum, name, why := readKey(fields[0])
		if why != "" {
			return fail("%s", why)
		}
		owner := keyOwner{name: name, plan: fields[1]}
		if owner.plan == "-" {
			owner.plan = ""
		} else if !planName(owner.plan) {
			return fail("plan is not a name of letters, digits, - _ and . of at most %d", maxPlan)
		}
		if len(fields) == 3 {
			owner.name = fields[2]
			if len(owner.name) > maxKey || !printable(owner.name) {
				return fail("name is longer than %d bytes or not printable", maxKey)
			}
		} else if strings.HasPrefix(fields[0], hashedPrefix) {
			if first, taken := short[name]; taken {
				return fail("begins as the hash on line %d does: give it a name", first)
			}
			short[name] = number
		}
		if first, twice := lines[sum]; twice {
			return fail("the same key as on line %d", first)
		}
		// One bucket under two plans' limits would belong to neither.
		if first, taken := named[owner.name]; !taken {
			named[owner.name], plans[owner.name] = number, owner.plan
		} else if plans[owner.name] != owner.plan {
			return fail("its name has another plan on line %d", first)
		}
		lines[sum] = number
		t.known[sum] = owner
	}
	return t, nil
}

// readKey reads the first field of a line: the hash to look up, and the name
// of a key that is given none. why says what is wrong without telling the key.
func readKey(field string) (sum [sha256.Size]byte, name, why string) {
	text, isHash := strings.CutPrefix(field, hashedPrefix)
	if !isHash {
		if len(field) > maxKey || !printable(field) {
			return sum, "", fmt.Sprintf("key is longer than %d bytes or not printable", maxKey)
		}
		return sha256.Sum256([]byte(field)), field, ""
	}
	if len(text) != hex.EncodedLen(len(sum)) {
		return sum, "", fmt.Sprintf("sha256: has %d digits, want 64", len(text))
	}
	if _, err := hex.Decode(sum[:], []byte(text)); err != nil {
		return sum, "", "sha256: is not followed by hex digits"
	}
	return sum, hashedPrefix + hex.EncodeToString(sum[:8]), ""
}

// find returns the owner of a key that a caller showed.
func (t *keyTable) find(key string) (keyOwner, bool) {
	if key == "" || len(key) > maxKey {
		return keyOwner{}, false
	}
	o, ok := t.known[sha256.Sum256([]byte(key))]
	return o, ok
}

func (t *keyTable) len() int { return len(t.known) }

// planName reports whether s can name a plan: it stands in rules and in URLs.
func planName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !alnum && (i == 0 || c != '-' && c != '_' && c != '.') {
			return false
		}
	}
	return s != "" && len(s) <= maxPlan
}

// printable reports whether s has no control characters and no spaces.
func printable(s string) bool {
	for _, r := range s {
		if r <= ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == utf8.RuneError {
			return false
		}
	}
	return true
}
