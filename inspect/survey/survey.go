package survey

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
)

// Options say what is surveyed and how. Layouts must be set; the zero values of
// the rest are right.
type Options struct {
	Match   string // a pattern of SCAN; "" for all keys
	Layouts []*inspect.Layout
	// Only reads just what is this layout's. With Match every key that matches
	// and has the main key's type counts as such, whatever its name.
	Only     *inspect.Layout
	Told     *limit.Spec
	Pace     float64       // keys a second; 0 for as many as it gives
	MaxKeys  int64         // after which it stops; 0 for no bound
	Top      int           // rows of each order; 0 is DefaultTop
	Replicas bool          // reads a replica of each primary in place of it
	Patience time.Duration // for an answer; 0 is 10 s

	// Clock is the local time; nil is the system's.
	Clock func() time.Time
	// From is where an earlier survey stopped; nil begins anew.
	From *Survey
	// Each is called for every key; nil for nobody. What it is given is not
	// valid afterwards.
	Each func(*Sighting)
	// Progress is called after every step; nil for nobody.
	Progress func(*Survey, Progress)
}

// DefaultTop is how many rows of each order are kept.
const DefaultTop = 10

// MaxTop bounds them.
const MaxTop = 1000

// Progress is how far a survey is.
type Progress struct {
	Node  string
	Keys  int64   // listed so far, on all nodes
	Total int64   // about how many there are; 0 when not known
	Done  float64 // the share of the work, from 0 to 1; 0 when not known
}

// Survey is what was found, and how far it went. It can be written down as
// JSON and gone on with.
type Survey struct {
	Match    string  `json:"match"`
	Layout   string  `json:"layout"`
	Limit    string  `json:"limit"`
	Replicas bool    `json:"replicas"`
	Top      int     `json:"top"`
	Nodes    []*Node `json:"nodes"`
	Resumed  bool    `json:"resumed"`
	// Stopped is why it is not complete: "interrupted", "max-keys", "failed";
	// "" when it is.
	Stopped string          `json:"stopped"`
	Blind   []inspect.Blind `json:"blind"`
	Notes   []string        `json:"notes"`
}

// Node is one server's part of a survey.
type Node struct {
	Addr    string `json:"addr"`
	RunID   string `json:"run_id"` // of the server's process; "" when not known
	Replica bool   `json:"replica"`
	Cursor  string `json:"cursor"` // where it goes on; "0" at the start
	Done    bool   `json:"done"`
	Total   int64  `json:"total"` // about how many keys the server has; 0 when not known
	Listed  int64  `json:"listed"`
	Looked  int64  `json:"looked"` // places of its table that SCAN went over, about
	Tally   *Tally `json:"tally"`
	Cost    Cost   `json:"cost"`
	Facts   Facts  `json:"-"` // what it said of itself; nil when it may not
}

// Cost is what a survey cost a server.
type Cost struct {
	Commands int64   `json:"commands"`
	Sent     int64   `json:"sent"`     // bytes, to the server
	Received int64   `json:"received"` // bytes
	Took     int64   `json:"took"`     // ns
	CPU      float64 `json:"cpu"`      // seconds, of all that the server did meanwhile
	Others   int64   `json:"others"`   // commands of others that it served meanwhile
	CPUKnown bool    `json:"cpu_known"`
}

func (c *Cost) plus(o *Cost) {
	c.Commands += o.Commands
	c.Sent += o.Sent
	c.Received += o.Received
	c.Took += o.Took
	c.CPU += o.CPU
	c.Others += o.Others
	c.CPUKnown = c.CPUKnown || o.CPUKnown
}

// Tally is that of all nodes.
func (s *Survey) Tally() *Tally {
	t := NewTally(s.Top)
	for _, n := range s.Nodes {
		t.Plus(n.Tally)
	}
	return t
}

// Cost is that of all nodes. Took is of one after the other.
func (s *Survey) Cost() Cost {
	var c Cost
	for _, n := range s.Nodes {
		c.plus(&n.Cost)
	}
	return c
}

// Complete reports whether all keys were seen.
func (s *Survey) Complete() bool { return s.Stopped == "" }

func (s *Survey) listed() int64 {
	n := int64(0)
	for _, node := range s.Nodes {
		n += node.Listed
	}
	return n
}

// note adds a sentence once.
func (s *Survey) note(text string) {
	if slices.Contains(s.Notes, text) {
		return
	}
	s.Notes = append(s.Notes, text)
}

// ErrOtherSurvey is an earlier survey that looked for something else.
var ErrOtherSurvey = errors.New("what was begun is another survey")

// ErrNotSurvey is a text that is no survey to go on with.
var ErrNotSurvey = errors.New("that is no scan that was begun")

// stateSchema is the name of the form in which a survey is written down.
const stateSchema = "weir.scan-state/v1"

// written is a survey as it is written down.
type written struct {
	Schema string `json:"schema"`
	*Survey
}

// Marshal writes a survey down, to go on with it.
func Marshal(s *Survey) ([]byte, error) { return json.Marshal(written{stateSchema, s}) }

// Unmarshal reads what Marshal wrote.
func Unmarshal(text []byte) (*Survey, error) {
	w := written{Survey: &Survey{}}
	if err := json.Unmarshal(text, &w); err != nil || w.Schema != stateSchema {
		return nil, ErrNotSurvey
	}
	s := w.Survey
	if s.Top < 1 || s.Top > MaxTop {
		return nil, fmt.Errorf("%w: it keeps %d rows", ErrNotSurvey, s.Top)
	}
	for _, n := range s.Nodes {
		if n == nil || n.Tally == nil || !isCursor(n.Cursor) || n.Tally.Problems == nil {
			return nil, fmt.Errorf("%w: a node is not whole", ErrNotSurvey)
		}
		fresh := NewTally(s.Top)
		fresh.Plus(n.Tally) // within this version's bounds
		n.Tally = fresh
	}
	return s, nil
}

func isCursor(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// begin is a survey that goes on with o.From.
func begin(o *Options) (*Survey, error) {
	s := &Survey{Match: o.Match, Replicas: o.Replicas, Top: o.Top}
	if o.Only != nil {
		s.Layout = o.Only.Name
	}
	if o.Told != nil {
		s.Limit = o.Told.String()
	}
	old := o.From
	if old == nil {
		return s, nil
	}
	for _, d := range []struct{ what, was, is string }{
		{"match", old.Match, s.Match}, {"layout", old.Layout, s.Layout}, {"limit", old.Limit, s.Limit},
		{"replicas", fmt.Sprint(old.Replicas), fmt.Sprint(s.Replicas)}, {"top", fmt.Sprint(old.Top), fmt.Sprint(s.Top)},
	} {
		if d.was != d.is {
			return nil, fmt.Errorf("%w: its %s is %q and not %q", ErrOtherSurvey, d.what, d.was, d.is)
		}
	}
	s.Nodes, s.Resumed, s.Notes = old.Nodes, true, old.Notes
	return s, nil
}

// node is the server's part, from an earlier survey if it is the same process:
// the cursors of one that has restarted mean nothing.
func (s *Survey) node(addr string, facts Facts) *Node {
	id := facts["run_id"]
	for i, n := range s.Nodes {
		if n.Addr != addr {
			continue
		}
		if n.RunID == id {
			return n
		}
		s.note(addr + " has restarted since the scan began; its keys were looked at anew.")
		s.Nodes[i] = &Node{Addr: addr, RunID: id, Cursor: noCursor, Tally: NewTally(s.Top)}
		return s.Nodes[i]
	}
	n := &Node{Addr: addr, RunID: id, Cursor: noCursor, Tally: NewTally(s.Top)}
	s.Nodes = append(s.Nodes, n)
	return n
}
