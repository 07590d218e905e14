package limit

import "fmt"

// Algorithm names a limiter.
type Algorithm uint8

const (
	TokenBucket Algorithm = iota
	GCRA
	FixedWindow
	SlidingLog
	SlidingCounter
	LeakyQueue
	LeakyMeter
	Concurrency
)

// syntax is how an algorithm is written: its name, the fields it takes, and an
// example that parses.
type syntax struct {
	name    string
	fields  []string
	example string
}

var syntaxes = [...]syntax{
	TokenBucket:    {"token-bucket", []string{"rate", "burst"}, "10/s,burst=20"},
	GCRA:           {"gcra", []string{"rate", "burst"}, "gcra:rate=10/s,burst=20"},
	FixedWindow:    {"fixed-window", []string{"limit", "window"}, "fixed-window:limit=600,window=60s"},
	SlidingLog:     {"sliding-log", []string{"limit", "window"}, "sliding-log:limit=600,window=60s"},
	SlidingCounter: {"sliding-counter", []string{"limit", "window"}, "sliding-counter:limit=600,window=60s"},
	LeakyQueue:     {"leaky-queue", []string{"rate", "queue"}, "leaky-queue:rate=10/s,queue=20"},
	LeakyMeter:     {"leaky-meter", []string{"rate", "burst"}, "leaky-meter:rate=10/s,burst=20"},
	Concurrency:    {"concurrency", []string{"limit"}, "concurrency:limit=40"},
}

// Algorithms lists every algorithm.
func Algorithms() []Algorithm {
	all := make([]Algorithm, len(syntaxes))
	for i := range all {
		all[i] = Algorithm(i)
	}
	return all
}

// String is the name used in a limit's text, such as "token-bucket".
func (a Algorithm) String() string {
	if int(a) < len(syntaxes) {
		return syntaxes[a].name
	}
	return fmt.Sprintf("algorithm(%d)", uint8(a))
}

// ParseAlgorithm is the inverse of String.
func ParseAlgorithm(name string) (Algorithm, error) {
	for i, s := range syntaxes {
		if s.name == name {
			return Algorithm(i), nil
		}
	}
	return 0, &SpecError{Field: "algorithm", Value: name, Reason: "is not one of " + algorithmNames(), Hint: syntaxes[TokenBucket].example}
}

func algorithmNames() string {
	out := ""
	for i, s := range syntaxes {
		if i > 0 {
			out += ", "
		}
		out += s.name
	}
	return out
}
