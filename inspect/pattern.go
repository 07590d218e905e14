package inspect

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Pattern is the form of a key's name: text in which <name> stands for what
// differs. <name:kind> says what it is made of, one of kinds (text by default)
// or one of several words with | between them.
// <name-1> is the number before that of <name>. << is a <.
type Pattern struct {
	text  string
	parts []patternPart
	match *regexp.Regexp
}

// patternPart is a literal, or a placeholder when name is set.
type patternPart struct {
	literal string
	name    string
	kind    string
	offset  int64
}

// kinds are what placeholders may be made of.
var kinds = map[string]string{
	"text":    `.+`,
	"word":    `[^:]+`,
	"digits":  `[0-9]{1,19}`,
	"hex":     `[0-9a-f]+`,
	"tag":     `[^{}]+`,
	"route":   `[^{}.]+`,
	"seconds": `[12][0-9]{9}`,
	"nanos":   `[12][0-9]{18}`,
	"uint64":  `[0-9]{1,20}`,
	"any":     `.*`,
	"part":    `[^:_]+`,
	"date":    `[0-9]{4}-[0-9]{2}-[0-9]{2}`,
	"prefix":  `(?:.*[^0-9A-Za-z])?`, // nothing, or what ends with a separator
	"sha1":    `[0-9a-f]{40}`,
	"sha256":  `[0-9a-f]{64}`,
	"hash":    `[0-9a-f]{40}|[0-9a-f]{32}`,
	"base64":  `[0-9A-Za-z+/]{27}=`, // of a SHA-1
}

// ParsePattern reads the form of a name.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	expr := strings.Builder{}
	expr.WriteString(`(?s)\A`)
	literal := func(s string) {
		if s == "" {
			return
		}
		expr.WriteString(regexp.QuoteMeta(s))
		if n := len(p.parts); n > 0 && p.parts[n-1].name == "" {
			p.parts[n-1].literal += s
			return
		}
		p.parts = append(p.parts, patternPart{literal: s})
	}
	for rest := text; rest != ""; {
		at := strings.IndexByte(rest, '<')
		if at < 0 {
			literal(rest)
			break
		}
		literal(rest[:at])
		rest = rest[at+1:]
		if strings.HasPrefix(rest, "<") {
			literal("<")
			rest = rest[1:]
			continue
		}
		inner, after, ok := strings.Cut(rest, ">")
		if !ok {
			return Pattern{}, fmt.Errorf("a < without its >")
		}
		part, class, err := parsePlaceholder(inner)
		if err != nil {
			return Pattern{}, err
		}
		p.parts = append(p.parts, part)
		expr.WriteString("(" + class + ")")
		rest = after
	}
	if len(p.parts) == 0 {
		return Pattern{}, fmt.Errorf("is empty")
	}
	expr.WriteString(`\z`)
	var err error
	p.match, err = regexp.Compile(expr.String())
	return p, err
}

var placeholderName = regexp.MustCompile(`\A([a-z][a-z-]*[a-z]|[a-z])(-1)?\z`)

func parsePlaceholder(inner string) (patternPart, string, error) {
	name, kind, _ := strings.Cut(inner, ":")
	m := placeholderName.FindStringSubmatch(name)
	if m == nil {
		return patternPart{}, "", fmt.Errorf("<%s> is no placeholder such as <id>, <window:digits> or <window-1>", inner)
	}
	part := patternPart{name: m[1], kind: kind}
	if m[2] != "" {
		part.offset, part.kind = -1, "digits"
	}
	if part.kind == "" {
		part.kind = "text"
	}
	if class, ok := kinds[part.kind]; ok {
		return part, class, nil
	}
	var words []string
	for word := range strings.SplitSeq(part.kind, "|") {
		words = append(words, regexp.QuoteMeta(word))
	}
	if len(words) < 2 {
		return patternPart{}, "", fmt.Errorf("<%s> has a kind that is none of weir's and no words with | between them", inner)
	}
	return part, strings.Join(words, "|"), nil
}

// String is the form as it was written.
func (p Pattern) String() string { return p.text }

// Names are those of the placeholders, in order, each once.
func (p Pattern) Names() []string {
	var names []string
	seen := map[string]bool{}
	for _, part := range p.parts {
		if part.name != "" && !seen[part.name] {
			seen[part.name] = true
			names = append(names, part.name)
		}
	}
	return names
}

// Match gives what stands for each placeholder in key.
func (p Pattern) Match(key string) (map[string]string, bool) {
	if !p.may(key) {
		return nil, false
	}
	if name, value, ok := p.only(key); ok {
		return map[string]string{name: value}, value != ""
	}
	found := p.match.FindStringSubmatch(key)
	if found == nil {
		return nil, false
	}
	values := map[string]string{}
	i := 0
	for _, part := range p.parts {
		if part.name == "" {
			continue
		}
		i++
		value := found[i]
		if part.offset != 0 {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return nil, false
			}
			value = strconv.FormatInt(n-part.offset, 10)
		}
		if before, ok := values[part.name]; ok && before != value {
			return nil, false
		}
		values[part.name] = value
	}
	return values, true
}

// only is what stands for the one placeholder of a form that has no more, where
// that may be any text: most forms are such, and need no regular expression.
// The key begins and ends as the form does.
func (p Pattern) only(key string) (name, value string, ok bool) {
	for _, part := range p.parts {
		switch {
		case part.name == "":
		case name != "" || part.kind != "text":
			return "", "", false
		default:
			name, ok = part.name, true
		}
	}
	if !ok {
		return "", "", false
	}
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	if len(first.literal)+len(last.literal) > len(key) {
		return name, "", true
	}
	return name, key[len(first.literal) : len(key)-len(last.literal)], true
}

// may reports whether key begins and ends as the names do.
func (p Pattern) may(key string) bool {
	return len(p.parts) > 0 && key != "" && strings.HasPrefix(key, p.parts[0].literal) && strings.HasSuffix(key, p.parts[len(p.parts)-1].literal)
}

// Fill is the name with values in the placeholders' places. missing is the
// first placeholder that has none, or cannot have the one given.
func (p Pattern) Fill(values map[string]string) (key, missing string) {
	var b strings.Builder
	for _, part := range p.parts {
		if part.name == "" {
			b.WriteString(part.literal)
			continue
		}
		value, ok := values[part.name]
		if !ok || value == "" && part.kind != "prefix" && part.kind != "any" {
			return "", part.name
		}
		if part.offset != 0 {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n+part.offset < 0 {
				return "", part.name
			}
			value = strconv.FormatInt(n+part.offset, 10)
		}
		b.WriteString(value)
	}
	if _, ok := p.Match(b.String()); !ok {
		return "", p.Names()[0]
	}
	return b.String(), ""
}

// Glob is a pattern of SCAN and KEYS that every such name fits.
func (p Pattern) Glob() string {
	var b strings.Builder
	for _, part := range p.parts {
		if part.name != "" {
			b.WriteByte('*')
			continue
		}
		for i := range len(part.literal) {
			if strings.IndexByte(`*?[]\^-`, part.literal[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(part.literal[i])
		}
	}
	return b.String()
}

// literals is how many bytes of the name are fixed.
func (p Pattern) literals() int {
	n := 0
	for _, part := range p.parts {
		n += len(part.literal)
	}
	return n
}
