package limit

// Shadow lets requests pass a rule that is only on trial, and counts what it
// would have done. The zero value is ready. Not safe for concurrent use.
type Shadow struct {
	Admitted int64 // requests that the rule admitted
	Refused  int64 // and those that it would have refused
}

// Pass counts a decision of the rule and gives the one to act on: admitted, at
// once, with the rule's numbers.
func (s *Shadow) Pass(d Decision) Decision {
	if d.OK {
		s.Admitted++
	} else {
		s.Refused++
	}
	d.OK, d.RetryAfter, d.Delay = true, 0, 0
	return d
}
