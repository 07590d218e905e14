package rules

// Request is what is known of a request.
type Request struct {
	Key     string // "" when nobody is known
	Plan    string
	Address string // or the range that stands for it, such as 2001:db8::/64
	Method  string
	Path    string // without its query, decoded
	// Kept is Path with each slash that was sent encoded as another character
	// of its segment; "" when there was none. Servers differ in what they take
	// such a slash for, so a rule applies when either is one of its routes.
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
// order of the set; never more than MaxAtOnce. It does not allocate when dst
// has room.
//
// A rule per key counts a caller without one by its address. Callers without
// a plan, or without an address, count together.
func (s *Set) Match(dst []Hit, r Request, now int64) []Hit {
	var p, kept path
	p.read(r.Path)
	kept.read(r.Kept)
	for _, rule := range s.Rules {
		route := -1
		if len(rule.Routes) > 0 {
			if route = find(rule.Routes, r.Method, &p); route < 0 && r.Kept != "" {
				route = find(rule.Routes, r.Method, &kept)
			}
			if route < 0 {
				continue
			}
		}
		cost := rule.cost(r.Method, &p)
		if r.Kept != "" {
			cost = max(cost, rule.cost(r.Method, &kept))
		}
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

// cost is that of the most specific route, 1 when none is named.
func (r *Rule) cost(method string, p *path) int64 {
	for i := range r.Costs {
		if r.Costs[i].Route.matches(method, p) {
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
