package main

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// repeatLine returns the command line that repeats a run, for whatever set its
// flags: the line, the environment or a file. Where the result goes is left
// out, and so is a password in a URL.
func repeatLine(cmd *cobra.Command) func(seed int64) string {
	return func(seed int64) string {
		var b strings.Builder
		b.WriteString(cmd.CommandPath())
		add := func(name, value string) {
			if u, err := url.Parse(value); err == nil && u.User != nil {
				value = u.Redacted()
			}
			b.WriteString(" --" + name + "=" + shellQuoted(value))
		}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			switch f.Name {
			case "out", "format", "json", "quiet", "no-color", "config", "seed":
				return
			}
			if many, ok := f.Value.(pflag.SliceValue); ok {
				for _, v := range many.GetSlice() {
					add(f.Name, v)
				}
				return
			}
			add(f.Name, f.Value.String())
		})
		add("seed", strconv.FormatInt(seed, 10))
		return b.String()
	}
}

// shellQuoted makes one shell word of s.
func shellQuoted(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:,=@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
