package rules

// Request is what is known of a request.
type Request struct {
	Key     string // "" when nobody is known
	Plan    string
	Address string // or the range that stands for it, such as 2001:db8::/64
	Method  string
	Path    string // without its query, decoded
	// Kept is Path with each slash that was sent encoded as another character
	// of its segment; "" when there was none.
	Kept string
}

// Hit is a rule that a request is under.
type Hit struct {
	Rule    *Rule
	Limit   *Limit
	Subject string // whose bucket: the key, the address, the plan, the route or "all"
	Cost    int64  // above zero
}

// Match appends the rules that r is under at now, in Unix nanoseconds, in the
// order of the set. A rule applies when any of what servers may take the path
// for is one of its routes, and at the highest cost. A path that all read alike
// is under at most MaxAtOnce. It does not allocate for such a path when dst has
// room.
//
// A rule per key counts a caller without one by its address. Callers without
// a plan, or without an address, count together.
func (s *Set) Match(dst []Hit, r Request, now int64) []Hit {
	var room [1]path
	readings := r.readings(room[:0])
	for _, rule := range s.Rules {
		route := -1
		if len(rule.Routes) > 0 {
			if route = rule.route(r.Method, readings); route < 0 {
				continue
			}
		}
		cost := rule.cost(r.Method, readings)
		if cost == 0 {
			continue
		}
		l := rule.limit(&r, now)
		if l == nil {
			continue
		}
		hit := Hit{Rule: rule, Limit: l, Cost: cost}
		switch rule.Per {
		case PerKey:
			if hit.Subject = r.Key; r.Key == "" {
				hit.Subject = r.Address
			}
		case PerPlan:
			hit.Subject = r.Plan
		case PerAddress:
			hit.Subject = r.Address
		case PerRoute:
			hit.Subject = rule.Routes[route].text
		default:
			hit.Subject = "all"
		}
		dst = append(dst, hit)
	}
	return dst
}

// route is the first of the rule's routes that a reading is, -1 when none is.
func (r *Rule) route(method string, readings []path) int {
	for i := range readings {
		if n := find(r.Routes, method, &readings[i], false); n >= 0 {
			return n
		}
	}
	for i := range readings {
		if !r.Security {
			break
		}
		if n := find(r.Routes, method, &readings[i], true); n >= 0 {
			return n
		}
	}
	return -1
}

// cost is the highest of the readings'.
func (r *Rule) cost(method string, readings []path) (most int64) {
	for i := range readings {
		most = max(most, r.costOf(method, &readings[i], false))
		if r.Security {
			most = max(most, r.costOf(method, &readings[i], true))
		}
	}
	return most
}

// costOf is that of the most specific route, 1 when none is named.
func (r *Rule) costOf(method string, p *path, anyCase bool) int64 {
	for i := range r.Costs {
		if r.Costs[i].Route.matches(method, p, anyCase) {
			return r.Costs[i].Cost
		}
	}
	return 1
}

// limit is the most specific one; nil when there is none for the caller.
func (r *Rule) limit(q *Request, now int64) *Limit {
	if q.Key != "" {
		if o := r.overrides[q.Key]; o != nil && now < o.expires {
			return o.Limit
		}
		if l := r.keys[q.Key]; l != nil {
			return l
		}
	}
	if q.Plan != "" {
		if l := r.plans[q.Plan]; l != nil {
			return l
		}
	}
	if r.ranges != nil {
		if l := r.ranges.find(q.Address); l != nil {
			return l
		}
	}
	return r.def
}
