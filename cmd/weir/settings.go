package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settings fills flags that the command line left alone: from the
// environment first, then from the config file. It knows no flag by name, so
// a new flag of any verb is settable in all three places without code.
type settings struct {
	app        *app
	configPath string
}

func newSettings(a *app, fs *pflag.FlagSet) *settings {
	s := &settings{app: a}
	fs.StringVar(&s.configPath, "config", "", "read settings per verb from this YAML `FILE` (default $XDG_CONFIG_HOME/weir/config.yaml)")
	return s
}

// bind runs after the command line was parsed and before the verb.
func (s *settings) bind(cmd *cobra.Command) error {
	taken := map[string]bool{}
	claim(cmd, taken)
	if err := s.bindEnv(cmd, taken); err != nil {
		return err
	}
	claim(cmd, taken)
	return s.bindFile(cmd, taken)
}

// claim marks the settings that some layer has set so far.
func claim(cmd *cobra.Command, taken map[string]bool) {
	cmd.Flags().Visit(func(f *pflag.Flag) { taken[settingOf(f)] = true })
}

// settingOf is the name of what a flag sets: its own, unless it is a
// shorthand for another.
func settingOf(f *pflag.Flag) string {
	if same := f.Annotations[sameSetting]; len(same) > 0 {
		return same[0]
	}
	return f.Name
}

// ownVariable marks a flag whose variable has a name of its own.
const ownVariable = "weir_variable"

// variableOf is the variable that sets a flag.
func variableOf(f *pflag.Flag) string {
	if own := f.Annotations[ownVariable]; len(own) > 0 {
		return own[0]
	}
	return envName(f.Name)
}

// envName is the variable of a flag: --max-wait is WEIR_MAX_WAIT.
func envName(flag string) string {
	return "WEIR_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (s *settings) bindEnv(cmd *cobra.Command, taken map[string]bool) error {
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if failed != nil || f.Name == "help" || taken[settingOf(f)] {
			return
		}
		name := variableOf(f)
		value, ok := s.app.lookupEnv(name)
		if !ok || value == "" {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = usagef("unset "+name, "%s=%q: %w", name, value, flagCause(err))
		}
	})
	return failed
}

// flagCause strips pflag's own preamble, which talks of a flag that the user
// did not type.
func flagCause(err error) error {
	if invalid, ok := err.(*pflag.InvalidValueError); ok && invalid.Unwrap() != nil {
		return invalid.Unwrap()
	}
	return fmt.Errorf("%w", err)
}
