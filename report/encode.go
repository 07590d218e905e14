package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// WriteJSON writes the result document and a newline. Characters that do not
// print are escaped, so that it can be looked at in a terminal.
func WriteJSON(w io.Writer, r *Result) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(b.Bytes()))
	return err
}

// escapeJSON escapes what does not print. In a JSON text such characters, other
// than line ends and spaces, can only be inside strings.
func escapeJSON(in []byte) []byte {
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		c, n := rune(in[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(in[i:])
		}
		if c == '\n' || unicode.IsPrint(c) {
			out = append(out, in[i:i+n]...)
		} else {
			out = appendEscaped(out, c)
		}
		i += n
	}
	return out
}

// WriteCSV writes one table in which the first column says what a row is
// about: total, second, key, target or population. Columns that mean nothing
// for a row are empty. One header and one width, so that any tool loads it.
func WriteCSV(w io.Writer, r *Result) error {
	lengths := maxLengths(r)
	head := []string{"row", "name", "offered", "admitted", "refused", "failed", "in_flight", "dropped", "worst_excess"}
	for _, l := range lengths {
		head = append(head, "max_in_"+l)
	}
	c := csv.NewWriter(w)
	put := func(kind, name string, n ...int64) []string {
		rec := make([]string, len(head))
		rec[0], rec[1] = kind, Cell(name)
		for i, v := range n {
			rec[2+i] = strconv.FormatInt(v, 10)
		}
		return rec
	}
	t := &r.Totals
	// csv.Writer keeps its first error for Error below.
	_ = c.Write(head)
	_ = c.Write(put("total", r.Name, t.Offered, t.Admitted, t.Refused, t.Failed, t.InFlight, t.Dropped))
	for _, s := range r.PerSecond {
		_ = c.Write(put("second", strconv.FormatInt(s.T, 10), s.Offered, s.Admitted, s.Refused, s.Failed, s.InFlight, s.Dropped))
	}
	for _, k := range r.PerKey {
		rec := put("key", k.Key, k.Offered, k.Admitted, k.Refused, k.Failed)
		if r.Bound != nil {
			rec[8] = strconv.FormatFloat(k.WorstExcess, 'f', -1, 64)
		}
		for i, l := range lengths {
			if n, ok := k.MaxIn[l]; ok {
				rec[9+i] = strconv.FormatInt(n, 10)
			}
		}
		_ = c.Write(rec)
	}
	for _, x := range r.PerTarget {
		_ = c.Write(put("target", x.Name, x.Offered, x.Admitted, x.Refused, x.Failed))
	}
	for _, x := range r.PerPopulation {
		_ = c.Write(put("population", x.Name, x.Offered, x.Admitted, x.Refused, x.Failed))
	}
	c.Flush()
	return c.Error()
}

// Cell is s cleaned, and kept from being run as a formula by a spreadsheet.
func Cell(s string) string {
	s = Clean(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// maxLengths lists the intervals of all rows, shortest first.
func maxLengths(r *Result) []string {
	seen := map[string]time.Duration{}
	for _, k := range r.PerKey {
		for l := range k.MaxIn {
			d, err := time.ParseDuration(l)
			if err == nil {
				seen[l] = d
			}
		}
	}
	out := make([]string, 0, len(seen))
	for l := range seen {
		out = append(out, l)
	}
	sort.Slice(out, func(i, j int) bool { return seen[out[i]] < seen[out[j]] })
	return out
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes one test case per check, which fails when the check did,
// and one per finding. Findings do not fail, as they do not change the exit
// code; their text is the case's output. Two more cases fail where the run
// itself did: nothing was answered, or the sender is not to be trusted.
func WriteJUnit(w io.Writer, r *Result) error {
	s := junitSuite{Name: "weir " + Clean(r.Name), Time: strconv.FormatFloat(r.DurationS, 'f', 3, 64)}
	for _, c := range r.Checks {
		k := junitCase{Class: "weir.check", Name: Clean(c.Name)}
		if c.Pass {
			k.Out = Clean(c.Detail)
		} else {
			s.Failures++
			k.Failure = &junitFailure{Clean(c.Detail), headline(r)}
		}
		s.Cases = append(s.Cases, k)
	}
	for _, c := range []struct {
		name   string
		failed bool
		why    string
	}{
		{"answered", r.Totals.Offered > 0 && r.Totals.Failed == r.Totals.Offered, "no attempt was answered as admitted or refused: " + mapLine(r.Errors)},
		{"trusted", r.Sender.Trust == Bad, r.Sender.Why},
	} {
		k := junitCase{Class: "weir.run", Name: c.name}
		if c.failed {
			s.Failures++
			k.Failure = &junitFailure{Message: c.why}
		}
		s.Cases = append(s.Cases, k)
	}
	for _, f := range r.Findings {
		s.Cases = append(s.Cases, junitCase{Class: "weir.finding", Name: f.ID, Out: string(f.Severity) + ": " + f.Text})
	}
	s.Tests = len(s.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
