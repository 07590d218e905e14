package inspect

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/weir-cli/weir/profiles"
)

// hashForm is a part of a name that is a hash of others: which hash, and of
// what text.
type hashForm struct {
	sum  string
	text Pattern
}

// sums are the hashes that layouts name.
var sums = map[string]func(text string) string{
	"md5":         func(s string) string { v := md5.Sum([]byte(s)); return hex.EncodeToString(v[:]) },
	"sha1":        func(s string) string { v := sha1.Sum([]byte(s)); return hex.EncodeToString(v[:]) },
	"sha256":      func(s string) string { v := sha256.Sum256([]byte(s)); return hex.EncodeToString(v[:]) },
	"sha1-base64": func(s string) string { v := sha1.Sum([]byte(s)); return base64.StdEncoding.EncodeToString(v[:]) },
	// Ruby's Marshal of a list of two texts, which a line end divides here. The
	// second form is that of a first text that was a symbol.
	"sha1-marshal":        func(s string) string { return marshalled(s, 'T') },
	"sha1-marshal-symbol": func(s string) string { return marshalled(s, 'F') },
}

func marshalled(s string, utf8 byte) string {
	a, b, _ := strings.Cut(s, "\n")
	v := sha1.Sum([]byte("\x04\b[\aI\"" + marshalText(a) + "\x06:\x06E" + string(utf8) + "I\"" + marshalText(b) + "\x06;\x00T"))
	return hex.EncodeToString(v[:])
}

// marshalText is a text with its length, as Ruby's Marshal writes it.
func marshalText(s string) string {
	switch n := len(s); {
	case n == 0:
		return "\x00"
	case n < 123:
		return string([]byte{byte(n + 5)}) + s
	case n < 256:
		return string([]byte{1, byte(n)}) + s
	default:
		return string([]byte{2, byte(n), byte(n >> 8)}) + s
	}
}

// maxHashed bounds the hashes of one part.
const maxHashed = 16

// hashed are the hashes that a part of a name may be, given the other parts;
// none when one of those is not known.
func (g *Guesser) hashed(l *Layout, name string, set map[string]string) []string {
	var out []string
	for _, form := range l.Hashes[name] {
		out = append(out, g.hashedBy(l, form, set)...)
	}
	return out
}

func (g *Guesser) hashedBy(l *Layout, form hashForm, set map[string]string) []string {
	sets := []map[string]string{{"id": set["id"]}}
	for _, part := range form.text.Names() {
		if part == "id" {
			continue
		}
		var next []map[string]string
		for _, s := range sets {
			for _, value := range g.hashPart(l, part, set) {
				with := map[string]string{part: value}
				maps.Copy(with, s)
				next = append(next, with)
			}
		}
		sets = next[:min(len(next), maxHashed)]
	}
	var out []string
	for _, s := range sets {
		if text, lacks := form.text.Fill(s); lacks == "" {
			out = append(out, sums[form.sum](text))
		}
	}
	return out
}

// lacks is which part must be given for want of which name is not known.
func (g *Guesser) lacks(l *Layout, name string, set map[string]string) string {
	if forms := l.Hashes[name]; len(forms) > 0 {
		for _, part := range forms[0].text.Names() {
			if part != "id" && len(g.hashPart(l, part, set)) == 0 {
				return part
			}
		}
	}
	return name
}

// hashPart are the values of one part of what is hashed.
func (g *Guesser) hashPart(l *Layout, part string, set map[string]string) []string {
	n, w, ok := g.toldWindow()
	switch part {
	case "django-rate":
		if !ok || w < time.Second {
			return nil
		}
		return []string{fmt.Sprintf("%d/%ds", n, int64(w/time.Second))}
	case "django-end":
		if !ok || w < time.Second {
			return nil
		}
		return []string{strconv.FormatInt(djangoEnd(set["id"], int64(w/time.Second), g.Now/1e9), 10)}
	}
	if value, ok := set[part]; ok && part != "id" {
		return []string{value}
	}
	return g.values(l, part, set)
}

// djangoEnd is when the window of a customer ends, unix seconds: they are
// shifted by a checksum, so that those of all customers do not end at once.
func djangoEnd(id string, period, now int64) int64 {
	if period == 1 {
		return now
	}
	end := now - now%period + int64(crc32.ChecksumIEEE([]byte(id)))%period
	if end < now {
		end += period
	}
	return end
}

// hashes reads a mapping of parts to the hash and the text that they are of, or
// to several of those.
func (r layoutReader) hashes(n ast.Node, l *Layout) error {
	l.Hashes = map[string][]hashForm{}
	m, ok := n.(ast.MapNode)
	if !ok {
		return r.at(n, "hash: sha1 <rule>-<id>", "hashes is not a mapping of placeholders to a hash and its text")
	}
	for it := m.MapRange(); it.Next(); {
		name, _ := profiles.Scalar(it.Key())
		var forms []string
		read := r.list(&forms)
		if text, ok := profiles.Scalar(it.Value()); ok {
			forms, read = []string{text}, nil
		}
		if read != nil {
			if err := read(it.Value()); err != nil {
				return err
			}
		}
		if l.Hashes[name] != nil || len(l.Hashes) == maxItems {
			return r.at(it.Key(), "", "<%.40s> is a hash twice, or there are too many", name)
		}
		for _, text := range forms {
			form, err := r.hashForm(it.Value(), name, text)
			if err != nil {
				return err
			}
			l.Hashes[name] = append(l.Hashes[name], form)
		}
	}
	return nil
}

// hashForm reads HASH TEXT.
func (r layoutReader) hashForm(n ast.Node, name, text string) (hashForm, error) {
	sum, of, _ := strings.Cut(text, " ")
	if sums[sum] == nil {
		return hashForm{}, r.at(n, profiles.OneOf(sum, sortedKeys(sums)), "%.40q is no hash", sum)
	}
	p, err := ParsePattern(of)
	if err != nil {
		return hashForm{}, r.at(n, "hash: sha1 <rule>-<id>", "the text of a hash, %.60q: %v", of, err)
	}
	if slices.Contains(p.Names(), name) && name != "id" {
		return hashForm{}, r.at(n, "", "<%s> is a hash of itself", name)
	}
	return hashForm{sum, p}, nil
}
