package load

import "fmt"

// Spread says which of several targets an attempt goes to.
type Spread uint8

const (
	RoundRobin Spread = iota // attempt by attempt, as a plain balancer does
	Random                   // drawn per attempt
	Sticky                   // by client
)

// ParseSpread reads a name as the command line has it.
func ParseSpread(s string) (Spread, error) {
	switch s {
	case "round-robin", "":
		return RoundRobin, nil
	case "random":
		return Random, nil
	case "sticky":
		return Sticky, nil
	}
	return 0, fmt.Errorf("spread %q is not one of round-robin, random, sticky", s)
}
