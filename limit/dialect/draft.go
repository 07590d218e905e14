package dialect

import "time"

// isDictionary tells draft 07's RateLimit from the later Lists: its first
// member is a key with an equals sign.
func isDictionary(v []byte) bool {
	p := sf{b: v}
	var k []byte
	return p.key(&k) && !p.eof() && p.b[p.i] == '='
}

// state reads a RateLimit field that is known to be well formed.
func (r *reader) state(v []byte) {
	if isDictionary(v) {
		r.stateB(v)
	} else {
		r.stateC(v)
	}
}

// natural reports whether v is a count or a number of seconds; what is not is
// reported and left out.
func (r *reader) natural(v sfValue) bool {
	switch {
	case v.kind == sfNone:
		return false
	case v.kind == sfInt && v.n >= 0:
		return true
	case v.kind == sfInt && v.n == -1:
		r.notes |= Unlimited
	default:
		r.notes |= Malformed
	}
	return false
}

// stateB reads draft 07: limit=10, remaining=0, reset=5. A repeated key: the
// last one wins (RFC 9651).
func (r *reader) stateB(v []byte) {
	r.setFamily(FamilyB)
	p := sf{b: v}
	var k []byte
	var n, limit, remaining, reset sfValue
	for more := true; more; {
		p.entry(&k, &n)
		p.skipParams()
		switch string(k) {
		case "limit":
			limit = n
		case "remaining":
			remaining = n
		case "reset":
			reset = n
		}
		more, _ = p.comma()
	}
	if limit.kind == sfNone || reset.kind == sfNone {
		r.notes |= Malformed // both are required
	}
	m := r.find(FamilyB, nil, nil, nil, mQuota|mNoQuota|mRemaining|mReset)
	if limit.kind == sfInt {
		r.setQuota(m, limit.n)
	} else if limit.kind != sfNone {
		r.notes |= Malformed
	}
	if r.natural(remaining) {
		m.remaining = remaining.n
		m.has |= mRemaining
	} else if remaining.n == -1 {
		m.has |= mNoRemaining
	}
	if r.natural(reset) {
		if w, ok := r.readWait(reset.s, asReset); ok {
			if w.unit != Seconds {
				r.notes |= EpochReset
			}
			r.setReset(m, w, RateLimitReset, v, false)
		} else {
			r.notes |= Malformed
		}
	}
}

// stateC reads drafts 08 to 11: "name";r=0;t=5. Names may be tokens, which a
// later draft may ask for.
func (r *reader) stateC(v []byte) {
	r.setFamily(FamilyC)
	p := sf{b: v}
	for more := true; more; {
		start := p.i
		var name, n, left, t, pk sfValue
		var k []byte
		p.member(&name)
		for {
			some, _ := p.param(&k, &n)
			if !some {
				break
			}
			switch string(k) {
			case "r":
				left = n
			case "t":
				t = n
			case "pk":
				pk = n
			}
		}
		end := p.i
		more, _ = p.comma()
		if name.kind != sfString && name.kind != sfToken {
			r.notes |= Malformed
			continue
		}
		if pk.kind != sfNone && pk.kind != sfBytes {
			r.notes |= Malformed
		}
		m := r.find(FamilyC, nil, name.s, pk.s, mRemaining|mNoRemaining|mReset)
		if r.natural(left) {
			m.remaining = left.n
			m.has |= mRemaining
		} else if left.n == -1 {
			m.has |= mNoRemaining
		}
		if r.natural(t) {
			r.setReset(m, wait{d: seconds(t.n), unit: Seconds}, RateLimitT, v[start:end], false)
		}
	}
}

// policies reads a RateLimit-Policy field that is a well-formed List: integers
// up to draft 07, names from 08 on.
func (r *reader) policies(v []byte) {
	p := sf{b: v}
	for more := true; more; {
		var item sfValue
		p.member(&item)
		if item.kind == sfString || item.kind == sfToken {
			r.policyC(&p, item)
		} else if quota, window, name, ok := r.policyParams(&p, item); ok {
			r.setFamily(FamilyA)
			if window == 0 {
				r.notes |= Malformed // w is required
			}
			for i := range r.members[:r.n] {
				o := &r.members[i]
				if o.has&mPolicy != 0 && o.family == FamilyA && o.quota == quota && o.window != window {
					r.notes |= Inconsistent // the number is a policy's only name
				}
			}
			m := r.add(FamilyA)
			m.name = name
			m.has |= mPolicy
			r.setQuota(m, quota)
			m.period(window)
		}
		more, _ = p.comma()
	}
}

func (r *reader) policyC(p *sf, name sfValue) {
	r.setFamily(FamilyC)
	var k []byte
	var n, q, w, pk sfValue
	for {
		more, _ := p.param(&k, &n)
		if !more {
			break
		}
		switch string(k) {
		case "q":
			q = n
		case "w":
			w = n
		case "pk":
			pk = n
		}
	}
	if pk.kind != sfNone && pk.kind != sfBytes {
		r.notes |= Malformed
	}
	m := r.find(FamilyC, nil, name.s, pk.s, mQuota|mPolicy)
	m.has |= mPolicy
	switch {
	case q.kind == sfNone:
		r.notes |= NoLimitNumber
	case r.natural(q):
		m.quota = q.n // 0 is legal here: a policy that lets nothing through
		m.has |= mQuota
	}
	if r.natural(w) {
		if w.n == 0 {
			r.notes |= Malformed
		} else {
			m.period(seconds(w.n))
		}
	}
}

// sloppyPolicy reads a policy without its number, as Docker Hub's limits have
// been seen: `;w=21600`.
func (r *reader) sloppyPolicy(v []byte) bool {
	d, ok := bareWindow(v)
	if !ok || d <= 0 {
		return false
	}
	r.notes |= NoLimitNumber
	r.setFamily(FamilyA)
	m := r.add(FamilyA)
	m.has |= mPolicy
	m.period(min(d, MaxWait))
	return true
}

// binding returns the member that says how much is left, nil when none does.
func (r *reader) binding() *member {
	var best *member
	for i := range r.members[:r.n] {
		m := &r.members[i]
		if m.has&mRemaining == 0 || m.unlimited() {
			continue
		}
		if best == nil || m.tighter(best) {
			best = m
		}
	}
	if best != nil {
		return best
	}
	for i := range r.members[:r.n] {
		if m := &r.members[i]; m.has&mQuota != 0 && !m.unlimited() {
			return m
		}
	}
	return nil
}

// join gives the state of unnamed counts to the policy they belong to: the one
// with their quota, or the only one.
func (r *reader) join() {
	for i := range r.members[:r.n] {
		s := &r.members[i]
		if len(s.name) > 0 || s.has&(mWindow|mPolicy) != 0 || s.has&(mRemaining|mReset|mExactReset) == 0 {
			continue
		}
		var to *member
		fits := 0
		for j := range r.members[:r.n] {
			p := &r.members[j]
			if j == i || p.has&mWindow == 0 || p.has&mRemaining != 0 && p.remaining != s.remaining {
				continue
			}
			if s.has&mQuota != 0 {
				if p.has&mQuota != 0 && p.quota == s.quota && to == nil {
					to, fits = p, 1
				}
			} else if p.has&mPolicy != 0 {
				to = p
				fits++
			}
		}
		if fits != 1 || s.has&mNoRemaining != 0 || s.has&mNoQuota != 0 {
			continue
		}
		if s.has&mRemaining != 0 {
			to.remaining = s.remaining
			to.has |= mRemaining
		}
		if s.hasReset() && !to.hasReset() {
			to.reset, to.resetFrom, to.resetUnit, to.resetText, to.resetPast = s.reset, s.resetFrom, s.resetUnit, s.resetText, s.resetPast
			to.has |= mReset
		}
	}
}

// fillName names the rate of a bucket that is announced beside its size.
var fillName = []byte("fill-rate")

// derive works out what follows from other numbers of the same member.
func (r *reader) derive() {
	for i := range r.members[:r.n] {
		m := &r.members[i]
		if m.has&(mQuota|mNoQuota) == 0 && m.has&mUsed != 0 && m.has&mRemaining != 0 {
			m.quota = m.used + m.remaining // Reddit names no limit
			if m.quota > 0 {
				m.has |= mQuota
			}
		}
		if m.has&mFill != 0 {
			// A bucket: Limit is its size, the rate is a policy of its own.
			window := time.Second
			if m.has&mWindow != 0 {
				window = m.window
				m.has &^= mWindow
			}
			fill, family := m.fill, m.family
			m.has &^= mFill
			p := r.add(family)
			p.name = fillName
			p.has |= mPolicy
			r.setQuota(p, fill)
			p.period(window)
		}
		if m.has&(mQuota|mRemaining) == mQuota|mRemaining && !m.unlimited() && m.remaining > m.quota {
			r.notes |= Inconsistent
		}
	}
}
