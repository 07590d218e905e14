package rules

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weir-cli/weir/limit"
)

// EditError tells why a set cannot be changed as asked.
type EditError struct {
	Msg, Hint string
	// Missing means that what was to be changed is not there, Unfit that the
	// words that were asked for cannot stand in a file.
	Missing, Unfit bool
}

func (e *EditError) Error() string { return e.Msg }

// errInPlace is for a text that is right and written in a way that a change
// does not know.
var errInPlace = &EditError{
	Msg:  "the rules are written in a way that cannot be changed in place",
	Hint: "write the limits and overrides one a line, or change the file and push it: weir serve rules push",
}

// Text is what s was read from; nil when it came from no text. It must not be
// changed.
func (s *Set) Text() []byte { return s.lines.text }

// SetLimit is s in the next version with another limit for a plan under a
// rule, or with another default for the plan "default". Comments stay. What
// the change makes of the set is not judged: see [Set.Check].
func (s *Set) SetLimit(rule, plan string, spec limit.Spec) (*Set, error) {
	e, r, err := s.edit(rule)
	if err != nil {
		return nil, err
	}
	from := "plan " + plan
	l := r.plans[plan]
	if plan == "default" {
		from, l = plan, r.def
	}
	quoted := strconv.Quote(spec.String())
	if l != nil {
		e.replaceLimit(l, quoted)
	} else {
		entry := "{plan: " + strconv.Quote(plan) + ", limit: " + quoted + "}"
		if plan == "default" {
			entry = "{default: true, limit: " + quoted + "}"
		}
		if r.flow {
			e.intoBrackets(r.list, entry, len(r.Limits) == 0)
		} else {
			e.beforeLine(r.list, entry)
		}
	}
	return e.apply(func(now *Set) bool {
		r := now.Rule(rule)
		l := r.plans[plan]
		if plan == "default" {
			l = r.def
		}
		return l != nil && l.From == from && l.Spec == spec
	})
}

// SetOverride is s in the next version with an override for a key under a
// rule, in place of the one it may have.
func (s *Set) SetOverride(key, rule string, spec limit.Spec, reason string, expires time.Time) (*Set, error) {
	e, _, err := s.edit(rule)
	if err != nil {
		return nil, err
	}
	entry := fmt.Sprintf("{key: %s, rule: %s, limit: %s, reason: %s, expires: %s}", strconv.Quote(key), rule,
		strconv.Quote(spec.String()), strconv.Quote(reason), expires.UTC().Format(time.RFC3339Nano))
	at := &s.lines
	switch o := s.Override(key, rule); {
	case o != nil && o.from > 0:
		e.replaceLines(o.from, o.to, e.indent(o.from)+"- "+entry+"\n")
	case o != nil || at.brackets && !at.flow:
		e.bad = true
	case at.flow:
		e.intoBrackets(at.list, entry, len(s.Overrides) == 0)
	case at.items:
		last := s.Overrides[len(s.Overrides)-1]
		e.afterLine(last.to, e.indent(s.Overrides[0].from)+"- "+entry+"\n")
	case at.overrides.line > 0:
		e.afterLine(at.overrides.line, "  - "+entry+"\n")
	default:
		e.atEnd("overrides:\n  - " + entry + "\n")
	}
	return e.apply(func(now *Set) bool {
		o := now.Override(key, rule)
		return o != nil && o.Limit.Spec == spec && o.Reason == reason && o.Expires.Equal(expires)
	})
}

// DropOverride is s in the next version without the override.
func (s *Set) DropOverride(key, rule string) (*Set, error) {
	e, _, err := s.edit(rule)
	if err != nil {
		return nil, err
	}
	o := s.Override(key, rule)
	switch {
	case o == nil:
		return nil, &EditError{Msg: "the key has no override of rule " + rule, Missing: true}
	case o.from == 0:
		return nil, errInPlace
	}
	e.replaceLines(o.from, o.to, "")
	return e.apply(func(now *Set) bool { return now.Override(key, rule) == nil })
}

// editor gathers changes of a text and makes them at once.
type editor struct {
	set   *Set
	lines [][]byte
	cuts  []cut
	bad   bool // the text is not as expected
}

// cut replaces some bytes of one line, from 1.
type cut struct {
	line, from, to int
	text           string
}

func (s *Set) edit(rule string) (*editor, *Rule, error) {
	r := s.Rule(rule)
	switch {
	case s.lines.text == nil:
		return nil, nil, &EditError{Msg: "the rules come from no file", Hint: "start with a rule file"}
	case r == nil:
		return nil, nil, &EditError{Msg: "there is no rule " + shown(rule), Missing: true}
	case s.Version >= MaxVersion:
		return nil, nil, &EditError{Msg: "the version cannot grow any more"}
	}
	e := &editor{set: s, lines: bytes.SplitAfter(s.lines.text, []byte("\n"))}
	from, ok := e.offset(s.lines.version)
	old := strconv.FormatInt(s.Version, 10)
	if !ok || !bytes.HasPrefix(e.line(s.lines.version.line)[from:], []byte(old)) {
		return nil, nil, errInPlace
	}
	e.cuts = append(e.cuts, cut{s.lines.version.line, from, from + len(old), strconv.FormatInt(s.Version+1, 10)})
	return e, r, nil
}

func (e *editor) line(n int) []byte { return e.lines[n-1] }

// offset is where in its line a spot is, in bytes.
func (e *editor) offset(at spot) (int, bool) {
	if at.line < 1 || at.line > len(e.lines) {
		return 0, false
	}
	text, from := e.line(at.line), 0
	for range at.column - 1 {
		_, n := utf8.DecodeRune(text[from:])
		if from += n; from >= len(text) {
			return 0, false
		}
	}
	return from, true
}

func (e *editor) replaceLimit(l *Limit, quoted string) {
	from, ok := e.offset(l.at)
	if !ok {
		e.bad = true
		return
	}
	for _, n := range ends(e.line(l.at.line)[from:]) {
		text := string(e.line(l.at.line)[from : from+n])
		if plain, err := strconv.Unquote(text); err == nil && text[0] == '"' {
			text = plain
		} else if text[0] == '\'' {
			text = strings.Trim(text, "'")
		}
		if spec, err := limit.ParseSpec(text); err == nil && spec == l.Spec {
			e.cuts = append(e.cuts, cut{l.at.line, from, from + n, quoted})
			return
		}
	}
	e.bad = true
}

// ends are the lengths that a scalar at the start of a line's rest may have:
// up to its quote, or as a plain one in brackets or outside of them.
func ends(rest []byte) []int {
	rest = bytes.TrimRight(rest, "\r\n")
	if len(rest) == 0 {
		return nil
	}
	if q := rest[0]; q == '"' || q == '\'' {
		if i := bytes.IndexByte(rest[1:], q); i >= 0 {
			return []int{i + 2}
		}
		return nil
	}
	plain, _, _ := bytes.Cut(rest, []byte(" #"))
	out := []int{len(bytes.TrimRight(plain, " \t"))}
	if i := bytes.IndexAny(plain, ",}]"); i >= 0 {
		out = append(out, len(bytes.TrimRight(plain[:i], " \t")))
	}
	return out
}

func (e *editor) intoBrackets(at spot, entry string, empty bool) {
	from, ok := e.offset(at)
	if !ok || e.line(at.line)[from] != '[' {
		e.bad = true
		return
	}
	if !empty {
		entry += ", "
	}
	e.cuts = append(e.cuts, cut{at.line, from + 1, from + 1, entry})
}

// beforeLine makes an entry of a list before the one whose dash is at a spot.
func (e *editor) beforeLine(at spot, entry string) {
	from, ok := e.offset(at)
	if !ok || e.line(at.line)[from] != '-' || len(bytes.TrimSpace(e.line(at.line)[:from])) > 0 {
		e.bad = true
		return
	}
	e.cuts = append(e.cuts, cut{at.line, 0, 0, strings.Repeat(" ", from) + "- " + entry + "\n"})
}

func (e *editor) afterLine(n int, text string) {
	l := e.line(n)
	if !bytes.HasSuffix(l, []byte("\n")) {
		text = "\n" + text
	}
	e.cuts = append(e.cuts, cut{n, len(l), len(l), text})
}

func (e *editor) atEnd(text string) {
	n := len(e.lines)
	if len(e.line(n)) == 0 && n > 1 {
		n--
	}
	e.afterLine(n, text)
}

func (e *editor) replaceLines(from, to int, text string) {
	for n := from; n <= to; n++ {
		e.cuts = append(e.cuts, cut{n, 0, len(e.line(n)), text})
		text = ""
	}
}

// indent is the space before a line's dash.
func (e *editor) indent(n int) string {
	l := e.line(n)
	return string(l[:len(l)-len(bytes.TrimLeft(l, " "))])
}

// apply makes the changes and reads what came of them, which must be right
// and nothing but what was asked for.
func (e *editor) apply(right func(now *Set) bool) (*Set, error) {
	if e.bad {
		return nil, errInPlace
	}
	byLine := map[int][]cut{}
	for _, c := range e.cuts {
		byLine[c.line] = append(byLine[c.line], c)
	}
	out := make([]byte, 0, len(e.set.lines.text)+1024)
	for i, l := range e.lines {
		cuts := byLine[i+1]
		// Two in one line are the version and something else.
		if len(cuts) == 2 && cuts[1].from < cuts[0].from {
			cuts[0], cuts[1] = cuts[1], cuts[0]
		}
		done := 0
		for _, c := range cuts {
			out = append(append(out, l[done:c.from]...), c.text...)
			done = c.to
		}
		out = append(out, l[done:]...)
	}
	now, err := Parse(out, "the changed rules")
	var all Errors
	if errors.As(err, &all) {
		// What was asked for can be at fault only in its own words.
		return nil, &EditError{Msg: all[0].Msg, Hint: all[0].Hint, Unfit: true}
	}
	if !right(now) || now.Version != e.set.Version+1 || len(Diff(e.set, now, 0)) > 2 {
		return nil, errInPlace
	}
	return now, nil
}
