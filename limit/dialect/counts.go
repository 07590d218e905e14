package dialect

import "time"

// counting reads any field with ratelimit or rate-limit in its name, except
// the two structured ones.
func (r *reader) counting(name, v []byte) {
	c := parseCounting(name)
	if c.word == noWord {
		return
	}
	if c.family == FamilyOther && fold(c.prefix, "ms") {
		if c.word == wRemaining {
			r.azure(c.name, v)
		}
		return
	}
	switch c.word {
	case wLimit:
		r.limit(c, v)
	case wRemaining:
		r.remaining(c, v)
	case wUsed:
		if n, ok := readNumber(v); ok && !n.neg {
			m := r.find(c.family, c.prefix, c.name, nil, mUsed)
			m.used = n.count()
			m.has |= mUsed
		} else {
			r.notes |= Malformed
		}
	case wReset, wResetAfter, wResetMS, wResetTime:
		r.reset(c, v)
	case wRetryAfter:
		r.otherWait(XRateLimitRetryAfter, v, asReset)
	case wWindow, wWindowMS:
		unit := time.Second
		if c.word == wWindowMS {
			unit = time.Millisecond
		}
		d, ok := readDuration(v)
		if n, good := readNumber(v); good && !n.neg {
			d, ok = n.times(unit), true
		}
		if !ok || d == 0 {
			r.notes |= Malformed
			return
		}
		m := r.find(c.family, c.prefix, c.name, nil, mWindow)
		m.window = d
		m.has |= mWindow
	case wFill:
		n, ok := readNumber(v)
		if !ok || n.neg {
			r.notes |= Malformed
			return
		}
		m := r.find(c.family, c.prefix, c.name, nil, mFill)
		m.fill = n.count()
		m.has |= mFill
	}
}

// period gives m the window that its name speaks of.
func (m *member) period(d time.Duration) {
	if d > 0 && m.has&mWindow == 0 {
		m.window = d
		m.has |= mWindow
	}
}

func (r *reader) limit(c counting, v []byte) {
	m := r.find(c.family, c.prefix, c.name, nil, mQuota|mNoQuota)
	m.period(c.window)
	r.setFamily(c.family)
	if n, ok := readNumber(v); ok {
		r.setQuota(m, n.count())
		return
	}
	if len(v) > 0 && v[0] == '{' {
		r.basecamp(m, v)
		return
	}
	if _, ok := validList(v); ok && len(v) > 0 && (isDigit(v[0]) || v[0] == '-') {
		r.limitList(m, v)
		return
	}
	if !r.oddLimit(m, v) {
		r.notes |= Malformed
	}
}

// limitList reads a limit with its policies, as the drafts up to 03 and Envoy
// write it: the first member is the limit in force.
func (r *reader) limitList(m *member, v []byte) {
	p := sf{b: v}
	for i, more := 0, true; more; i++ {
		var n sfValue
		p.member(&n)
		quota, window, name, ok := r.policyParams(&p, n)
		if more, _ = p.comma(); !ok {
			continue
		}
		if i == 0 {
			r.setQuota(m, quota)
			m.period(window)
			continue
		}
		if window == 0 { // two plain limits that a proxy joined
			r.notes |= Duplicate
			continue
		}
		q := r.add(m.family)
		q.name = name
		r.setQuota(q, quota)
		q.period(window)
		q.has |= mPolicy
	}
}

// policyParams reads the parameters of a policy whose item is its number.
func (r *reader) policyParams(p *sf, n sfValue) (quota int64, window time.Duration, name []byte, ok bool) {
	var k []byte
	var v sfValue
	for {
		more, _ := p.param(&k, &v)
		if !more {
			break
		}
		switch string(k) {
		case "w", "window":
			if v.kind == sfInt && v.n > 0 {
				window = seconds(v.n)
			} else {
				r.notes |= Malformed
			}
		case "name":
			if v.kind == sfString || v.kind == sfToken {
				name = v.s
			}
		}
	}
	if n.kind != sfInt && n.kind != sfDec {
		r.notes |= Malformed
		return 0, 0, nil, false
	}
	return n.n, window, name, true
}

// oddLimit reads limits without a number: `;w=21600` (Docker Hub) and `1m`
// (AspNetCoreRateLimit, where it is the period).
func (r *reader) oddLimit(m *member, v []byte) bool {
	d, ok := readDuration(v)
	if !ok {
		d, ok = bareWindow(v)
	}
	if ok && d > 0 {
		r.notes |= NoLimitNumber
		m.period(d)
		return true
	}
	return false
}

// bareWindow reads `;w=N`.
func bareWindow(v []byte) (time.Duration, bool) {
	if len(v) < 2 || v[0] != ';' {
		return 0, false
	}
	p := sf{b: v}
	var k []byte
	var n, w sfValue
	for {
		more, ok := p.param(&k, &n)
		if !ok || !more && !p.eof() {
			return 0, false
		}
		if !more {
			break
		}
		if string(k) == "w" || string(k) == "window" {
			w = n
		}
	}
	return seconds(w.n), w.kind == sfInt
}

func (r *reader) remaining(c counting, v []byte) {
	m := r.find(c.family, c.prefix, c.name, nil, mRemaining|mNoRemaining)
	m.period(c.window)
	r.setFamily(c.family)
	if n, ok := readNumber(v); ok {
		r.setRemaining(m, n)
		return
	}
	if d, ok := bareWindow(v); ok {
		r.notes |= NoLimitNumber
		m.period(d)
		return
	}
	if _, ok := validList(v); !ok || len(v) == 0 {
		r.notes |= Malformed
		return
	}
	p := sf{b: v}
	for more := true; more; {
		var n sfValue
		p.member(&n)
		_, window, _, ok := r.policyParams(&p, n)
		if more, _ = p.comma(); !ok {
			continue
		}
		left, _ := readNumber(n.s)
		switch {
		case m.has&(mRemaining|mNoRemaining) == 0:
			r.setRemaining(m, left)
			m.period(window)
		default: // joined by a proxy: the smaller is the safe one
			r.notes |= Duplicate
			if !left.neg && left.count() < m.remaining {
				r.setRemaining(m, left)
			}
		}
	}
}

func (r *reader) reset(c counting, v []byte) {
	f, second, source := asReset, false, VendorReset
	switch c.family {
	case FamilyA:
		source = RateLimitReset
	case FamilyX:
		source = XRateLimitReset
	}
	switch c.word {
	case wResetAfter:
		f, second = asLeft, true
		if c.family == FamilyX {
			source = XRateLimitResetAfter
		}
	case wResetMS:
		f = asMillis
	case wResetTime:
		second, source = true, VendorReset
	}
	need := mReset
	if second {
		need = mExactReset
	}
	m := r.find(c.family, c.prefix, c.name, nil, need)
	m.period(c.window)
	r.setFamily(c.family)
	w, ok := r.readWait(v, f)
	if !ok {
		if w.notes&Unlimited == 0 {
			r.bad(&r.a.Reset, source, v)
		}
		r.notes |= w.notes
		return
	}
	if source == RateLimitReset && w.unit != Seconds {
		r.notes |= EpochReset
	}
	r.setReset(m, w, source, v, second)
}

// setFamily keeps the most telling family of an answer.
func (r *reader) setFamily(f Family) {
	rank := [...]uint8{NoFamily: 0, FamilyOther: 1, FamilyX: 2, FamilyA: 3, FamilyB: 4, FamilyC: 5}
	if rank[f] > rank[r.a.Family] {
		r.a.Family = f
	}
}
