package profiles

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a profile. They are far above what one machine sends, and low
// enough that no sum overflows and no profile can fill the memory.
const (
	MaxBytes       = 1 << 20 // of a profile's text
	MaxPopulations = 64
	MaxClients     = 10_000_000 // of one population
	MaxKeys        = 10_000_000 // of one population
	MaxRate        = 10_000_000 // calls per second
	MaxDuration    = 30 * 24 * time.Hour
	MaxCalls       = 1_000_000 // in one burst, or on one side of an edge
	MaxSteps       = 1000
	MaxMix         = 64 // costs, or routes, of one population
	MaxCost        = 1_000_000_000
	MaxAttempts    = 1_000_000 // of one call
	MaxExponent    = 10        // of zipf
	MaxName        = 64        // bytes of a name
	MaxText        = 4096      // bytes of any other text

	minRate   = 1e-6 // one call in eleven days
	maxWeight = 1e9
)

// What a profile leaves out.
const (
	DefaultDuration  = time.Minute
	DefaultPrefix    = "k-"
	DefaultBehaviour = "give-up"
)

// fieldsOf lists what each kind of arrivals takes, needed ones first.
var fieldsOf = map[ArrivalKind][]string{
	Closed:   {"think", "think_jitter", "stagger"},
	Constant: {"rate"},
	Poisson:  {"rate"},
	Ramp:     {"rate", "to"},
	Step:     {"steps"},
	Spike:    {"rate", "to", "at", "for"},
	Sine:     {"rate", "amplitude", "period"},
	Burst:    {"min", "max", "period", "aligned"},
	Edge:     {"count", "period", "spread", "aligned"},
	Expiry:   {"period", "lead", "stagger"},
	Trace:    {"file"},
}

var arrivalKinds = []string{
	string(Closed), string(Constant), string(Poisson), string(Ramp), string(Step), string(Spike),
	string(Sine), string(Burst), string(Edge), string(Expiry), string(Trace),
}

// keyFieldsOf lists what each kind of keys takes.
var keyFieldsOf = map[KeyKind][]string{
	OneKey:     {"prefix"},
	KeyEach:    {"prefix"},
	KeyCycle:   {"count", "prefix"},
	KeyUniform: {"count", "prefix"},
	KeyZipf:    {"count", "s", "prefix"},
	KeyFile:    {"file"},
}

var keyKinds = []string{
	string(OneKey), string(KeyEach), string(KeyCycle), string(KeyUniform), string(KeyZipf), string(KeyFile),
}

// Validate reports every impossible number, missing part and part that means
// nothing where it stands, as an *Error or [Errors]. A behaviour's text is
// only checked for shape: what it means is known to the package that runs it.
func (p *Profile) Validate() error {
	var errs []*Error
	for _, q := range p.check() {
		e := &Error{Msg: q.message(""), Hint: q.hint}
		var i int
		if _, err := fmt.Sscanf(q.path, "populations[%d].", &i); err == nil && i < len(p.Populations) {
			e.Msg = fmt.Sprintf("population %s: %s", shown(p.Populations[i].Name), e.Msg)
		}
		errs = append(errs, e)
	}
	return joined(errs)
}

// problem is something wrong at a path such as populations[0].arrivals.rate.
type problem struct {
	path  string
	value string // as it would be written; "" when there is none to show
	msg   string // follows the field and its value
	hint  string
}

// message names the field, shows text (or the value) and says what is wrong.
func (q problem) message(text string) string {
	field := q.path
	if strings.HasPrefix(field, "populations[") {
		if _, rest, ok := strings.Cut(field, "]."); ok {
			field = rest
		}
	}
	if text == "" {
		text = q.value
	}
	if text == "" {
		return field + " " + q.msg
	}
	return field + " " + shown(text) + " " + q.msg
}

// checker collects problems.
type checker struct{ found []problem }

func (c *checker) add(path, value, msg, hint string) {
	if len(c.found) < maxErrors {
		c.found = append(c.found, problem{path, value, msg, hint})
	}
}

func (c *checker) count(path string, n, least, most int) {
	if n < least || n > most {
		c.add(path, fmt.Sprint(n), fmt.Sprintf("is not between %d and %s", least, formatCount(most)), "")
	}
}

func (c *checker) rate(path string, r float64, zeroToo bool) {
	switch {
	case r == 0 && zeroToo:
	case math.IsNaN(r) || math.IsInf(r, 0) || r < 0:
		c.add(path, formatRate(r), "is not a possible rate", "a rate is above 0, such as 200/s")
	case r == 0:
		c.add(path, formatRate(r), "sends nothing", "a rate is above 0, such as 200/s")
	case r > MaxRate:
		c.add(path, formatRate(r), "is more than "+formatCount(MaxRate)+"/s", "")
	case r < minRate:
		c.add(path, formatRate(r), "is less than one call in 11 days", "")
	}
}

func (c *checker) duration(path string, d, least time.Duration) {
	switch {
	case d < 0:
		c.add(path, d.String(), "is negative", "")
	case d < least:
		c.add(path, d.String(), fmt.Sprintf("is less than %v", least), "")
	case d > MaxDuration:
		c.add(path, d.String(), fmt.Sprintf("is more than %v", MaxDuration), "")
	}
}

// number checks that v is in (0, most].
func (c *checker) number(path string, v, most float64) {
	if !(v > 0 && v <= most) {
		c.add(path, formatNumber(v), "is not above 0 and at most "+formatNumber(most), "")
	}
}

// text checks a single line of printable text.
func (c *checker) text(path, s string, most int, needed bool) {
	switch {
	case s == "" && needed:
		c.add(path, "", "is missing", "")
	case len(s) > most:
		c.add(path, s, fmt.Sprintf("is longer than %d bytes", most), "")
	case !utf8.ValidString(s):
		c.add(path, s, "is not UTF-8", "")
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		c.add(path, s, "has characters that do not print", "")
	case s != strings.TrimSpace(s):
		c.add(path, s, "starts or ends with a space", "")
	}
}

// only checks that nothing but the fields of a kind is set.
func (c *checker) only(path, kind string, set map[string]bool, takes []string) {
	var strange []string
	for name, is := range set {
		if is && !slices.Contains(takes, name) {
			strange = append(strange, name)
		}
	}
	sort.Strings(strange)
	for _, name := range strange {
		c.add(path+"."+name, "", "means nothing with kind "+kind, kind+" takes "+strings.Join(takes, ", "))
	}
}

func (p *Profile) check() []problem {
	var c checker
	c.text("name", p.Name, MaxName, true)
	c.text("about", p.About, MaxText, false)
	c.duration("duration", p.Duration, time.Millisecond)
	if n := len(p.Populations); n == 0 {
		c.add("populations", "", "is missing: nobody calls", "add one with name, clients, keys and arrivals")
	} else if n > MaxPopulations {
		c.add("populations", "", fmt.Sprintf("has %d entries; the most is %d", n, MaxPopulations), "")
	}
	names := map[string]int{}
	for i := range p.Populations[:min(len(p.Populations), MaxPopulations)] {
		q, path := &p.Populations[i], fmt.Sprintf("populations[%d]", i)
		if _, twice := names[q.Name]; twice && q.Name != "" {
			c.add(path+".name", q.Name, "is used twice", "give each population its own name")
		}
		names[q.Name] = i
		c.population(path, q)
	}
	if len(c.found) == 0 {
		// Whatever is valid can be written and read back.
		if text := p.Marshal(); len(text) > MaxBytes {
			c.add("populations", "", fmt.Sprintf("take more than %d bytes to write", MaxBytes), "")
		} else if _, msg := tooMuch(text); msg != "" {
			c.add("populations", "", "cannot be written as a file: "+msg, "")
		}
	}
	return c.found
}

func (c *checker) population(path string, p *Population) {
	c.text(path+".name", p.Name, MaxName, true)
	c.text(path+".behaviour", p.Behaviour, MaxText, false)
	c.count(path+".max_attempts", p.MaxAttempts, 0, MaxAttempts)
	c.count(path+".clients", p.Clients, 0, MaxClients)
	if k := p.Arrivals.Kind; p.Clients == 0 && (k == Closed || k == Expiry) {
		c.add(path+".clients", "", fmt.Sprintf("is missing: %s arrivals need callers that stay", k), "set clients above 0")
	}
	c.keys(path+".keys", &p.Keys)
	c.arrivals(path+".arrivals", &p.Arrivals)
	if len(p.Cost) > MaxMix {
		c.add(path+".cost", "", fmt.Sprintf("has %d entries; the most is %d", len(p.Cost), MaxMix), "")
	}
	for i, m := range p.Cost[:min(len(p.Cost), MaxMix)] {
		at := fmt.Sprintf("%s.cost[%d]", path, i)
		c.count(at+".cost", m.Cost, 1, MaxCost)
		c.number(at+".weight", m.Weight, maxWeight)
	}
	if len(p.Routes) > MaxMix {
		c.add(path+".routes", "", fmt.Sprintf("has %d entries; the most is %d", len(p.Routes), MaxMix), "")
	}
	for i, r := range p.Routes[:min(len(p.Routes), MaxMix)] {
		c.route(fmt.Sprintf("%s.routes[%d]", path, i), r)
	}
}

func (c *checker) route(path string, r Route) {
	c.text(path+".path", r.Path, MaxText, true)
	if r.Path != "" && (r.Path[0] != '/' || strings.ContainsAny(r.Path, " #")) {
		c.add(path+".path", r.Path, "is not a path", "start it with / and write a space as %20")
	}
	if len(r.Method) > 20 || strings.Trim(r.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		c.add(path+".method", r.Method, "is not a method", "write it in capitals, such as GET or POST")
	}
	c.number(path+".weight", r.Weight, maxWeight)
	c.count(path+".cost", r.Cost, 0, MaxCost)
}

func (c *checker) keys(path string, k *Keys) {
	takes, known := keyFieldsOf[k.Kind]
	switch {
	case k.Kind == "":
		c.add(path, "", "is missing", "write keys: one, keys: per-client, or a kind with a count")
		return
	case !known:
		c.add(path+".kind", string(k.Kind), "is not a kind of keys", OneOf(string(k.Kind), keyKinds))
		return
	}
	c.only(path, string(k.Kind), map[string]bool{
		"count": k.Count != 0, "prefix": k.Prefix != "", "s": k.S != 0, "file": k.File != "",
	}, takes)
	if slices.Contains(takes, "count") {
		c.count(path+".count", k.Count, 1, MaxKeys)
	}
	if k.Kind == KeyZipf {
		c.number(path+".s", k.S, MaxExponent)
	}
	c.text(path+".prefix", k.Prefix, MaxName, false)
	c.text(path+".file", k.File, MaxText, k.Kind == KeyFile)
}
