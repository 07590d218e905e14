package gateway

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// planLimits is the answer about a plan. The names are a contract.
type planLimits struct {
	Version int64       `json:"version"`
	Plan    string      `json:"plan"`
	Limits  []ruleLimit `json:"limits"`
}

// ruleLimit is what one rule grants.
type ruleLimit struct {
	Rule  string `json:"rule"`
	From  string `json:"from"` // "plan gold", or "default" where the plan has none of its own
	Limit string `json:"limit"`
}

// keyOverrides is the answer about a key.
type keyOverrides struct {
	Version   int64         `json:"version"`
	Key       string        `json:"key"`
	Overrides []overrideRow `json:"overrides"`
}

type overrideRow struct {
	Rule    string    `json:"rule"`
	Limit   string    `json:"limit"`
	Reason  string    `json:"reason"`
	Expires time.Time `json:"expires"`
	Expired bool      `json:"expired"`
}

// changeDone is the answer to a change that is in force.
type changeDone struct {
	Version  int64           `json:"version"`
	Changes  []rules.Change  `json:"changes"`
	Problems []rules.Problem `json:"problems,omitempty"` // warnings and notes of the checker
}

func (a *Admin) getLimits(w http.ResponseWriter, r *http.Request) {
	s := a.cfg.Holder.Rules()
	out := planLimits{Version: s.Version, Plan: r.PathValue("plan"), Limits: []ruleLimit{}}
	known := out.Plan == "default"
	for _, rule := range s.Rules {
		l := rule.Plan(out.Plan)
		if l == nil {
			continue
		}
		known = known || l.From != "default"
		out.Limits = append(out.Limits, ruleLimit{rule.Name, l.From, l.Spec.String()})
	}
	if !known {
		writeProblem(w, problemDetails{Status: http.StatusNotFound, Detail: "no rule has a limit for the plan " + out.Plan, Hint: "GET /v1/limits/default is what it gets"})
		return
	}
	writeAnswer(w, out)
}

func (a *Admin) putLimit(w http.ResponseWriter, r *http.Request) {
	var body struct{ Rule, Limit, Reason string }
	plan := r.PathValue("plan")
	if err := a.readChange(w, r, &body, &body.Reason); err != nil {
		writeProblem(w, adminProblem(err))
		return
	}
	spec, err := limit.ParseSpec(body.Limit)
	if err != nil {
		writeProblem(w, adminProblem(err))
		return
	}
	a.change(w, r, "plan "+plan, body.Reason, func(s *rules.Set) (*rules.Set, error) {
		rule, err := about(s, body.Rule)
		if err != nil {
			return nil, err
		}
		return s.SetLimit(rule, plan, spec)
	})
}

// about is the rule that a change names, or the only one there is.
func about(s *rules.Set, name string) (string, error) {
	switch {
	case name != "":
		return name, nil
	case len(s.Rules) == 1:
		return s.Rules[0].Name, nil
	}
	return "", &requestError{http.StatusBadRequest, "rule is missing, and there are several", "GET /v1/rules has their names"}
}

func (a *Admin) getOverrides(w http.ResponseWriter, r *http.Request) {
	s := a.cfg.Holder.Rules()
	out := keyOverrides{Version: s.Version, Key: r.PathValue("key"), Overrides: []overrideRow{}}
	now := a.cfg.Now().UnixNano()
	for _, rule := range s.Rules {
		if o := s.Override(out.Key, rule.Name); o != nil {
			out.Overrides = append(out.Overrides, overrideRow{o.Rule, o.Limit.Spec.String(), o.Reason, o.Expires, o.Expired(now)})
		}
	}
	if len(out.Overrides) == 0 {
		writeProblem(w, problemDetails{Status: http.StatusNotFound, Detail: "the key has no override"})
		return
	}
	writeAnswer(w, out)
}

func (a *Admin) putOverride(w http.ResponseWriter, r *http.Request) {
	var body struct{ Rule, Limit, Reason, Expires string }
	key := r.PathValue("key")
	err := a.readChange(w, r, &body, &body.Reason)
	var spec limit.Spec
	if err == nil {
		spec, err = limit.ParseSpec(body.Limit)
	}
	var expires time.Time
	if err == nil {
		expires, err = a.end(body.Expires)
	}
	if err != nil {
		writeProblem(w, adminProblem(err))
		return
	}
	a.change(w, r, "override of "+rules.KeyName(key), body.Reason, func(s *rules.Set) (*rules.Set, error) {
		rule, err := about(s, body.Rule)
		if err != nil {
			return nil, err
		}
		return s.SetOverride(key, rule, spec, body.Reason, expires)
	})
}

// end reads when an override ends, which must be to come.
func (a *Admin) end(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, &requestError{http.StatusBadRequest, "expires is missing", `"expires": "2030-12-31T00:00:00Z"`}
	}
	t, ok := rules.ParseExpires(text)
	switch {
	case !ok:
		return t, &requestError{http.StatusBadRequest, "expires " + text + " is not a date", `"expires": "2030-12-31T00:00:00Z"`}
	case !t.After(a.cfg.Now()):
		return t, &requestError{http.StatusBadRequest, "expires " + text + " is over", ""}
	}
	return t, nil
}

func (a *Admin) deleteOverride(w http.ResponseWriter, r *http.Request) {
	key, q := r.PathValue("key"), r.URL.Query()
	reason := strings.TrimSpace(q.Get("reason"))
	if reason == "" {
		writeProblem(w, problemDetails{Status: http.StatusBadRequest, Detail: "reason is missing", Hint: "DELETE /v1/overrides/KEY?rule=NAME&reason=TEXT"})
		return
	}
	a.change(w, r, "override of "+rules.KeyName(key), reason, func(s *rules.Set) (*rules.Set, error) {
		rule, err := about(s, q.Get("rule"))
		if err != nil {
			return nil, err
		}
		return s.DropOverride(key, rule)
	})
}

// readChange reads a body that must give a reason.
func (a *Admin) readChange(w http.ResponseWriter, r *http.Request, body any, reason *string) error {
	if err := readBody(w, r, body); err != nil {
		return err
	}
	if *reason = strings.TrimSpace(*reason); *reason == "" {
		return &requestError{http.StatusBadRequest, "reason is missing", `"reason": "what it was asked for, and by whom"`}
	}
	return nil
}

// change makes one, answers, and leaves a line about it.
func (a *Admin) change(w http.ResponseWriter, r *http.Request, what, reason string, edit func(*rules.Set) (*rules.Set, error)) {
	who, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		who = "unknown"
	}
	who = "admin at " + who
	var done *Changed
	if a.cfg.Keeper == nil {
		err = &rules.EditError{Msg: "the rules come from no file", Hint: "weir serve --rules-from FILE"}
	} else {
		done, err = a.cfg.Keeper.Change(r.Context(), who, reason, edit)
	}
	line := func(s string) {
		a.cfg.Log.Print(oneLine(who + ": " + r.Method + " " + what + ", " + s + ": " + reason))
	}
	if err != nil {
		p := adminProblem(err)
		line("refused, " + p.Detail)
		writeProblem(w, p)
		return
	}
	var said []string
	for _, c := range done.Changes {
		said = append(said, c.String())
	}
	line(strings.Join(said, "; "))
	writeAnswer(w, changeDone{done.Set.Version, done.Changes, done.Problems})
}
