package limit

// Sticky is the one bucket of a key at its owner. The state does not travel: a
// new owner starts full, so every move may admit a burst more. The zero value
// has no owner yet. Not safe for concurrent use.
type Sticky struct {
	owner  string
	bucket Bucket
	moves  int
}

// Take asks the bucket at the owner, who is new when it is not the last one.
func (s *Sticky) Take(owner string, r *BucketRule, now, cost int64) Decision {
	if owner != s.owner {
		if s.bucket != (Bucket{}) {
			s.moves++
		}
		s.owner, s.bucket = owner, Bucket{}
	}
	return s.bucket.Take(r, now, cost)
}

// Moves counts how often a new owner began without the state of the one before.
func (s *Sticky) Moves() int { return s.moves }
