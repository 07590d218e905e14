package limit

// Versions holds a gateway's copy of something that is published in versions,
// such as a rule. Versions only go up: a copy that comes late is ignored.
// Make one with [NewVersions]. Not safe for concurrent use.
type Versions[T any] struct {
	version int64
	value   T
	late    int
	follow  bool
}

// NewVersions starts with a first version. With follow it takes whatever
// comes, which lets a late copy roll a gateway back; that is wrong and exists
// to show it.
func NewVersions[T any](version int64, value T, follow bool) *Versions[T] {
	return &Versions[T]{version: version, value: value, follow: follow}
}

// Offer reports whether the value is taken: its version is above the held one.
func (v *Versions[T]) Offer(version int64, value T) bool {
	if version < v.version {
		v.late++
	}
	if version <= v.version && !v.follow {
		return false
	}
	v.version, v.value = version, value
	return true
}

// Get is the held value.
func (v *Versions[T]) Get() T { return v.value }

// Version is the held version.
func (v *Versions[T]) Version() int64 { return v.version }

// Late counts offers of a version below the one held, taken or not.
func (v *Versions[T]) Late() int { return v.late }
