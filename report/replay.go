package report

// Replay is what a replay says beside the rest of its result.
type Replay struct {
	Trace ReplayTrace `json:"trace"`
	// Refused are the keys with the most refusals, the worst first.
	Refused []RefusedKey `json:"refused_keys,omitempty"`
	// RefusedKeys counts all keys that were ever refused.
	RefusedKeys int64 `json:"keys_refused"`
	// Rules are those of a rule file, in its order.
	Rules []ReplayRule `json:"rules,omitempty"`
	// Recorded compares with the verdicts in the trace, Against with another
	// limit.
	Recorded *ReplayDifference `json:"recorded,omitempty"`
	Against  *ReplayDifference `json:"against,omitempty"`
	Script   *ReplayScript     `json:"script,omitempty"`
}

// ReplayTrace is what was read.
type ReplayTrace struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Lines  int64  `json:"lines"`
	Calls  int64  `json:"calls"`
	// Passed are lines that are no calls, Broken those that could not be read.
	Passed      int64        `json:"passed_over"`
	Broken      int64        `json:"broken"`
	FirstBroken []BrokenLine `json:"first_broken,omitempty"`
	Backwards   int64        `json:"backwards"`
	MostBackS   float64      `json:"most_back_s"`
	SpanS       float64      `json:"span_s"`
}

// BrokenLine is a line that could not be read.
type BrokenLine struct {
	Line int64  `json:"line"`
	Why  string `json:"why"`
	Text string `json:"text"`
}

// ReplayRule is what one rule would have done.
type ReplayRule struct {
	Rule    string `json:"rule"`
	Shadow  bool   `json:"shadow"` // it refuses nothing, and Refused is what it would have
	Offered int64  `json:"offered"`
	Refused int64  `json:"refused"`
}

// RefusedKey is a key that was refused; times are seconds since the first
// call of the trace.
type RefusedKey struct {
	Key     string  `json:"key"`
	Offered int64   `json:"offered"`
	Refused int64   `json:"refused"`
	FirstS  float64 `json:"first_s"`
	LastS   float64 `json:"last_s"`
}

// ReplayDifference compares two decisions on every call.
type ReplayDifference struct {
	With          string          `json:"with"`
	Calls         int64           `json:"calls"` // compared
	BothAdmitted  int64           `json:"both_admitted"`
	BothRefused   int64           `json:"both_refused"`
	OnlyHere      int64           `json:"only_here"`  // admitted here and refused there
	OnlyThere     int64           `json:"only_there"` // refused here and admitted there
	KeysDiffering int64           `json:"keys_differing"`
	First         *ReplayDiffCall `json:"first,omitempty"`
}

// Differing is how many calls were decided differently.
func (d *ReplayDifference) Differing() int64 { return d.OnlyHere + d.OnlyThere }

// ReplayDiffCall is the first call that was decided differently, with what
// each side held of its key before and after.
type ReplayDiffCall struct {
	Line   int64   `json:"line,omitempty"`
	AtS    float64 `json:"at_s"`
	Key    string  `json:"key"`
	Cost   int64   `json:"cost"`
	Here   string  `json:"here"` // admitted or refused
	There  string  `json:"there"`
	Before string  `json:"before,omitempty"`
	After  string  `json:"after,omitempty"`
	// The same of the other limit.
	ThereBefore string `json:"there_before,omitempty"`
	ThereAfter  string `json:"there_after,omitempty"`
}

// ReplayScript is the script that decided and how it was run.
type ReplayScript struct {
	Name       string   `json:"name"`
	SHA        string   `json:"sha"`
	Server     string   `json:"server"` // embedded or the server's version
	Clock      string   `json:"clock"`  // virtual, trace or server
	Speed      string   `json:"speed"`
	Mapping    []string `json:"mapping"`
	Calls      int64    `json:"calls"`
	Failed     int64    `json:"failed"`
	FirstError string   `json:"first_error,omitempty"`
	NoScript   int64    `json:"no_script"`    // times it had to be loaded again
	CallsPerS  float64  `json:"calls_per_s"`  // of the replay itself
	ElapsedS   float64  `json:"elapsed_s"`    // real time
	Removed    int64    `json:"keys_removed"` // of the scratch prefix
	// Checked lists the checks of the script that were made, with what came
	// of each: held, finding, or why it could not be made.
	Checked []ReplayCheck `json:"checked,omitempty"`
}

// ReplayCheck is one check of a script.
type ReplayCheck struct {
	ID     string `json:"id"`
	Result string `json:"result"` // held, finding or not made
	Detail string `json:"detail"`
}
