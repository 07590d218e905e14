package inspect

import "fmt"

// Sure is how sure it is that a layout's writer wrote a key.
type Sure uint8

const (
	// Guess: nothing but the value's shape speaks for it.
	Guess Sure = iota
	// Likely: the name or the shape is the writer's, and others may use it too.
	Likely
	// Certain: name and shape together are nobody else's that is known.
	Certain
)

var sureNames = []string{"guess", "likely", "certain"}

func (s Sure) String() string {
	if int(s) < len(sureNames) {
		return sureNames[s]
	}
	return sureNames[Guess]
}

// MarshalText is the name, as in JSON.
func (s Sure) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Sure) UnmarshalText(text []byte) error {
	for i, name := range sureNames {
		if name == string(text) {
			*s = Sure(i)
			return nil
		}
	}
	return fmt.Errorf("%.20q is not one of guess, likely, certain", text)
}
