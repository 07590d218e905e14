package redislimit

import (
	"fmt"
	"strings"
)

// OldServerError says that the server is too old for a command that a plain
// limiter needs. The scripts run on it.
type OldServerError struct {
	Command string // such as "EXPIRE NX"
	Since   string // the first version that knows it
	Err     error  // what the server said
}

func (e *OldServerError) Error() string {
	return fmt.Sprintf("redislimit: the server does not know %s, which came with Redis %s: %v", e.Command, e.Since, e.Err)
}

func (e *OldServerError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *OldServerError) Hint() string {
	return "use the scripts, which run on Redis 5 and newer, or a server of version " + e.Since
}

func expireError(err error) error {
	text := err.Error()
	if strings.HasPrefix(text, "ERR wrong number of arguments") || strings.HasPrefix(text, "ERR syntax error") {
		return &OldServerError{Command: "EXPIRE NX", Since: "7.0", Err: err}
	}
	return fmt.Errorf("redislimit: life of a count: %w", err)
}
