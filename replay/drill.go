package replay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Drill is what is done to the store while it is replayed on. A nil one does
// nothing.
type Drill struct {
	FlushScripts time.Duration // into the trace; below 0 is never
	Kill         time.Duration
	// Restart ends a server and starts it again, empty; nil is for a virtual
	// store, which forgets all it has.
	Restart func() error

	flushed, killed bool
	away            atomic.Bool
	notes           []string
}

// down reports whether calls may fail because of the drill.
func (d *Drill) down() bool { return d.away.Load() }

// due reports whether something is to be done at this time of the trace.
func (d *Drill) due(at int64) bool {
	return d != nil && (d.FlushScripts >= 0 && !d.flushed && at >= int64(d.FlushScripts) || d.Kill >= 0 && !d.killed && at >= int64(d.Kill))
}

// at does what is due.
func (d *Drill) at(ctx context.Context, s *session, at int64) error {
	if !d.due(at) {
		return nil
	}
	if d.FlushScripts >= 0 && !d.flushed && at >= int64(d.FlushScripts) {
		d.flushed = true
		if a := one(ctx, s.Store, "SCRIPT", "FLUSH"); a.err != nil {
			return fmt.Errorf("the drill could not flush the scripts: %w", a.err)
		}
		d.notes = append(d.notes, fmt.Sprintf("drill: the scripts were flushed %v into the trace", d.FlushScripts))
	}
	if d.Kill >= 0 && !d.killed && at >= int64(d.Kill) {
		d.killed = true
		if err := d.restart(ctx, s); err != nil {
			return fmt.Errorf("the drill could not restart the server: %w", err)
		}
		d.notes = append(d.notes, fmt.Sprintf("drill: the server was killed %v into the trace and came back empty, without scripts; its keys started afresh", d.Kill))
	}
	return nil
}

func (d *Drill) restart(ctx context.Context, s *session) error {
	if s.Store.virtual() {
		if _, err := s.Store.clear(ctx, ""); err != nil {
			return err
		}
		return one(ctx, s.Store, "SCRIPT", "FLUSH").err
	}
	if d.Restart == nil {
		return errors.New("it is not a server that this run started")
	}
	d.away.Store(true)
	return d.Restart()
}
