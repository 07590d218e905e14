package replay

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// badLine finds the line in what a server, or the embedded one, says.
var badLine = regexp.MustCompile(`(?:user_script|<string>):(\d+):|user_script line:(\d+)|line:(\d+)\(`)

// compiles loads a script. One that does not compile is a *ScriptError.
func compiles(ctx context.Context, s Store, script *Script) error {
	a := one(ctx, s, "SCRIPT", "LOAD", script.Source)
	var reply replyError
	if a.err == nil || !errors.As(a.err, &reply) {
		return a.err
	}
	if strings.HasPrefix(string(reply), "NOPERM") || strings.HasPrefix(string(reply), "NOAUTH") {
		return a.err
	}
	return scriptError(script, reply)
}

// scriptError finds the line that a server complains about.
func scriptError(script *Script, err error) *ScriptError {
	e := &ScriptError{Name: script.Name, Err: err}
	m := badLine.FindStringSubmatch(err.Error())
	for i := 1; i < len(m); i++ {
		if n, err := strconv.Atoi(m[i]); err == nil {
			e.Line = n
			if lines := strings.Split(script.Source, "\n"); n <= len(lines) {
				e.Text = strings.TrimSpace(lines[n-1])
			}
		}
	}
	return e
}
