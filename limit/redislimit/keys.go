package redislimit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prefix begins the keys of whoever names no other.
const Prefix = "rl"

// maxSubject is the longest subject, in bytes, that a key holds in full. Of a
// longer one the first subjectStart bytes and a digest stand there.
const (
	maxSubject   = 200
	subjectStart = 32
)

// Key names the state of one rule for one subject: "rl:{k-7}:requests". All
// keys of a subject share the slot of a cluster, since only what is in braces
// counts for it. An empty prefix is [Prefix], an empty subject "-".
//
// No two different pairs share a key: what would end the tag or the name, or
// could not be printed, stands there as %XX, and a subject of more than 200
// bytes as its start, "~" and its SHA-256. The prefix must hold no brace.
func Key(prefix, subject, rule string) string {
	if prefix == "" {
		prefix = Prefix
	}
	return prefix + ":{" + escapeSubject(subject) + "}:" + escape(rule)
}

func escapeSubject(s string) string {
	switch {
	case s == "":
		return "-"
	case s == "-":
		return "%2D"
	case len(s) > maxSubject:
		sum := sha256.Sum256([]byte(s))
		return escape(s[:subjectStart]) + "~" + hex.EncodeToString(sum[:])
	}
	return escape(s)
}

// escape returns s itself when there is nothing to escape.
func escape(s string) string {
	i := 0
	for i < len(s) && plain(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if plain(s[i]) || size > 1 && unicode.IsPrint(r) {
			b.WriteString(s[i : i+size])
			i += size
			continue
		}
		for range size {
			b.Write([]byte{'%', digits[s[i]>>4], digits[s[i]&15]})
			i++
		}
	}
	return b.String()
}

// plain reports whether c stands for itself in a key.
func plain(c byte) bool {
	return c > ' ' && c < 0x7f && c != '{' && c != '}' && c != '%' && c != '~'
}

// clusterSlots is how many a cluster has.
const clusterSlots = 1 << 14

// slotOf is the slot of a cluster that key belongs to: the CRC-16 of what is
// in the first pair of braces, or of all of it when that is empty or missing.
func slotOf(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	crc := uint16(0)
	for i := range len(key) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^key[i]]
	}
	return int(crc % clusterSlots)
}

// crcTable is of CRC-16/XMODEM: polynomial 0x1021, nothing reflected.
var crcTable = func() (t [256]uint16) {
	for i := range t {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
		t[i] = crc
	}
	return t
}()
