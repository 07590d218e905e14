package gateway

import (
	"crypto/sha256"
	"encoding/hex"
)

// hashed shows a key without telling it, in the form in which a load run shows
// keys from a file, so that the two can be held against each other.
func hashed(key string) string { return shortHash("key#", key, 4) }

// HashedKey is the long form, for where no two keys may ever be taken for one
// another. It begins with the short one.
func HashedKey(key string) string { return shortHash("key#", key, 16) }

// HashedAddress hides an address from the eye, though not from somebody who
// tries them all.
func HashedAddress(address string) string { return shortHash("address#", address, 4) }

func shortHash(prefix, s string, bytes int) string {
	sum := sha256.Sum256([]byte(s))
	return prefix + hex.EncodeToString(sum[:bytes])
}

// ShownNames are the names under which counts, logs and meters may have a
// caller: as it is typed, and as each hides it.
func ShownNames(caller string) []string {
	return []string{caller, hashed(caller), HashedKey(caller), HashedAddress(caller)}
}
