package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configFile returns the path of the config file and whether the user named
// it; one that was not named may be missing.
func (s *settings) configFile() (path string, named bool) {
	if s.configPath != "" {
		return s.configPath, true
	}
	if dir := s.app.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "weir", "config.yaml"), false
	}
	if runtime.GOOS == "windows" {
		if dir := s.app.env("AppData"); dir != "" {
			return filepath.Join(dir, "weir", "config.yaml"), false
		}
		return "", false
	}
	if home := s.app.env("HOME"); home != "" {
		return filepath.Join(home, ".config", "weir", "config.yaml"), false
	}
	return "", false
}

// bindFile sets the flags of cmd that nothing above has set. The whole file
// is checked against the whole command tree, so that a misspelt name is found
// by whichever verb runs first.
func (s *settings) bindFile(cmd *cobra.Command, taken map[string]bool) error {
	path, named := s.configFile()
	if path == "" {
		return nil
	}
	text, err := readInput(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return reachError(fmt.Errorf("config file: %w", err), "--config with a file that exists, or none")
	}
	if len(text) > maxConfig {
		return configError(path, 1, "the file has %d bytes; the most is %d", len(text), maxConfig)
	}
	return bindText(path, text, cmd, taken)
}

// maxConfig bounds a config file in bytes, and with it how deep the parser
// can be led.
const maxConfig = 64 << 10

func bindText(path string, text []byte, cmd *cobra.Command, taken map[string]bool) error {
	file, err := parseConfig(path, text)
	if err != nil {
		return err
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		c := configReader{path: path, cmd: cmd, taken: taken}
		if err := c.level(cmd.Root(), doc.Body); err != nil {
			return err
		}
	}
	return nil
}

func parseConfig(path string, text []byte) (file *ast.File, err error) {
	// The parser panics on some broken texts.
	defer func() {
		if recover() != nil {
			err = configError(path, 1, "not YAML that can be read")
		}
	}()
	// Editors put a mark before UTF-8.
	file, err = parser.ParseBytes(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), 0)
	var syntax yaml.Error
	switch {
	case err == nil:
		return file, nil
	case errors.As(err, &syntax) && syntax.GetToken() != nil:
		return nil, configError(path, syntax.GetToken().Position.Line, "%s", syntax.GetMessage())
	}
	return nil, configError(path, 1, "%v", err)
}

// configReader walks a config file beside the command tree: a key is a verb,
// which holds another level, or one of the verb's flags.
type configReader struct {
	path  string
	cmd   *cobra.Command // the one about to run
	taken map[string]bool
}

func (c *configReader) level(at *cobra.Command, node ast.Node) error {
	var entries []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	case *ast.NullNode:
		return nil
	default:
		return configError(c.path, lineOf(node), "expected flags of %q, found %s", at.CommandPath(), node.Type())
	}
	for _, e := range entries {
		key := e.Key.GetToken().Value
		if sub := childOf(at, key); sub != nil {
			if err := c.level(sub, e.Value); err != nil {
				return err
			}
			continue
		}
		if err := c.flag(at, key, e); err != nil {
			return err
		}
	}
	return nil
}

func childOf(at *cobra.Command, name string) *cobra.Command {
	for _, sub := range at.Commands() {
		if sub.Name() == name && sub.IsAvailableCommand() {
			return sub
		}
	}
	return nil
}

func (c *configReader) flag(at *cobra.Command, name string, e *ast.MappingValueNode) error {
	line := lineOf(e.Key)
	f := at.LocalNonPersistentFlags().Lookup(name)
	if f == nil || name == "help" {
		var near string
		if n := nearest(name, namesAt(at)); n != "" {
			near = fmt.Sprintf("; did you mean %q?", n)
		}
		return configError(c.path, line, "%q is neither a verb nor a flag of %q%s", name, at.CommandPath(), near)
	}
	values, err := scalars(e.Value)
	if err != nil {
		return configError(c.path, line, "%s: %v", name, err)
	}
	if at != c.cmd || c.taken[settingOf(f)] {
		return nil
	}
	if len(values) > 1 && !strings.HasSuffix(f.Value.Type(), "Array") && !strings.HasSuffix(f.Value.Type(), "Slice") {
		return configError(c.path, line, "%s takes one value, found %d", name, len(values))
	}
	for _, v := range values {
		if err := at.Flags().Set(name, v); err != nil {
			return configError(c.path, line, "%s: %q: %v", name, v, flagCause(err))
		}
	}
	return nil
}

// namesAt lists what may stand at a level of the file.
func namesAt(at *cobra.Command) []string {
	var names []string
	for _, sub := range at.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	at.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	return names
}

// scalars returns the text of one value or of a list of values, as written:
// a flag's own parser reads it, so `10/s`, `1h` and `0x10` mean the same in
// the file and on the command line.
func scalars(node ast.Node) ([]string, error) {
	switch n := node.(type) {
	case *ast.SequenceNode:
		var all []string
		for _, v := range n.Values {
			one, err := scalars(v)
			if err != nil {
				return nil, err
			}
			if len(one) != 1 {
				return nil, errors.New("a list inside a list")
			}
			all = append(all, one...)
		}
		return all, nil
	case *ast.StringNode:
		return []string{n.Value}, nil
	case *ast.LiteralNode:
		return []string{n.Value.Value}, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return []string{node.GetToken().Value}, nil
	case *ast.NullNode:
		return nil, errors.New("no value")
	}
	return nil, fmt.Errorf("expected a value or a list of values, found %s", node.Type())
}

func lineOf(node ast.Node) int {
	if t := node.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 1
}

func configError(path string, line int, format string, args ...any) error {
	return usagef(fmt.Sprintf("edit %s at line %d", path, line), "%s:%d: "+format, append([]any{path, line}, args...)...)
}
