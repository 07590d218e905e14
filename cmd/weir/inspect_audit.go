package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/report"
)

// auditLine is weir.audit/v1, a line of the audit file: one before a write, and
// one with what came of it. docs/inspect.md describes each field.
type auditLine struct {
	Schema string         `json:"schema"`
	ID     string         `json:"id"` // the same in both lines
	Step   string         `json:"step"`
	At     time.Time      `json:"at"`
	Who    string         `json:"who"`
	Reason string         `json:"reason"`
	Server string         `json:"server"`
	Layout string         `json:"layout"`
	Action inspect.Action `json:"action"`
	Units  int64          `json:"units,omitempty"`
	InMS   int64          `json:"in_ms,omitempty"`
	Keys   []string       `json:"keys"`
	// The state before, and as it is to be; not in the outcome's line.
	Before  *auditState `json:"before,omitempty"`
	After   *auditState `json:"after,omitempty"`
	Steps   []stepJSON  `json:"steps,omitempty"`
	Left    int         `json:"steps_left_out,omitempty"`
	Outcome string      `json:"outcome,omitempty"`
	Error   string      `json:"error,omitempty"`
}

type auditState struct {
	Used      *int64   `json:"used,omitempty"`
	Remaining *int64   `json:"remaining,omitempty"`
	Capacity  *int64   `json:"capacity,omitempty"`
	Held      *float64 `json:"held,omitempty"`
	Sentence  string   `json:"sentence"`
}

const (
	maxAuditSteps = 100
	maxAuditValue = 200 // bytes of one value
)

func auditOf(a *app, o *bucketOptions, c *inspect.Change) auditLine {
	who := o.who
	if who == "" {
		who = signedBy(a)
	}
	line := auditLine{Schema: "weir.audit/v1", ID: rand.Text(), Step: "intent", At: a.now().UTC(), Who: who, Reason: o.reason,
		Server: o.flags.redis.url.String(), Layout: c.Before.Layout.Name, Action: c.Order.Action, Units: c.Order.Units, InMS: c.Order.In.Milliseconds(),
		Before: auditStateOf(&c.Before), After: auditStateOf(&c.After), Steps: stepsOf(c)}
	for i := range c.Before.Entries {
		line.Keys = append(line.Keys, exact(c.Before.Entries[i].Key))
	}
	if n := len(line.Steps) - maxAuditSteps; n > 0 {
		line.Steps, line.Left = line.Steps[:maxAuditSteps], n
	}
	for i := range line.Steps {
		s := &line.Steps[i]
		for _, v := range []*string{&s.From, &s.To} {
			if len(*v) > maxAuditValue {
				*v = (*v)[:maxAuditValue] + "…"
			}
		}
	}
	return line
}

func auditStateOf(r *inspect.Reading) *auditState {
	return &auditState{r.Used, r.Remaining, r.Capacity, r.Held, r.Sentences(1)[0]}
}

// outcome is the line that says what came of a write.
func (l auditLine) outcome(at time.Time, outcome, problem string) auditLine {
	l.Step, l.At, l.Outcome, l.Error = "outcome", at.UTC(), outcome, problem
	l.Before, l.After, l.Steps, l.Left = nil, nil, nil, 0
	return l
}

// auditFile is open to be added to.
type auditFile struct {
	*os.File
	path string
}

// openAudit opens the audit file, or creates it, and its directory where it is
// the default one. Only its owner may read it.
func openAudit(a *app, path string) (*auditFile, error) {
	named := path != ""
	if !named {
		dir, err := stateDir(a)
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, "audit.ndjson")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, auditError(path, err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, auditError(path, err)
	}
	return &auditFile{f, path}, nil
}

func auditError(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return reachError(fmt.Errorf("nothing was written, since the audit file cannot be: %s: %w", report.Clean(path), err), "--audit FILE, one that can be written")
}

// stateDir is where weir keeps what it has done.
func stateDir(a *app) (string, error) {
	if dir := a.env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "weir"), nil
	}
	if dir := a.env("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "weir"), nil
	}
	if home := a.env("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "weir"), nil
	}
	return "", reachError(errors.New("nothing was written: there is no home directory for the audit file"), "--audit FILE")
}

// append adds a line, in one write, and returns once it is on disk.
func (f *auditFile) append(line auditLine) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	var p *fs.PathError
	switch {
	case err == nil, isSpecial(f.File) && errors.As(err, &p) && p.Op == "sync":
		return nil // devices and pipes cannot be synced, and need not be
	case errors.As(err, &p):
		err = p.Err
	}
	return fmt.Errorf("%s: %w", report.Clean(f.path), err)
}

func isSpecial(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && !info.Mode().IsRegular()
}
