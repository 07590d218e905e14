package profiles

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

func parseText(s string) (string, *fault)      { return s, nil }
func parseKind(s string) (ArrivalKind, *fault) { return ArrivalKind(s), nil }
func parseKeyKind(s string) (KeyKind, *fault)  { return KeyKind(s), nil }

func (d *decoder) profile(n ast.Node, p *Profile) {
	d.mapping("", "the profile", n, []field{
		{"name", value(parseText, &p.Name)},
		{"about", value(parseText, &p.About)},
		{"duration", value(parseDuration, &p.Duration)},
		{"populations", func(d *decoder, path string, n ast.Node) {
			d.list(path, n, MaxPopulations, func(path string, n ast.Node) {
				p.Populations = append(p.Populations, d.population(path, n))
			})
		}},
	})
}

func (d *decoder) population(path string, n ast.Node) (p Population) {
	d.mapping(path, "a population", n, []field{
		{"name", value(parseText, &p.Name)},
		{"clients", value(parseCount, &p.Clients)},
		{"keys", func(d *decoder, path string, n ast.Node) { d.keys(path, n, &p.Keys) }},
		{"arrivals", func(d *decoder, path string, n ast.Node) { d.arrivals(path, n, &p.Arrivals) }},
		{"behaviour", value(parseText, &p.Behaviour)},
		{"max_attempts", value(parseCount, &p.MaxAttempts)},
		{"cost", func(d *decoder, path string, n ast.Node) { d.costs(path, n, &p.Cost) }},
		{"routes", func(d *decoder, path string, n ast.Node) {
			d.list(path, n, MaxMix, func(path string, n ast.Node) {
				p.Routes = append(p.Routes, d.route(path, n))
			})
		}},
	})
	return p
}

// keys reads a mapping, or the name of a kind that needs no more.
func (d *decoder) keys(path string, n ast.Node, k *Keys) {
	if s, ok := Scalar(n); ok {
		d.places[path+".kind"] = place{at: Position(n), text: s}
		k.Kind = KeyKind(s)
		if count, f := parseCount(s); f == nil && count > 0 {
			d.fail(Position(n), "write keys: {kind: cycle, count: "+s+"}", "keys %s has no kind", shown(s))
		}
		return
	}
	fields := []field{
		{"kind", value(parseKeyKind, &k.Kind)},
		{"count", value(parseCount, &k.Count)},
		{"prefix", value(parseText, &k.Prefix)},
		{"s", value(parseShare, &k.S)},
		{"file", value(parseText, &k.File)},
	}
	d.mapping(path, "keys", n, fields)
	d.meaningless(path, string(k.Kind), fields, keyFieldsOf[k.Kind])
}

func (d *decoder) arrivals(path string, n ast.Node, a *Arrivals) {
	fields := []field{
		{"kind", value(parseKind, &a.Kind)},
		{"rate", value(parseRate, &a.Rate)},
		{"to", value(parseRate, &a.To)},
		{"steps", func(d *decoder, path string, n ast.Node) {
			d.list(path, n, MaxSteps, func(path string, n ast.Node) {
				var s StepOf
				d.mapping(path, "a step", n, []field{
					{"rate", value(parseRate, &s.Rate)},
					{"for", value(parseDuration, &s.For)},
				})
				a.Steps = append(a.Steps, s)
			})
		}},
		{"at", value(parseDuration, &a.At)},
		{"for", value(parseDuration, &a.For)},
		{"amplitude", value(parseRate, &a.Amplitude)},
		{"period", value(parseDuration, &a.Period)},
		{"min", value(parseCount, &a.Min)},
		{"max", value(parseCount, &a.Max)},
		{"count", value(parseCount, &a.Count)},
		{"spread", value(parseDuration, &a.Spread)},
		{"lead", value(parseDuration, &a.Lead)},
		{"think", value(parseDuration, &a.Think)},
		{"think_jitter", value(parseShare, &a.ThinkJitter)},
		{"stagger", value(parseDuration, &a.Stagger)},
		{"file", value(parseText, &a.File)},
		{"aligned", value(parseBool, &a.Aligned)},
	}
	d.mapping(path, "arrivals", n, fields)
	d.meaningless(path, string(a.Kind), fields, fieldsOf[a.Kind])
}

// meaningless reports fields that the kind does not take, zero or not. A kind
// that is missing or unknown is reported later, by the check.
func (d *decoder) meaningless(path, kind string, fields []field, takes []string) {
	if takes == nil {
		return
	}
	for _, f := range fields {
		at, given := d.places[path+"."+f.name]
		if given && f.name != "kind" && !slices.Contains(takes, f.name) {
			d.fail(at.at, kind+" takes "+strings.Join(takes, ", "), "%s means nothing with kind %s", f.name, kind)
		}
	}
}

// costs reads one cost, or a list of {cost, weight}.
func (d *decoder) costs(path string, n ast.Node, to *[]Cost) {
	if _, ok := Scalar(n); ok {
		c := Cost{Weight: 1}
		value(parseCount, &c.Cost)(d, path, n)
		d.places[path+"[0].cost"] = d.places[path]
		*to = []Cost{c}
		return
	}
	d.list(path, n, MaxMix, func(path string, n ast.Node) {
		c := Cost{Weight: 1}
		d.mapping(path, "a cost", n, []field{
			{"cost", value(parseCount, &c.Cost)},
			{"weight", value(parseShare, &c.Weight)},
		})
		*to = append(*to, c)
	})
}

// route reads a mapping, or a text such as /v1/orders or POST /v1/orders.
func (d *decoder) route(path string, n ast.Node) Route {
	r := Route{Weight: 1}
	if s, ok := Scalar(n); ok {
		at := place{at: Position(n), text: s}
		d.places[path+".path"], d.places[path+".method"] = at, at
		if method, rest, two := strings.Cut(s, " "); two {
			r.Method, r.Path = method, strings.TrimSpace(rest)
		} else {
			r.Path = s
		}
		return r
	}
	d.mapping(path, "a route", n, []field{
		{"method", value(parseText, &r.Method)},
		{"path", value(parseText, &r.Path)},
		{"weight", value(parseShare, &r.Weight)},
		{"cost", value(parseCount, &r.Cost)},
	})
	return r
}
