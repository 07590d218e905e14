package dialect

import "time"

// maxMembers is how many policies and resources of one answer are joined;
// further ones are only counted.
const maxMembers = 12

// member is one policy, resource or period with what is known of it. Slices
// alias the response.
type member struct {
	family           Family
	has              memberHas
	prefix, name, pk []byte
	quota, remaining int64
	used, fill       int64
	window, reset    time.Duration
	resetFrom        Source
	resetUnit        Unit
	resetPast        bool
	resetText        []byte
}

type memberHas uint16

const (
	mQuota memberHas = 1 << iota
	mRemaining
	mReset
	mExactReset // a second field for the same instant
	mWindow
	mUsed
	mFill
	mPolicy      // declared as a policy, not only as a state
	mNoQuota     // -1 or 0 for a limit
	mNoRemaining // -1 for what is left
	mTwice       // a field of the same name came before
)

// find returns the member of that name to which the field for need may be
// added, or a new one. A member that has the field already means that the
// header came twice.
func (r *reader) find(f Family, prefix, name, pk []byte, need memberHas) *member {
	var prior *member
	for i := range r.members[:r.n] {
		m := &r.members[i]
		if m.family != f || !sameFold(m.prefix, prefix) || !sameFold(m.name, name) {
			continue
		}
		if len(pk) > 0 && len(m.pk) > 0 && string(pk) != string(m.pk) {
			continue // another partition of the same policy
		}
		if m.has&need == 0 {
			if len(m.pk) == 0 {
				m.pk = pk
			}
			return m
		}
		prior = m
	}
	m := r.add(f)
	m.prefix, m.name, m.pk = prefix, name, pk
	if prior != nil {
		r.notes |= Duplicate
		prior.has |= mTwice
		m.has |= mTwice
	}
	return m
}

func (r *reader) add(f Family) *member {
	if r.n == maxMembers {
		r.more++
		r.spare = member{family: f}
		return &r.spare
	}
	m := &r.members[r.n]
	r.n++
	m.family = f
	return m
}

// setQuota takes a limit; 0 and below is how servers without one answer.
func (r *reader) setQuota(m *member, n int64) {
	if n <= 0 {
		r.notes |= Unlimited
		m.has |= mNoQuota
		return
	}
	m.quota = n
	m.has |= mQuota
}

func (r *reader) setRemaining(m *member, v number) {
	if v.neg {
		r.notes |= Unlimited
		m.has |= mNoRemaining
		return
	}
	m.remaining = v.count()
	m.has |= mRemaining
}

// setReset takes a reset. Where two fields speak of one instant, the one that
// needs no clock is kept, and the larger when they are apart by more than their
// rounding.
func (r *reader) setReset(m *member, w wait, s Source, raw []byte, second bool) {
	const rounding = 2 * time.Second // of a whole second in the value and in Date
	r.notes |= w.notes &^ Past
	had := m.hasReset()
	if second {
		m.has |= mExactReset
	} else {
		m.has |= mReset
	}
	if had {
		if diff := w.d - m.reset; diff > rounding || diff < -rounding {
			r.notes |= Disagree
			if diff < 0 {
				return
			}
		} else if w.unit != Seconds || m.resetUnit == Seconds {
			return
		}
	}
	m.reset, m.resetFrom, m.resetUnit, m.resetText = w.d, s, w.unit, raw
	m.resetPast = w.notes&Past != 0
}

func (m *member) hasReset() bool { return m.has&(mReset|mExactReset) != 0 }

// unlimited reports that the member's numbers mean "no limit" or "unknown".
func (m *member) unlimited() bool { return m.has&(mNoQuota|mNoRemaining) != 0 }

// usedUp reports that nothing is left, as far as the member tells.
func (m *member) usedUp() bool {
	return m.has&mRemaining != 0 && !m.unlimited() && m.remaining == 0
}

// tighter orders members by how much is left: of the quota where both know
// theirs, as counts otherwise. Floats are safe, it only picks what to show.
func (m *member) tighter(o *member) bool {
	if m.usedUp() != o.usedUp() {
		return m.usedUp()
	}
	if m.usedUp() {
		return m.hasReset() && (!o.hasReset() || m.reset > o.reset)
	}
	if m.has&o.has&mQuota != 0 {
		return float64(m.remaining)/float64(m.quota) < float64(o.remaining)/float64(o.quota)
	}
	return m.remaining < o.remaining
}
