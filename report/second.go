package report

// secondsMax bounds the series: a day. What comes later is counted in the
// last row and the result says so.
const secondsMax = 86_400

// Second is one row of the series, by the second in which attempts were sent
// (dropped ones: were due).
type Second struct {
	T        int64 `json:"t"`
	Offered  int64 `json:"offered"`
	Admitted int64 `json:"admitted"`
	Refused  int64 `json:"refused"`
	Failed   int64 `json:"failed"`
	InFlight int64 `json:"in_flight,omitempty"`
	Dropped  int64 `json:"dropped,omitempty"`
}

// series is indexed by second.
type series struct {
	rows []Second
	over bool
}

func (s *series) at(ns int64) *Second {
	i := int(max(ns, 0) / 1e9)
	if i < len(s.rows) {
		return &s.rows[i]
	}
	if i >= secondsMax {
		i = secondsMax - 1
		s.over = true
	}
	for len(s.rows) <= i {
		s.rows = append(s.rows, Second{T: int64(len(s.rows))})
	}
	return &s.rows[i]
}
