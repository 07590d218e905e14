package main

import (
	"net/url"
	"strings"

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
	"events": true, "config": true, "seed": true, "dry-run": true}

// repeatCommand is the line that repeats a run: its flags, wherever they were
// set, and its seed.
func repeatCommand(verb string, fs *pflag.FlagSet, args []string, seed string) string {
	words := []string{"weir", verb}
	words = append(words, args...)
	fs.Visit(func(f *pflag.Flag) {
		if notRepeated[f.Name] {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				words = append(words, "--"+f.Name, redactFlag(f.Name, v))
			}
			return
		}
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name+"="+f.Value.String())
			return
		}
		words = append(words, "--"+f.Name, redactFlag(f.Name, f.Value.String()))
	})
	words = append(words, "--seed", seed)
	for i, w := range words {
		words[i] = shellQuote(w)
	}
	return strings.Join(words, " ")
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
