// Package weir_test holds the house to its design: who may import whom, who
// may read a clock, and how long a file may grow.
package weir_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/weir-cli/weir"

// graph is what `go list` knows: for each of our packages, what it imports
// itself and what it reaches in any number of steps.
type graph map[string]struct{ Imports, Deps []string }

// rule forbids the packages of to reach the packages to; when direct is set,
// only to import them by name. A package that does not exist breaks no rule.
type rule struct {
	why    string
	of, to match
	direct bool
}

type match func(path string) bool

var rules = []rule{
	{why: "report is at the bottom and imports nothing of ours", of: family("report"), to: oursBut("report"), direct: true},
	{why: "limit is at the bottom and imports nothing of ours", of: is("limit"), to: oursBut(), direct: true},
	{why: "limit's family imports nothing else of ours", of: family("limit"), to: oursBut("limit"), direct: true},
	{why: "a dialect knows headers, not limiters", of: is("limit/dialect"), to: oursBut(), direct: true},
	{why: "profiles are at the bottom and import nothing of ours", of: family("profiles"), to: oursBut("profiles"), direct: true},
	{why: "a viewer cannot touch the engine", of: family("tui"), to: family("load")},
	{why: "a viewer sees report, and inspect for its bucket view", of: family("tui"), to: oursBut("tui", "report", "inspect"), direct: true},
	{why: "a simulator runs what ships, without its servers", of: family("sim"), to: oursBut("sim", "limit", "load", "profiles", "report"), direct: true},
	{why: "rules are a text and what it says about limits", of: is("gateway/rules"), to: oursBut("limit"), direct: true},
	{why: "nothing imports cmd", of: oursBut(), to: family("cmd"), direct: true},
	{why: "deciding code is free of I/O and of screens", of: is("gateway/rules", "report", "limit", "limit/dialect", "limit/metering", "load", "sim"), to: outside},
}

// is matches our packages of exactly these names.
func is(names ...string) match {
	return func(path string) bool {
		name, ok := strings.CutPrefix(path, module+"/")
		return ok && slices.Contains(names, name)
	}
}

// family matches our packages of these names and all below them.
func family(names ...string) match {
	return func(path string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return under(path, module+"/"+name) })
	}
}

// oursBut matches all of our packages except these families.
func oursBut(names ...string) match {
	but := family(names...)
	return func(path string) bool { return under(path, module) && !but(path) }
}

// outside is what deciding code must not reach.
func outside(path string) bool {
	return slices.ContainsFunc([]string{
		"net/http",
		"github.com/spf13/cobra",
		"github.com/charmbracelet/bubbletea",
		"github.com/vbauerster/mpb",
		"github.com/redis/go-redis",
	}, func(root string) bool { return under(path, root) })
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// broken lists each breach of the rules, in order.
func broken(g graph, rules []rule) []string {
	var found []string
	for _, path := range slices.Sorted(maps.Keys(g)) {
		for _, r := range rules {
			if !r.of(path) {
				continue
			}
			reached := g[path].Deps
			if r.direct {
				reached = g[path].Imports
			}
			for _, dep := range reached {
				if dep != path && r.to(dep) {
					found = append(found, fmt.Sprintf("%s must not reach %s: %s", path, dep, r.why))
				}
			}
		}
	}
	return found
}

// The graph differs by system, since files do.
func TestImportRules(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		g, err := readGraph(system)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := g[module+"/report"]; !ok || len(g) < 5 {
			t.Fatalf("%s: go list found only %d packages", system, len(g))
		}
		for _, breach := range broken(g, rules) {
			t.Errorf("%s: %s", system, breach)
		}
	}
}

// The simulator proves something about the gateway only while both decide with
// the same code.
func TestSimulatorAndGatewayShareTheirMechanisms(t *testing.T) {
	g, err := readGraph("linux")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{module + "/sim", module + "/gateway"} {
		if !slices.Contains(g[path].Imports, module+"/limit") {
			t.Errorf("%s does not decide with package limit", path)
		}
	}
}

func readGraph(system string) (graph, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	g := graph{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath    string
			Imports, Deps []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, err
		}
		g[p.ImportPath] = struct{ Imports, Deps []string }{p.Imports, p.Deps}
	}
}

// Each rule must catch its breach, or the test above proves nothing.
func TestImportRulesBite(t *testing.T) {
	tests := []struct {
		of, to string
		deep   bool // reached through another package, not imported
		breach bool
	}{
		{of: "report", to: "limit", breach: true},
		{of: "report", to: "limit/dialect", breach: true},
		{of: "report", to: "report/codec"},
		{of: "report", to: "net/http", deep: true, breach: true},
		{of: "report", to: "net/url"},
		{of: "limit", to: "report", breach: true},
		{of: "limit", to: "limit/dialect", breach: true},
		{of: "limit", to: "github.com/redis/go-redis/v9", deep: true, breach: true},
		{of: "limit/limittest", to: "limit"},
		{of: "limit/redislimit", to: "github.com/redis/go-redis/v9"},
		{of: "limit/redislimit", to: "load", breach: true},
		{of: "limit/dialect", to: "limit", breach: true},
		{of: "limit/metering", to: "net/http", deep: true, breach: true},
		{of: "limit/dialect", to: "github.com/dunglas/httpsfv"},
		{of: "profiles", to: "load", breach: true},
		{of: "profiles", to: "github.com/goccy/go-yaml/ast"},
		{of: "load", to: "profiles"},
		{of: "load", to: "net/http", deep: true, breach: true},
		{of: "load", to: "net/http/httptrace", deep: true, breach: true},
		{of: "load/httpdo", to: "net/http"},
		{of: "sim", to: "github.com/spf13/cobra", deep: true, breach: true},
		{of: "sim", to: "github.com/vbauerster/mpb/v8", deep: true, breach: true},
		{of: "load", to: "github.com/charmbracelet/bubbletea", deep: true, breach: true},
		{of: "sim", to: "limit"},
		{of: "sim", to: "gateway", breach: true},
		{of: "tui", to: "load", deep: true, breach: true},
		{of: "tui", to: "load/httpdo", breach: true},
		{of: "tui", to: "gateway", breach: true},
		{of: "tui", to: "inspect"},
		{of: "gateway/rules", to: "limit"},
		{of: "gateway/rules", to: "gateway", breach: true},
		{of: "gateway/rules", to: "github.com/redis/go-redis/v9", deep: true, breach: true},
		{of: "tui", to: "github.com/charmbracelet/bubbletea"},
		{of: "gateway", to: "cmd/weir", breach: true},
		{of: "cmd/weir", to: "gateway"},
	}
	full := func(name string) string {
		top, _, _ := strings.Cut(name, "/")
		if strings.Contains(top, ".") || top == "net" {
			return name
		}
		return module + "/" + name
	}
	for _, tt := range tests {
		t.Run(tt.of+" to "+tt.to, func(t *testing.T) {
			p := struct{ Imports, Deps []string }{Deps: []string{"fmt", full(tt.to)}}
			if !tt.deep {
				p.Imports = p.Deps
			}
			found := broken(graph{full(tt.of): p}, rules)
			if got := len(found) > 0; got != tt.breach {
				t.Errorf("breach %v, want %v: %q", got, tt.breach, found)
			}
		})
	}
}
