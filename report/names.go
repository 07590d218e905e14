package report

import "strconv"

// Names resolves the numbers in an Event. A nil function gives a made-up
// name, so the zero value is usable. The functions are called by the goroutine
// that merges and by the one that finishes, never by a sender.
type Names struct {
	Key        func(uint32) string
	Target     func(uint16) string
	Population func(uint16) string
	Text       func(uint32) string // raw hints; index 0 is none
	Source     func(uint8) string  // dialect.Source
	Unit       func(uint8) string  // dialect.Unit
}

func (n *Names) key(i uint32) string {
	if n.Key != nil {
		return n.Key(i)
	}
	return "key-" + strconv.FormatUint(uint64(i), 10)
}

func (n *Names) target(i uint16) string {
	if n.Target != nil {
		return n.Target(i)
	}
	return "target-" + strconv.Itoa(int(i))
}

func (n *Names) population(i uint16) string {
	if n.Population != nil {
		return n.Population(i)
	}
	return "population-" + strconv.Itoa(int(i))
}

func (n *Names) text(i uint32) string {
	if n.Text != nil && i != 0 {
		return n.Text(i)
	}
	return ""
}

func (n *Names) source(i uint8) string {
	if n.Source != nil {
		return n.Source(i)
	}
	return strconv.Itoa(int(i))
}

func (n *Names) unit(i uint8) string {
	if n.Unit != nil {
		return n.Unit(i)
	}
	return strconv.Itoa(int(i))
}

var verdictNames = [...]string{"in-flight", "admitted", "refused", "failed", "dropped"}

// String is the verdict's name in events and results.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "unknown"
}

var classNames = [classes]string{"", "connect-refused", "connect-timeout", "unreachable",
	"unknown-host", "tls-failed", "conn-reset", "closed-early", "timeout", "malformed",
	"too-large", "no-handles", "bad-status", "other"}

// String is the class's name in events and results; empty for NoError.
func (c Class) String() string {
	if c < classes {
		return classNames[c]
	}
	return "other"
}
