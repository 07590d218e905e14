package main

import (
	"github.com/spf13/cobra"
)

func newProfilesCmd(a *app) *cobra.Command {
	return group("profiles",
		"List, show and check descriptions of traffic",
		`A profile describes traffic: who calls, with which keys, when, and what they
do after a refusal. weir has a library of them, and reads others from YAML.`,
		`  weir profiles list
  weir profiles show retry-storm
  weir profiles check mine.yaml`,
		newProfilesListCmd(a),
		newProfilesShowCmd(a),
		newProfilesCheckCmd(a),
	)
}
