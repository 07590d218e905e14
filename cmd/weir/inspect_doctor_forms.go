package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect/doctor"
	"github.com/weir-cli/weir/report"
)

// checkupJSON is weir.doctor/v1; docs/doctor.md describes each field.
type checkupJSON struct {
	Schema   string              `json:"schema"`
	At       time.Time           `json:"at"`
	Complete bool                `json:"complete"`
	Keys     int64               `json:"keys"`
	States   int64               `json:"states"`
	Guesses  int64               `json:"guesses"`
	Own      int64               `json:"own"`
	Unknown  int64               `json:"unknown"`
	Servers  int                 `json:"servers"`
	Missing  []string            `json:"missing"`
	Findings []doctorFindingJSON `json:"findings"`
	Passed   []string            `json:"passed"`
	Denied   []deniedJSON        `json:"denied"`
	Notes    []string            `json:"notes"`
}

type doctorFindingJSON struct {
	ID       string              `json:"id"`
	Severity report.Severity     `json:"severity"`
	What     string              `json:"what"`
	Count    int64               `json:"count"`
	Examples []doctorExampleJSON `json:"examples"`
	Why      string              `json:"why"`
	Fix      string              `json:"fix"`
}

type doctorExampleJSON struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

func checkupOf(c *checkup) checkupJSON {
	out := checkupJSON{
		Schema: "weir.doctor/v1", At: c.at.UTC(), Complete: c.stopped == "", Keys: c.keys, States: c.examiner.States(), Guesses: c.examiner.Guesses(),
		Own: c.own, Unknown: c.unknown, Servers: c.examiner.Servers(), Missing: exactAll(c.missing), Findings: []doctorFindingJSON{}, Passed: []string{}, Denied: []deniedJSON{}, Notes: append([]string{}, c.notes...),
	}
	found := map[string]bool{}
	for _, f := range c.findings {
		found[f.ID] = true
		one := doctorFindingJSON{f.ID, f.Severity, f.What, f.Count, []doctorExampleJSON{}, f.Why, f.Fix}
		for _, e := range f.Examples {
			one.Examples = append(one.Examples, doctorExampleJSON{exact(e.Subject), e.Text})
		}
		out.Findings = append(out.Findings, one)
	}
	for _, check := range doctor.Checks() {
		if !found[check.ID] {
			out.Passed = append(out.Passed, check.ID)
		}
	}
	for _, b := range c.blind {
		out.Denied = append(out.Denied, deniedJSON(b))
	}
	return out
}

type doctorSuite struct {
	XMLName  xml.Name     `xml:"testsuite"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Cases    []doctorCase `xml:"testcase"`
}

type doctorCase struct {
	Class   string         `xml:"classname,attr"`
	Name    string         `xml:"name,attr"`
	Failure *doctorFailure `xml:"failure,omitempty"`
	Out     string         `xml:"system-out,omitempty"`
}

type doctorFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeDoctorJUnit writes a case for each check. Those that found something
// grave fail; the others say in their output what they found.
func writeDoctorJUnit(w io.Writer, c *checkup) error {
	found := map[string]*doctor.Finding{}
	for i := range c.findings {
		found[c.findings[i].ID] = &c.findings[i]
	}
	s := doctorSuite{Name: "weir inspect doctor"}
	for _, check := range doctor.Checks() {
		one := doctorCase{Class: "weir.doctor", Name: check.ID}
		if f := found[check.ID]; f != nil {
			text := doctorCaseText(f)
			if f.Severity == report.High {
				s.Failures++
				one.Failure = &doctorFailure{fmt.Sprintf("%s (%s)", f.What, report.Count(f.Count)), text}
			} else {
				one.Out = string(f.Severity) + ": " + text
			}
		}
		s.Cases = append(s.Cases, one)
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

func doctorCaseText(f *doctor.Finding) string {
	lines := []string{fmt.Sprintf("%s (%s).", f.What, report.Count(f.Count))}
	for _, e := range f.Examples {
		lines = append(lines, report.Clean(e.Subject)+": "+e.Text)
	}
	return strings.Join(append(lines, "Why it matters: "+f.Why, "What to do: "+f.Fix), "\n")
}
