package dialect

import "time"

// finish turns what was collected into the answer.
func (r *reader) finish(status int) {
	a := r.a
	r.derive()
	r.join()
	var used, counted bool
	for i := range r.members[:r.n] {
		m := &r.members[i]
		used = used || m.usedUp()
		counted = counted || m.has&(mQuota|mRemaining|mReset|mExactReset) != 0 && !m.unlimited()
	}
	best := r.binding()
	if best != nil {
		limitFrom, leftFrom := best.sources()
		if best.has&mQuota != 0 {
			a.Limit, a.HasLimit, a.LimitFrom = best.quota, true, limitFrom
		}
		if best.has&mRemaining != 0 {
			a.Remaining, a.HasRemaining, a.RemainingFrom = best.remaining, true, leftFrom
		}
	}
	r.export(best)
	limited := r.limited(status, used, counted)
	window := r.chooseReset(best)
	r.chooseWait(status, limited, window)
	r.suspect()
	a.Notes = r.notes
}

// sources says which fields m's counts came from.
func (m *member) sources() (limit, remaining Source) {
	switch {
	case m.family == FamilyC:
		return PolicyField, RateLimitT
	case m.family == FamilyB:
		return RateLimitT, RateLimitT
	case m.has&mPolicy != 0:
		return PolicyField, RemainingField
	}
	return LimitField, RemainingField
}

// limited says whether the answer is a limiter's refusal, and notes when the
// status alone would mislead.
func (r *reader) limited(status int, used, counted bool) bool {
	a := r.a
	limited := r.envoy || r.grpc || r.stripe && status >= 400
	switch {
	case status == 429:
		limited = true
		if r.signals&sigBilling != 0 || r.signals&sigLock != 0 && !r.stripe {
			limited = false
			r.notes |= NotLimited
		}
	case status == 509:
		limited = true
	case status == 503:
		limited = limited || r.graph || used || counted && !a.HasRemaining || r.signals&(sigAWS|sigLimit) != 0
		if !limited && r.signals&sigProxy != 0 && !r.hadRA {
			limited = true
			r.notes |= Guessed
		}
		if !limited && r.hadRA {
			r.notes |= OverloadNotLimit
		}
	case status == 403:
		limited = limited || used || a.Retry.Has || a.Milli.Has || r.signals&(sigAWS|sigLimit) != 0
	case status == 529:
		r.notes |= OverloadNotLimit
	case status >= 400:
		limited = limited || r.signals&(sigAWS|sigLimit) != 0
	case status >= 200 && status < 300:
		limited = limited || r.signals&sigGraph != 0
	}
	if r.signals&sigReduced != 0 {
		r.notes |= Reduced
	}
	if r.signals&sigBilling != 0 && status >= 400 && a.Should == 0 {
		a.Should = -1
	}
	a.Limited = limited
	if limited {
		switch {
		case r.signals&sigSecondary != 0:
			a.Floor = 60 * time.Second
		case r.signals&sigGoogle != 0:
			a.Floor = 30 * time.Second
		}
	}
	return limited
}

// chooseReset picks the reset to show and the one to wait for: the longest of
// what is used up, or of members that do not say what is left.
func (r *reader) chooseReset(best *member) (window Hint) {
	a := r.a
	var show *member
	for i := range r.members[:r.n] {
		m := &r.members[i]
		if !m.hasReset() || m.unlimited() {
			continue
		}
		open := m.usedUp() || m.has&mRemaining == 0 && m.resetFrom != RateLimitT
		if open && (!window.Has || m.reset > window.Wait) {
			if window.Has && m.reset-window.Wait > 2*time.Second && sameWindow(m, window.Source) {
				r.notes |= Disagree
			}
			window = m.hint()
		}
		if show == nil || m == best || show != best && m.reset > show.reset {
			show = m
		}
	}
	switch {
	case window.Has:
		a.Reset = window
	case show != nil:
		a.Reset = show.hint()
	}
	if show != nil && show.resetPast {
		r.notes |= Past
	}
	return window
}

// sameWindow reports that m has no name of its own, so that its reset speaks
// of the same thing as another unnamed one.
func sameWindow(m *member, s Source) bool {
	return len(m.name) == 0 && m.has&mPolicy == 0 && m.resetFrom != s
}

func (m *member) hint() Hint {
	h := Hint{Has: true, Wait: m.reset, Source: m.resetFrom, Unit: m.resetUnit}
	h.keep(m.resetText)
	return h
}

// chooseWait follows the order in Read's comment.
func (r *reader) chooseWait(status int, limited bool, window Hint) {
	a := r.a
	if status >= 200 && status < 300 && !limited {
		return
	}
	w := a.Milli
	if !w.Has {
		w = Hint{}
	}
	r.weigh(&w, &a.Retry)
	r.weigh(&w, &r.other)
	r.weigh(&w, &r.body)
	switch {
	case w.Has:
		if window.Has && window.Source == RateLimitT && window.Wait-w.Wait >= 2*time.Second {
			r.notes |= Disagree // nothing may pass before t, yet the order is shorter
		}
	case window.Has:
		w = window
	case r.text.Has:
		w = r.text
	}
	a.Wait = w
}

// weigh lets a less trusted order h replace w when it is longer. A whole
// second that is the other's value rounded up is no disagreement.
func (r *reader) weigh(w, h *Hint) {
	switch {
	case !h.Has:
	case !w.Has:
		*w = *h
	case h.Wait <= w.Wait:
		if w.Wait-h.Wait >= time.Second {
			r.notes |= Disagree
		}
	case h.Wait-w.Wait < time.Second && h.Wait%time.Second == 0 && w.Wait%time.Second != 0:
	default:
		*w = *h
		r.notes |= Disagree
	}
}

// suspect notes values that were read to the letter but are hardly meant so.
func (r *reader) suspect() {
	a := r.a
	if a.Retry.Has && a.Retry.Unit == Seconds {
		var longest time.Duration
		for i := range r.members[:r.n] {
			longest = max(longest, r.members[i].window)
		}
		// A little longer than the window is a limiter that punishes, not a unit.
		if longest > 0 && a.Retry.Wait/10 > longest {
			r.notes |= LikelyMillis
		}
	}
	for _, h := range [...]*Hint{&a.Wait, &a.Retry, &a.Milli} {
		if h.Has && h.Wait >= SaneWait {
			r.notes |= TooLong
		}
	}
	if r.hadRA && !a.Retry.Has {
		r.notes |= BadRetryAfter
	}
}

// export copies named or windowed members into the answer, in the order in
// which they came. The binding one is always among them.
func (r *reader) export(best *member) {
	a := r.a
	for i := range r.members[:r.n] {
		m := &r.members[i]
		if len(m.name) == 0 && m.has&(mWindow|mPolicy|mTwice) == 0 && (len(m.prefix) == 0 || m.has&mQuota == 0) {
			continue
		}
		at := int(a.NPolicies)
		if at == len(a.Policies) {
			a.MorePolicies++
			if m != best {
				continue
			}
			at--
		} else {
			a.NPolicies++
		}
		m.export(&a.Policies[at])
	}
	a.MorePolicies += r.more
}

func (m *member) export(p *Policy) {
	*p = Policy{}
	name := m.name
	if len(name) == 0 {
		name = m.prefix
	}
	for i := 0; i < len(name) && int(p.NameLen) < len(p.Name); i++ {
		if name[i] == '\\' && m.family == FamilyC && i+1 < len(name) {
			i++
		}
		p.Name[p.NameLen] = name[i]
		p.NameLen++
	}
	if m.has&mQuota != 0 {
		p.HasQuota, p.Quota = true, m.quota
	}
	if m.has&mWindow != 0 {
		p.HasWindow, p.Window = true, min(m.window, MaxWait)
	}
	if m.has&mRemaining != 0 && !m.unlimited() {
		p.HasRemaining, p.Remaining = true, m.remaining
	}
	if m.hasReset() && !m.unlimited() {
		p.HasReset, p.Reset = true, m.reset
	}
}
