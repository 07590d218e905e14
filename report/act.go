package report

// Act is a part of a guided tour's run, measured and judged by itself.
type Act struct {
	Title string `json:"title"`
	// FromS and ToS are the part of the run, in seconds, whose attempts count.
	FromS    float64 `json:"from_s"`
	ToS      float64 `json:"to_s"`
	Verdict  string  `json:"verdict"`
	Bound    *Bound  `json:"bound,omitempty"`
	Totals   Totals  `json:"totals"`
	Herd     Herd    `json:"herd"` // its times are since the act's own start
	Measured string  `json:"measured"`
}
