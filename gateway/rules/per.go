package rules

// Per is what a rule has a bucket for.
type Per uint8

const (
	PerKey     Per = iota // a caller's key, or its address when it has none
	PerPlan               // a plan, all of its callers together
	PerAddress            // an address
	PerRoute              // each of the rule's routes
	PerAll                // one bucket for everybody
)

var pers = [...]string{"key", "plan", "address", "route", "all"}

// String is the word of the file.
func (p Per) String() string { return pers[p] }

func parsePer(s string) (Per, bool) {
	for i, name := range pers {
		if name == s {
			return Per(i), true
		}
	}
	return 0, false
}
