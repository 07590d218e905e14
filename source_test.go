package weir_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxLines is where a file must be split, tests included.
const maxLines = 500

// sources calls fn for every Go file of the module.
func sources(t *testing.T, fn func(path string, text []byte)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "dist"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		fn(filepath.ToSlash(path), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 10 {
		t.Fatalf("found only %d Go files", n)
	}
}

func TestNoFileIsTooLong(t *testing.T) {
	sources(t, func(path string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines: split it, %d is the most", path, n, maxLines)
		}
	})
}

// pure are the folders whose code decides over explicit time.
var pure = []string{"gateway/rules", "limit", "limit/dialect", "limit/metering", "profiles", "report", "sim"}

// TestDecidingCodeReadsNoClock also keeps global randomness out: both would
// make a seeded run unrepeatable.
func TestDecidingCodeReadsNoClock(t *testing.T) {
	sources(t, func(path string, text []byte) {
		if !slices.Contains(pure, filepath.ToSlash(filepath.Dir(path))) || strings.HasSuffix(path, "_test.go") {
			return
		}
		reads, err := clockReads(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, read := range reads {
			t.Error(read)
		}
	})
}

func TestClockReadsAreSeen(t *testing.T) {
	const text = `package p
import (
	"math/rand/v2"
	clock "time"
)
var a = clock.Now()
var b = clock.Duration(3)
var c = rand.IntN(2)
var d = rand.New(rand.NewPCG(1, 2)).IntN(2)
func f() { <-clock.After(1) }
`
	got, err := clockReads("p.go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"p.go:6: time.Now", "p.go:8: math/rand/v2.IntN", "p.go:10: time.After"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

var impure = map[string]func(name string) bool{
	"time": func(name string) bool {
		return slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}, name)
	},
	"math/rand":    drawsGlobally,
	"math/rand/v2": drawsGlobally,
	"crypto/rand":  func(string) bool { return true },
}

// drawsGlobally matches the package's functions but not its constructors and
// types.
func drawsGlobally(name string) bool {
	return !strings.HasPrefix(name, "New") && !slices.Contains([]string{"Rand", "Source", "PCG", "ChaCha8", "Zipf"}, name)
}

// clockReads lists each use of the clock or of global randomness in a file.
func clockReads(path string, text []byte) ([]string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	named := map[string]string{} // local name to import path
	for _, imp := range file.Imports {
		path := strings.Trim(imp.Path.Value, `"`)
		name := strings.TrimSuffix(path, "/v2")
		name = name[strings.LastIndex(name, "/")+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		named[name] = path
	}
	var reads []string
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok {
			if is := impure[named[pkg.Name]]; is != nil && is(sel.Sel.Name) {
				reads = append(reads, fmt.Sprintf("%s:%d: %s.%s", path, set.Position(sel.Pos()).Line, named[pkg.Name], sel.Sel.Name))
			}
		}
		return true
	})
	return reads, nil
}
