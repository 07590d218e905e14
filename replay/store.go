package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// command is one for a server, its words as they are sent.
type command []string

// answer is what came of one.
type answer struct {
	reply any   // int64, string, []any or nil
	err   error // a replyError, or what broke the connection
	// seen is what an embedded store saw of a script, nil for others.
	seen *observed
}

// Store is a Redis that scripts are run on: one inside this process, whose
// clock the replay sets, or a server.
type Store interface {
	// do sends commands together and answers each.
	do(ctx context.Context, commands []command) []answer
	// setTime sets the clock, and ends what has expired by then. Only a virtual
	// store has one to set.
	setTime(at int64)
	virtual() bool
	// clear removes every key under prefix and says how many there were.
	clear(ctx context.Context, prefix string) (int64, error)
	// kill ends a script that runs too long.
	kill(ctx context.Context) error
	// Name is what to call it.
	Name() string
}

// one sends a single command.
func one(ctx context.Context, s Store, words ...string) answer {
	return s.do(ctx, []command{words})[0]
}

// ErrStuck is a script that did not end in its time.
var ErrStuck = errors.New("the script did not end")

// StuckError says what became of a script that did not end.
type StuckError struct {
	After  time.Duration
	Killed error // nil when the server ended it, or it ended at last
	Own    bool  // it ran in this process
	Late   bool  // it ended by itself, after that
}

func (e *StuckError) Error() string {
	s := fmt.Sprintf("the script did not end within %v", e.After)
	switch {
	case e.Own:
	case e.Late:
		s += ", but soon after"
	case e.Killed == nil:
		s += ", and SCRIPT KILL ended it"
	default:
		s += ", and SCRIPT KILL did not end it: " + e.Killed.Error()
	}
	return s
}

func (e *StuckError) Is(target error) bool { return target == ErrStuck }

// evalsha is a script call.
func evalsha(sha string, f filled, more ...string) command {
	c := make(command, 0, 3+len(f.keys)+len(f.args)+len(more))
	c = append(c, "EVALSHA", sha, fmt.Sprint(len(f.keys)))
	c = append(c, f.keys...)
	c = append(c, f.args...)
	return append(c, more...)
}

// noScript reports whether a server does not have the script.
func noScript(err error) bool {
	var r replyError
	return errors.As(err, &r) && strings.HasPrefix(string(r), "NOSCRIPT")
}
