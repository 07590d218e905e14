package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What the parser may meet. It is recursive, and its time grows with the
// square of the entries, so a hostile file could use up the stack or a minute;
// a file needs a depth of five and some hundred entries.
const (
	maxLine  = 4096 + 512 // bytes
	maxDepth = 32         // of brackets
	maxMarks = 20_000     // ends of lines, colons, commas, dashes and question marks
)

// ParseYAML gives the one node of a text that holds what, such as "one profile";
// nil when there is nothing in it. The bounds are such that a hostile text can
// neither use up the stack nor minutes. Errors are *Error under the name file.
func ParseYAML(file, what string, data []byte) (node ast.Node, err error) {
	whole := func(msg, hint string) (ast.Node, error) {
		return nil, &Error{File: file, Msg: msg, Hint: hint}
	}
	if len(data) > MaxBytes {
		return whole(fmt.Sprintf("has %d bytes; the most is %d", len(data), MaxBytes), "")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors put it before UTF-8
	if !utf8.Valid(data) {
		return whole("is not UTF-8 text", "")
	}
	if line, msg := tooMuch(data); msg != "" {
		return nil, &Error{File: file, Line: line, Column: 1, Msg: msg}
	}
	// The parser is not ours and has been seen to panic on broken text.
	defer func() {
		if r := recover(); r != nil {
			node, err = whole("is not YAML that can be read", "check brackets, quotes and indentation")
		}
	}()
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		e := &Error{File: file, Msg: "is not YAML: " + firstLine(err.Error()), Hint: "check brackets, quotes and indentation"}
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			e.Msg = firstLine(syntax.Message)
			switch {
			case strings.Contains(e.Msg, "already defined"):
				e.Hint = ""
			case strings.Contains(e.Msg, "'\t'"):
				e.Hint = "indent with spaces"
			}
			if t := syntax.Token; t != nil && t.Position != nil {
				e.Line, e.Column = t.Position.Line, t.Position.Column
			}
		}
		return nil, e
	}
	var bodies []ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType && doc.Body.Type() != ast.CommentGroupType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil, nil
	case 1:
		return bodies[0], nil
	}
	e := &Error{File: file, Msg: "a second document starts here; a file holds " + what}
	if at := Position(bodies[1]); at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	return nil, e
}

// tooMuch looks for nesting, or for more entries, than a file can need.
// Lines of comment are free. Indentation is bounded by the length of a line.
func tooMuch(data []byte) (line int, msg string) {
	depth, marks := 0, 0
	for text := range bytes.Lines(data) {
		line++
		if len(text) > maxLine {
			return line, fmt.Sprintf("the line is longer than %d bytes", maxLine)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '#' {
			continue
		}
		marks++
		for _, b := range text {
			switch b {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			case ':', ',', '-', '?', '\r':
				marks++
			}
			if depth > maxDepth {
				return line, fmt.Sprintf("brackets are nested more than %d deep", maxDepth)
			}
		}
		if marks > maxMarks {
			return line, "the file has more entries than it can use"
		}
	}
	return 0, ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// Position is where a value starts: a mapping at its first field.
func Position(n ast.Node) *token.Position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return Position(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return Position(m.Key)
	}
	if t := n.GetToken(); t != nil {
		return t.Position
	}
	return nil
}

// Scalar is the text of a plain or quoted value, as it was written.
func Scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimRight(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func describe(n ast.Node) string {
	if s, ok := Scalar(n); ok {
		return shown(s)
	}
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "empty"
	}
	return "no plain value"
}
