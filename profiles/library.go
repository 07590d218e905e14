package profiles

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed builtin/*.yaml
var builtin embed.FS

// order is that of the list: plain rates first, then what breaks limiters.
var order = []string{
	"steady", "ramp", "step", "spike", "sine", "poisson", "page-load",
	"retry-storm", "thundering-herd", "herd-with-jitter", "noisy-neighbour",
	"window-edge", "many-keys", "slow-leak", "mixed",
}

// Info is a line of the list of built-in profiles.
type Info struct{ Name, About string }

// Builtins lists the built-in profiles.
func Builtins() []Info {
	list := make([]Info, len(order))
	for i, name := range order {
		p, err := Builtin(name)
		if err != nil {
			panic(err) // they are part of the program, and a test reads each
		}
		list[i] = Info{name, p.About}
	}
	return list
}

// Builtin returns a fresh copy of a built-in profile.
func Builtin(name string) (*Profile, error) {
	text := Source(name)
	if text == nil {
		return nil, &Error{Msg: "no built-in profile is called " + shown(name), Hint: OneOf(name, order)}
	}
	return Decode(name+".yaml", text)
}

// Source is the text of a built-in profile, comments and all; nil when there
// is none of that name.
func Source(name string) []byte {
	if !slices.Contains(order, name) {
		return nil
	}
	text, err := builtin.ReadFile("builtin/" + name + ".yaml")
	if err != nil {
		return nil
	}
	return text
}

// Open reads a built-in profile by its name, or a file: whatever has a path
// separator or ends in .yaml or .yml. Files that a profile names are relative
// to the profile's own folder.
func Open(nameOrPath string) (*Profile, error) {
	ext := filepath.Ext(nameOrPath)
	if !strings.ContainsAny(nameOrPath, `/\`) && ext != ".yaml" && ext != ".yml" {
		p, err := Builtin(nameOrPath)
		var e *Error
		if errors.As(err, &e) && Source(nameOrPath) == nil {
			if _, stat := os.Stat(nameOrPath); stat == nil {
				e.Hint = "for the file of that name write ./" + nameOrPath
			}
		}
		return p, err
	}
	f, err := os.Open(nameOrPath)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("profile %s: %w", nameOrPath, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", nameOrPath, err)
	}
	p, err := Decode(nameOrPath, data)
	if err != nil {
		return nil, err
	}
	for i := range p.Populations {
		q := &p.Populations[i]
		q.Keys.File = beside(nameOrPath, q.Keys.File)
		q.Arrivals.File = beside(nameOrPath, q.Arrivals.File)
	}
	return p, nil
}

func beside(profile, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(profile), file)
}
