package sim

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/weir-cli/weir/profiles"
)

//go:embed scenarios
var library embed.FS

// Info is a line of the list of scenarios.
type Info struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	About string `json:"about"`
}

// List lists the scenarios of the library in order of name. A scenario that
// cannot be read is a fault of the program; a test reads each.
func List() []Info {
	var list []Info
	for _, name := range scenarioNames() {
		s, err := Open(name)
		if err != nil {
			panic(err)
		}
		list = append(list, Info{name, s.Kind.Name, s.About})
	}
	return list
}

// Source is the text of a scenario of the library; nil when there is none.
func Source(name string) []byte {
	text, err := library.ReadFile("scenarios/" + name + ".yaml")
	if err != nil {
		return nil
	}
	return text
}

// scenarioNames are the files under scenarios, as group/name, sorted.
func scenarioNames() []string {
	var names []string
	// The embedded tree cannot fail to be walked.
	_ = fs.WalkDir(library, "scenarios", func(path string, d fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, ".yaml"); ok && err == nil {
			names = append(names, strings.TrimPrefix(name, "scenarios/"))
		}
		return err
	})
	slices.Sort(names) // files come with what stands before ".yaml" last
	return names
}

// nearScenario is the hint for a name that is not in the library. The name
// may lack its group.
func nearScenario(name string) string {
	names := scenarioNames()
	for _, n := range names {
		if strings.HasSuffix(n, "/"+name) {
			return "weir sim " + n
		}
	}
	if group := strings.TrimSuffix(name, "/"); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, group+"/") }) {
		return "weir sim list " + group
	}
	begin := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !strings.HasPrefix(n, name) && !strings.HasPrefix(n[strings.IndexByte(n, '/')+1:], name)
	})
	if len(begin) == 1 && len(name) > 1 {
		return fmt.Sprintf("did you mean %q?", begin[0])
	}
	if hint := profiles.OneOf(name, names); strings.HasPrefix(hint, "did you mean") {
		return hint
	}
	return "weir sim list"
}
