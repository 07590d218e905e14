package main

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// redacted stands where a secret was.
const redacted = "REDACTED"

// redactURL shows a URL without its password and its query values, which may
// be credentials.
func redactURL(u *url.URL) string {
	c := *u
	if c.User != nil {
		c.User = url.User(redacted)
	}
	if c.RawQuery != "" {
		q := c.Query()
		for k := range q {
			q[k] = []string{redacted}
		}
		c.RawQuery = q.Encode()
	}
	return c.String()
}

// harmless are the headers whose values may be shown.
var harmless = []string{"accept", "accept-encoding", "accept-language", "content-type", "user-agent", "host", "cache-control"}

// redactFlag shows a flag's value as it may be printed.
func redactFlag(name, value string) string {
	switch name {
	case "header":
		field, _, _ := strings.Cut(value, ":")
		for _, h := range harmless {
			if strings.EqualFold(strings.TrimSpace(field), h) {
				return value
			}
		}
		return field + ": " + redacted
	case "query":
		field, _, _ := strings.Cut(value, "=")
		return field + "=" + redacted
	case "body":
		if !strings.HasPrefix(value, "@") {
			return redacted
		}
	case "proxy", "upstream":
		if u, err := url.Parse(value); err == nil {
			return redactURL(u)
		}
		return redacted
	}
	return value
}

// notRepeated are flags about where a result goes, not about the run.
var notRepeated = map[string]bool{"out": true, "format": true, "json": true, "quiet": true, "no-color": true,
	"events": true, "config": true, "seed": true, "dry-run": true, "tui": true}

// repeatLine is the command that repeats a run, for whatever set its flags:
// the line, the environment or a file. args are shown as they are.
func repeatLine(cmd *cobra.Command, args ...string) func(seed int64) string {
	return func(seed int64) string {
		words := append([]string{cmd.CommandPath()}, args...)
		for i := 1; i < len(words); i++ {
			words[i] = shellQuote(words[i])
		}
		add := func(name, value string) {
			words = append(words, "--"+name+"="+shellQuote(redactFlag(name, value)))
		}
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if notRepeated[f.Name] {
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
		return strings.Join(words, " ")
	}
}

// shellQuote quotes a word for a POSIX shell where it needs it.
func shellQuote(w string) string {
	plain := w != ""
	for _, r := range w {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%", r) {
			plain = false
		}
	}
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
