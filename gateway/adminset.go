package gateway

import (
	"net/http"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// inForce is the answer about all rules. The names are a contract.
type inForce struct {
	Version   int64       `json:"version"`
	Rules     []ruleRow   `json:"rules"`
	Overrides int         `json:"overrides"` // how many, those that are over too
	Expired   int         `json:"expired"`
	Loading   *RuleStatus `json:"loading,omitempty"` // absent when rules come from no file
}

type ruleRow struct {
	Name      string      `json:"name"`
	Per       string      `json:"per"`
	Routes    []string    `json:"routes,omitempty"` // none is everywhere
	Limits    []ruleLimit `json:"limits"`           // a key as its hash
	Costs     []costRow   `json:"costs,omitempty"`
	Mode      string      `json:"mode"`
	Security  bool        `json:"security"`
	OnFailure string      `json:"on_failure"`
	Slack     string      `json:"slack,omitempty"`
	Lease     leaseRow    `json:"lease"`
}

type costRow struct {
	Route string `json:"route"`
	Cost  int64  `json:"cost"`
}

type leaseRow struct {
	On    bool    `json:"on"`
	Block int64   `json:"block,omitempty"` // absent when the gateway chooses
	LifeS float64 `json:"life_s,omitempty"`
}

func (a *Admin) getRules(w http.ResponseWriter, _ *http.Request) {
	s := a.cfg.Holder.Rules()
	out := inForce{Version: s.Version, Rules: []ruleRow{}, Overrides: len(s.Overrides)}
	now := a.cfg.Now().UnixNano()
	for _, o := range s.Overrides {
		if o.Expired(now) {
			out.Expired++
		}
	}
	for _, r := range s.Rules {
		out.Rules = append(out.Rules, rowOf(r))
	}
	if a.cfg.Keeper != nil {
		status := a.cfg.Keeper.Status()
		out.Loading = &status
	}
	writeAnswer(w, out)
}

func rowOf(r *rules.Rule) ruleRow {
	row := ruleRow{
		Name: r.Name, Per: r.Per.String(), Mode: "enforce", Security: r.Security, OnFailure: r.OnFailure.String(),
		Lease: leaseRow{r.Lease.On, r.Lease.Block, r.Lease.Life.Seconds()}, Limits: []ruleLimit{},
	}
	if r.Shadow {
		row.Mode = "shadow"
	}
	if r.OnFailure == limit.FailLocal {
		row.Slack = r.Slack.String()
	}
	for i := range r.Routes {
		row.Routes = append(row.Routes, r.Routes[i].String())
	}
	for i := range r.Costs {
		row.Costs = append(row.Costs, costRow{r.Costs[i].Route.String(), r.Costs[i].Cost})
	}
	for _, l := range r.Limits {
		row.Limits = append(row.Limits, ruleLimit{r.Name, l.For(), l.Spec.String()})
	}
	return row
}
