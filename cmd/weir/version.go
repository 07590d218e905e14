package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build with -ldflags "-X main.version=v1.2.3".
// Empty, the version comes from what the Go tool recorded in the binary.
var version string

// versionInfo is what `weir version` prints; the JSON names are a contract.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit, RFC 3339
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

type versionOptions struct {
	out *output
}

func newVersionCmd(a *app) *cobra.Command {
	opts := versionOptions{}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and how this binary was built",
		Long: `Prints the version, the commit it was built from when the build recorded one,
the Go version and the platform.`,
		Example: `  weir version
  weir version --json`,
		Args: argNames(),
		RunE: func(*cobra.Command, []string) error { return runVersion(a, opts) },
	}
	opts.out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

func runVersion(a *app, opts versionOptions) error {
	info, _ := debug.ReadBuildInfo()
	v := versionOf(version, info)
	return opts.out.write(a, func(w io.Writer) error {
		if opts.out.format == "json" {
			return json.NewEncoder(w).Encode(v)
		}
		_, err := fmt.Fprintln(w, v)
		return err
	})
}

// versionOf joins the linker's word with the build information, which is nil
// in a binary built without modules.
func versionOf(override string, info *debug.BuildInfo) versionInfo {
	v := versionInfo{
		Version:  override,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if info != nil {
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.time":
				v.Date = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	return v
}

func (v versionInfo) String() string {
	s := "weir " + v.Version
	if v.Commit != "" {
		s += " " + v.Commit[:min(12, len(v.Commit))]
		if v.Modified {
			s += "+changes"
		}
	}
	return s + " " + v.Go + " " + v.Platform
}
