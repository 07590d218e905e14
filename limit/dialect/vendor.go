package dialect

// zendesk reads `total=100; remaining=0; resets=41`, which is no structured
// field. The name of the endpoint is the end of the header's.
func (r *reader) zendesk(name, v []byte) {
	r.setFamily(FamilyOther)
	m := r.find(FamilyOther, nil, name[len("zendesk-ratelimit-"):], nil, mQuota|mNoQuota|mRemaining|mReset)
	good := false
	for len(v) > 0 {
		var pair []byte
		pair, v = cut(v, ';')
		k, val := cut(pair, '=')
		k, val = trim(k), trim(val)
		n, ok := readNumber(val)
		if !ok {
			r.notes |= Malformed
			continue
		}
		switch {
		case fold(k, "total"):
			r.setQuota(m, n.count())
		case fold(k, "remaining"):
			r.setRemaining(m, n)
		case fold(k, "resets"), fold(k, "reset"):
			if w, ok := r.numberWait(n, asReset); ok {
				r.setReset(m, w, VendorReset, val, false)
			}
		default:
			continue
		}
		good = true
	}
	if !good {
		r.notes |= Malformed
	}
}

func cut(b []byte, sep byte) (before, after []byte) {
	for i, c := range b {
		if c == sep {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// shopify reads the fill level of a leaky bucket, used/size.
func (r *reader) shopify(v []byte) {
	a, b := cut(v, '/')
	used, ok1 := readNumber(trim(a))
	size, ok2 := readNumber(trim(b))
	if !ok1 || !ok2 || used.neg || size.neg {
		r.notes |= Malformed
		return
	}
	r.setFamily(FamilyOther)
	m := r.find(FamilyOther, []byte("shopify"), nil, nil, mQuota|mNoQuota|mRemaining)
	r.setQuota(m, size.count())
	m.remaining = max(size.count()-used.count(), 0)
	m.has |= mRemaining
}

// azure reads what is left of one Azure Resource Manager quota: a number, or
// a packed list Provider/Policy;count,Provider/Policy;count.
func (r *reader) azure(name, v []byte) {
	r.setFamily(FamilyOther)
	if n, ok := readNumber(v); ok {
		r.setRemaining(r.find(FamilyOther, nil, name, nil, mRemaining|mNoRemaining), n)
		return
	}
	good := false
	for len(v) > 0 {
		var one []byte
		one, v = cut(v, ',')
		policy, count := cut(trim(one), ';')
		n, ok := readNumber(trim(count))
		if !ok || len(policy) == 0 {
			good = false
			break
		}
		good = true
		for i := len(policy) - 1; i >= 0; i-- {
			if policy[i] == '/' {
				policy = policy[i+1:]
				break
			}
		}
		r.setRemaining(r.find(FamilyOther, nil, policy, nil, mRemaining|mNoRemaining), n)
	}
	if !good {
		r.notes |= Malformed
	}
}

// basecamp reads one JSON object with period, limit, remaining and until.
func (r *reader) basecamp(m *member, v []byte) {
	p := pairs{b: v}
	good := false
	for p.next() {
		n, ok := readNumber(p.val)
		switch {
		case fold(p.key, "limit") && ok:
			r.setQuota(m, n.count())
		case fold(p.key, "remaining") && ok:
			r.setRemaining(m, n)
		case fold(p.key, "period") && ok && !n.neg && n.whole > 0:
			m.period(seconds(n.count()))
		case fold(p.key, "until"), fold(p.key, "reset"):
			w, ok := r.readWait(p.val, asReset)
			if !ok {
				continue
			}
			r.setReset(m, w, XRateLimitReset, p.val, false)
		default:
			continue
		}
		good = true
	}
	if !good {
		r.notes |= Malformed
	}
}
