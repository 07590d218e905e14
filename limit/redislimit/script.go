package redislimit

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
)

//go:embed lua/*.lua
var sources embed.FS

// Script is a Lua script and the digest that EVALSHA calls it by. Immutable.
type Script struct {
	name   string // for messages, such as "check:gt"
	source string
	sha    string
}

func newScript(name, source string) *Script {
	sum := sha1.Sum([]byte(source))
	return &Script{name: name, source: source, sha: hex.EncodeToString(sum[:])}
}

// luaSource is the named files of lua/ in order, without their comments, which
// are for those who read the files.
func luaSource(files ...string) string {
	var b strings.Builder
	for _, file := range files {
		text, err := sources.ReadFile("lua/" + file + ".lua")
		if err != nil {
			panic("redislimit: " + err.Error()) // a name in this package is wrong
		}
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "-- ")
			if line = strings.TrimSpace(line); line != "" && line != "--" {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

// scriptKey is a main file and the letters it needs, a bit for each.
type scriptKey struct {
	main    string
	letters uint32
}

var scripts = struct {
	sync.RWMutex
	of map[scriptKey]*Script
}{of: map[scriptKey]*Script{}}

// scriptFor is the check of these parts. Parts of the same algorithms share it.
func scriptFor(parts []Part) *Script {
	key := scriptKey{main: "main"}
	for i := range parts {
		key.letters |= letterBit(parts[i].Rule.letter)
	}
	return scriptOf(key)
}

// leaseScript takes a block of a rule, and giveScript gives units back.
func leaseScript(r *Rule) *Script { return scriptOf(scriptKey{"lease", letterBit(r.letter)}) }
func giveScript(r *Rule) *Script  { return scriptOf(scriptKey{"give", letterBit(r.letter)}) }

func letterBit(letter string) uint32 { return 1 << (letter[0] - 'a') }

func scriptOf(key scriptKey) *Script {
	scripts.RLock()
	s := scripts.of[key]
	scripts.RUnlock()
	if s != nil {
		return s
	}
	s = assemble(key)
	scripts.Lock()
	defer scripts.Unlock()
	if other := scripts.of[key]; other != nil {
		return other
	}
	scripts.of[key] = s
	return s
}

// assemble is the prelude, what the fragments build on, the fragments in order
// of their letters, and the main part.
func assemble(key scriptKey) *Script {
	var used []algorithm
	for _, a := range algorithms {
		if key.letters&letterBit(a.letter) != 0 {
			used = append(used, a)
		}
	}
	slices.SortFunc(used, func(a, b algorithm) int { return strings.Compare(a.letter, b.letter) })
	files, letters := []string{"prelude"}, ""
	for _, a := range used {
		if a.base != "" && !slices.Contains(files, a.base) {
			files = append(files, a.base)
		}
	}
	for _, a := range used {
		files = append(files, a.file)
		letters += a.letter
	}
	return newScript(key.main+":"+letters, luaSource(append(files, key.main)...))
}
