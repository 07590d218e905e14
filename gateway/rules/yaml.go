package rules

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

// What the parser may meet at a time. It is recursive, and for some texts its
// time grows with the square of their entries, so that a hostile file could
// use up the stack or minutes. The overrides, of which there may be many, are
// given to it a few at a time.
const (
	maxLine  = 8 << 10 // bytes
	maxDepth = 16      // of brackets
	maxMarks = 20_000  // ends of lines, colons, commas, dashes and question marks
)

const checkSyntax = "check brackets, quotes and indentation"

// parseYAML gives the one node of a text, nil when there is nothing in it.
// before is how many lines of the file come before the text.
func parseYAML(file string, data []byte, before int) (node ast.Node, bad *Error) {
	whole := func(msg string) *Error {
		return &Error{File: file, Line: before + 1, Column: 1, Msg: msg, Hint: checkSyntax}
	}
	if line, msg := tooMuch(data); msg != "" {
		return nil, &Error{File: file, Line: before + line, Column: 1, Msg: msg}
	}
	// The parser is not ours and has been seen to panic on broken text.
	defer func() {
		if recover() != nil {
			node, bad = nil, whole("is not YAML that can be read")
		}
	}()
	parsed, err := parser.ParseBytes(data, 0)
	if err != nil {
		e := whole("is not YAML: " + firstLine(err.Error()))
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			e.Msg = firstLine(syntax.Message)
			switch {
			case strings.Contains(e.Msg, "already defined"):
				e.Hint = "keep one of the two"
			case strings.Contains(e.Msg, "'\t'"):
				e.Hint = "indent with spaces"
			}
			if t := syntax.Token; t != nil && t.Position != nil {
				e.Line, e.Column = before+t.Position.Line, t.Position.Column
			}
		}
		return nil, e
	}
	for _, doc := range parsed.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.CommentGroupType:
		case node != nil:
			e := &Error{File: file, Msg: "a second document starts here; a file holds one set of rules"}
			if at := position(doc.Body); at != nil {
				e.Line, e.Column = before+at.Line, at.Column
			}
			return nil, e
		default:
			node = doc.Body
		}
	}
	return node, nil
}

// tooMuch looks for nesting, or for more entries, than a text can need. Lines
// of comment and empty ones are free. Indentation is bounded by the length of
// a line.
func tooMuch(data []byte) (line int, msg string) {
	depth, marks := 0, 0
	for text := range bytes.Lines(data) {
		line++
		if len(text) > maxLine {
			return line, fmt.Sprintf("the line is longer than %d bytes", maxLine)
		}
		if !utf8.Valid(text) {
			return line, "the line is not UTF-8 text"
		}
		if text = bytes.TrimSpace(text); len(text) == 0 || text[0] == '#' {
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
			return line, "the file has more entries than rules can use"
		}
	}
	return 0, ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// position is where a value starts: a mapping at its first field.
func position(n ast.Node) *token.Position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return position(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(m.Key)
	}
	if t := n.GetToken(); t != nil {
		return t.Position
	}
	return nil
}

// scalar is the text of a plain or quoted value, as it was written.
func scalar(n ast.Node) (string, bool) {
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
	if s, ok := scalar(n); ok {
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
