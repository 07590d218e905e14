package rules

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// maxCost bounds what a request may be told to cost.
const maxCost = 1 << 40

const routeHint = "such as POST /v1/orders/{id} or /v1/*"

// ruleRoutes reads one route or a list.
func (p *reader) ruleRoutes(r *Rule, n ast.Node) {
	one := func(n ast.Node) {
		if route, ok := p.route("route", n); ok && p.fresh(r.Routes, &route, n) {
			r.Routes = append(r.Routes, route)
		}
	}
	if _, ok := scalar(n); ok {
		one(n)
	} else {
		p.list("route", n, MaxRoutes, one)
		if seq, ok := n.(*ast.SequenceNode); ok && len(seq.Values) == 0 || n.Type() == ast.NullType {
			p.fail(p.at(n), "leave it out, and the rule applies everywhere", "route names no route")
		}
	}
	slices.SortStableFunc(r.Routes, before)
}

// costs reads a cost for everything, or one for each route.
func (p *reader) costs(r *Rule, n ast.Node) {
	if _, ok := scalar(n); ok {
		if c, ok := p.number("cost", n, 0, maxCost); ok {
			r.Costs = []Cost{{Route: Route{text: "/*", rest: true, line: p.at(n).line}, Cost: c}}
		}
		return
	}
	m, ok := n.(ast.MapNode)
	if !ok {
		p.shape(n, "cost", "a mapping of routes to costs", "such as cost: {POST /v1/export: 10}")
		return
	}
	var routes []Route
	for it := m.MapRange(); it.Next() && !p.full(); {
		route, ok := p.route("cost", it.Key())
		c, fine := p.number("cost", it.Value(), 0, maxCost)
		if ok && fine && p.fresh(routes, &route, it.Key()) {
			routes = append(routes, route)
			r.Costs = append(r.Costs, Cost{route, c})
		}
	}
	slices.SortStableFunc(r.Costs, func(a, b Cost) int { return before(a.Route, b.Route) })
}

func (p *reader) route(what string, n ast.Node) (Route, bool) {
	s, ok := p.text(what, n, MaxKey)
	if !ok {
		return Route{}, false
	}
	route, wrong := parseRoute(s)
	if wrong != "" {
		p.fail(p.at(n), routeHint, "route %s %s", shown(s), wrong)
		return Route{}, false
	}
	route.line = p.at(n).line
	if p.routes++; p.routes > MaxRoutes {
		p.fail(p.at(n), "", "the rules name more than %d routes", MaxRoutes)
		return Route{}, false
	}
	return route, true
}

// fresh reports a route that is one of those already read in another spelling.
func (p *reader) fresh(routes []Route, r *Route, n ast.Node) bool {
	for i := range routes {
		if covers(&routes[i], r) && covers(r, &routes[i]) {
			p.fail(p.at(n), "keep one of the two", "route %s matches the same as %s on line %d", shown(r.text), routes[i].text, routes[i].line)
			return false
		}
	}
	return true
}
