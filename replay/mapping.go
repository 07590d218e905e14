package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Mapping says what a script's KEYS and ARGV are made of.
type Mapping struct {
	Keys, Args []template
	recorded   bool     // as the capture has them
	window     int64    // of the limit, ns, for {window}
	Fields     []string // of the trace, for Options.Fields
}

// template is text with parts that each call fills in.
type template []part

// part is literal text, or where a value comes from.
type part struct {
	text  string
	from  source
	index int // of a field, a recorded key or argument, or a reply
}

type source uint8

const (
	fromText source = iota
	fromKey
	fromCost
	fromNowS
	fromNowMS
	fromNowUS
	fromNowNS
	fromWindow       // that now is in
	fromWindowBefore // and the one before
	fromNumber       // of the call, from 1
	fromField
	fromKeys
	fromArgs
	fromReply
)

var sources = map[string]source{"key": fromKey, "cost": fromCost, "n": fromNumber,
	"now.s": fromNowS, "now.ms": fromNowMS, "now.us": fromNowUS, "now.ns": fromNowNS,
	"window": fromWindow, "window.before": fromWindowBefore}

// MapError is a mapping that cannot be read.
type MapError struct{ Text, Problem, Hint string }

func (e *MapError) Error() string { return fmt.Sprintf("--map %q %s", e.Text, e.Problem) }

// Recorded is the mapping of a capture: its own keys and arguments.
func Recorded() *Mapping { return &Mapping{recorded: true} }

// ParseMapping reads KEYS[N]=TEMPLATE and ARGV[N]=TEMPLATE. A template is text
// with {key}, {cost}, {now.s}, {now.ms}, {now.us}, {now.ns}, {n} (the number of
// the call), {window} and {window.before} (the number of the limit's window since
// 1970, by the caller's clock), {limit.NAME} (a number of spec, which may be nil)
// and any other field of the trace in braces. {{ is a brace. {reply[N]} is a value of the
// half before.
func ParseMapping(texts []string, spec *limit.Spec) (*Mapping, error) {
	m := &Mapping{}
	for _, text := range texts {
		place, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, &MapError{text, "has no =", "--map 'KEYS[1]={key}'"}
		}
		place = strings.TrimSpace(place)
		list := &m.Keys
		n, ok := indexed(place, "KEYS")
		if !ok {
			list = &m.Args
			n, ok = indexed(place, "ARGV")
		}
		if !ok {
			return nil, &MapError{text, "names neither KEYS[N] nor ARGV[N]", "--map 'ARGV[1]={cost}'"}
		}
		t, err := m.template(text, value, spec)
		if err != nil {
			return nil, err
		}
		for len(*list) < n {
			*list = append(*list, nil)
		}
		if (*list)[n-1] != nil {
			return nil, &MapError{text, "is the second for " + place, "one --map for each"}
		}
		(*list)[n-1] = t
	}
	for _, l := range []struct {
		name string
		list []template
	}{{"KEYS", m.Keys}, {"ARGV", m.Args}} {
		for i, t := range l.list {
			if t == nil {
				return nil, &MapError{fmt.Sprintf("%s[%d]", l.name, i+1), "is missing, and a later one is there", fmt.Sprintf("--map '%s[%d]=…'", l.name, i+1)}
			}
		}
	}
	return m, nil
}

func (m *Mapping) template(whole, text string, spec *limit.Spec) (template, error) {
	t := template{}
	literal := func(s string) {
		if n := len(t); n > 0 && t[n-1].from == fromText {
			t[n-1].text += s
		} else if s != "" {
			t = append(t, part{text: s})
		}
	}
	for text != "" {
		before, rest, ok := strings.Cut(text, "{")
		literal(before)
		if !ok {
			break
		}
		if strings.HasPrefix(rest, "{") {
			literal("{")
			text = rest[1:]
			continue
		}
		name, after, ok := strings.Cut(rest, "}")
		if !ok {
			return nil, &MapError{whole, "has a { without }", "{{ is a brace"}
		}
		text = after
		if src, ok := sources[name]; ok {
			if src == fromWindow || src == fromWindowBefore {
				if m.window = windowOf(spec); m.window <= 0 {
					return nil, &MapError{whole, "asks for {" + name + "}, and there is no limit with a window", "--limit 10/s, or --limit sliding-counter:limit=100,window=60s"}
				}
			}
			t = append(t, part{from: src})
			continue
		}
		if number, ok := strings.CutPrefix(name, "limit."); ok {
			v, ok := limitNumber(spec, number)
			if !ok {
				return nil, &MapError{whole, "asks for {" + name + "}, which the limit does not have", "{limit.rate}, {limit.burst}, {limit.count}, {limit.window.s} and {limit.window.ms}, with --limit"}
			}
			literal(v)
			continue
		}
		if p, ok := listed(name); ok {
			t = append(t, p)
			continue
		}
		if !JSONField(name) {
			return nil, &MapError{whole, "has {" + name + "}, which names nothing", "{key}, {cost}, {now.us} or a field of the trace"}
		}
		i := slices.Index(m.Fields, name)
		if i < 0 {
			i = len(m.Fields)
			m.Fields = append(m.Fields, name)
		}
		t = append(t, part{from: fromField, index: i})
	}
	return t, nil
}

// listed reads keys[N], args[N] and reply[N].
func listed(name string) (part, bool) {
	for _, l := range []struct {
		name string
		from source
	}{{"keys", fromKeys}, {"args", fromArgs}, {"reply", fromReply}} {
		if n, ok := indexed(name, l.name); ok {
			return part{from: l.from, index: n}, true
		}
	}
	return part{from: fromReply}, name == "reply"
}

// windowOf is a limit's window, or its rate's time, in ns; 0 is none.
func windowOf(s *limit.Spec) int64 {
	switch {
	case s == nil:
		return 0
	case s.Rate.Units > 0:
		return int64(s.Rate.Per)
	}
	return int64(s.Window)
}

// limitNumber is a number of a limit as a script takes it.
func limitNumber(s *limit.Spec, name string) (string, bool) {
	if s == nil {
		return "", false
	}
	count, window := s.Limit, time.Duration(windowOf(s))
	if s.Rate.Units > 0 {
		count = s.Rate.Units
	}
	switch name {
	case "rate": // a second
		if s.Rate.Units > 0 {
			return strconv.FormatFloat(float64(s.Rate.Units)/s.Rate.Per.Seconds(), 'f', -1, 64), true
		}
	case "burst":
		if s.Burst > 0 {
			return strconv.FormatInt(s.Burst, 10), true
		}
	case "count": // of a window, or of the rate's time
		if count > 0 {
			return strconv.FormatInt(count, 10), true
		}
	case "window.s":
		if window > 0 {
			return strconv.FormatFloat(window.Seconds(), 'f', -1, 64), true
		}
	case "window.ms":
		if window > 0 {
			return strconv.FormatInt(window.Milliseconds(), 10), true
		}
	}
	return "", false
}

// filled is what a call gives to its script.
type filled struct {
	keys, args []string
}

// times of a call: what {now} is, which a skewed caller's clock differs in.
type moment struct {
	now    int64 // unix ns
	number int64
	reply  any // of the half before
}

// fill makes a call's keys, behind prefix, and arguments.
func (m *Mapping) fill(c *Call, prefix string, at moment) filled {
	var f filled
	if m.recorded {
		for _, k := range c.Keys {
			f.keys = append(f.keys, prefix+string(k))
		}
		for _, a := range c.Args {
			f.args = append(f.args, string(a))
		}
		return f
	}
	for _, t := range m.Keys {
		f.keys = append(f.keys, prefix+t.fill(c, at, m.window))
	}
	for _, t := range m.Args {
		f.args = append(f.args, t.fill(c, at, m.window))
	}
	return f
}

func (t template) fill(c *Call, at moment, window int64) string {
	if len(t) == 1 && t[0].from == fromText {
		return t[0].text
	}
	var b []byte
	for i := range t {
		b = t[i].append(b, c, at, window)
	}
	return string(b)
}

func (p *part) append(b []byte, c *Call, at moment, window int64) []byte {
	switch p.from {
	case fromKey:
		return append(b, c.Key...)
	case fromCost:
		return strconv.AppendInt(b, c.Cost, 10)
	case fromNowS:
		return strconv.AppendInt(b, at.now/1e9, 10)
	case fromNowMS:
		return strconv.AppendInt(b, at.now/1e6, 10)
	case fromNowUS:
		return strconv.AppendInt(b, at.now/1e3, 10)
	case fromNowNS:
		return strconv.AppendInt(b, at.now, 10)
	case fromWindow:
		return strconv.AppendInt(b, at.now/window, 10)
	case fromWindowBefore:
		return strconv.AppendInt(b, at.now/window-1, 10)
	case fromNumber:
		return strconv.AppendInt(b, at.number, 10)
	case fromField:
		return append(b, nth(c.Values, p.index)...)
	case fromKeys:
		return append(b, nth(c.Keys, p.index-1)...)
	case fromArgs:
		return append(b, nth(c.Args, p.index-1)...)
	case fromReply:
		return append(b, replyText(element(at.reply, p.index))...)
	}
	return append(b, p.text...)
}

// clocked reports whether the caller's clock is among the arguments, or in a
// key's name.
func (m *Mapping) clocked() bool {
	timed := func(t template) bool {
		return slices.ContainsFunc(t, func(p part) bool { return p.from >= fromNowS && p.from <= fromWindowBefore })
	}
	return slices.ContainsFunc(m.Args, timed) || slices.ContainsFunc(m.Keys, timed)
}

// costed reports whether the cost is among the arguments.
func (m *Mapping) costed() bool {
	return slices.ContainsFunc(m.Args, func(t template) bool {
		return slices.ContainsFunc(t, func(p part) bool { return p.from == fromCost })
	})
}
