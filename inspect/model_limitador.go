package inspect

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
)

// The model "limitador": a counter whose name says what it counts. That of a
// limit without an id is JSON, with the window and the variables; that of one
// with an id has the id and the variables, each text after its length.

func decodeLimitador(f *frame) *verdict {
	text := f.parts["counter"]
	if c, ok := readLimitadorJSON(text); ok {
		if c.seconds > 0 {
			f.parts["seconds"] = strconv.FormatInt(c.seconds, 10)
		}
		f.r.ID = listVariables(c.variables)
	} else if rule, variables, ok := readLimitadorID(text); ok {
		f.r.Rule, f.r.ID = rule, listVariables(variables)
	}
	return decodeCounter(f)
}

// limitadorCounter is what the name of a limit without an id says.
type limitadorCounter struct {
	seconds   int64 // 0 when it does not say
	variables map[string]string
}

func readLimitadorJSON(text string) (c limitadorCounter, ok bool) {
	if len(text) > 1<<16 {
		return c, false
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &outer) != nil {
		return c, false
	}
	for _, raw := range []json.RawMessage{json.RawMessage(text), outer["limit"]} {
		var one struct{ Seconds int64 }
		if json.Unmarshal(raw, &one) == nil && one.Seconds > 0 {
			c.seconds = one.Seconds
			break
		}
	}
	if json.Unmarshal(outer["set_variables"], &c.variables) != nil {
		c.variables = nil
	}
	return c, true
}

// maxVariables bounds how many variables a name is read for.
const maxVariables = 64

// readLimitadorID reads a name after its first byte: the limit's id, how many
// variables there are, and name and value of each.
func readLimitadorID(text string) (id string, variables map[string]string, ok bool) {
	take := func() (uint64, bool) {
		n, size := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
		if size <= 0 {
			return 0, false
		}
		text = text[size:]
		return n, true
	}
	word := func() (string, bool) {
		n, ok := take()
		if !ok || n > uint64(len(text)) {
			return "", false
		}
		var s string
		s, text = text[:n], text[n:]
		return s, true
	}
	if id, ok = word(); !ok || id == "" {
		return "", nil, false
	}
	n, ok := take()
	if !ok || n > maxVariables {
		return "", nil, false
	}
	variables = map[string]string{}
	for range n {
		name, ok := word()
		value, ok2 := word()
		if !ok || !ok2 {
			return "", nil, false
		}
		variables[name] = value
	}
	return id, variables, text == ""
}

// listVariables is a customer, by the variables that tell it apart; "" for none.
func listVariables(variables map[string]string) string {
	var out []string
	for _, name := range sortedKeys(variables) {
		out = append(out, name+"="+variables[name])
	}
	return strings.Join(out, ",")
}

// isLimitadorID reports whether an entry is a number under such a name.
func isLimitadorID(e *Entry) bool {
	_, _, ok := readLimitadorID(strings.TrimPrefix(e.Key, "\x02"))
	n, isNumber := parseNumber(string(e.Text))
	return ok && isNumber && n.isWhole && e.Type == "string"
}
