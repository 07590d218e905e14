package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verbs are all that weir can do: one line here, one file beside this one.
func verbs(a *app) []*cobra.Command {
	return []*cobra.Command{
		newDemoCmd(a),
		newLoadCmd(a),
		newReportCmd(a),
		newTUICmd(a),
		newProfilesCmd(a),
		newBehavioursCmd(a),
		newServeCmd(a),
		newSimCmd(a),
		newInspectCmd(a),
		newReplayCmd(a),
		newVersionCmd(a),
		newCompletionCmd(a),
	}
}

// newRoot puts verbs under the program's name, with everything they share:
// streams, settings, and errors that know their exit code.
func newRoot(a *app, verbs ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "Test and operate HTTP rate limiters",
		Long: `weir sends the traffic that real clients send, misbehaviour included, at a
rate limiter, counts exactly what got through, and compares it with what was
promised.

Exit codes: 0 every check held, 1 a check failed, 2 usage or configuration,
3 target or file out of reach, 4 the sender could not keep its plan,
5 internal error, 130 interrupted.`,
		Example: `  weir demo
  weir load http://127.0.0.1:8080/ --profile retry-storm --limit 10/s,burst=20`,
		Args:              noSuchCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usageFunc(a))
	settings := newSettings(a, root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return settings.bind(cmd) }

	root.AddCommand(verbs...)
	root.SetHelpCommand(newHelpCmd())
	prepare(root)
	return root
}

// prepare gives every verb what it need not ask for: its own errors carry an
// exit code, so that errors without one are known to be cobra's, and its flags
// out of a list complete to that list.
func prepare(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(c *cobra.Command, args []string) error { return typed(run(c, args)) }
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if c, ok := f.Value.(*choice); ok {
			// The only error is a second registration of the same flag.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(c.allowed, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for _, sub := range cmd.Commands() {
		prepare(sub)
	}
}

// newHelpCmd is `weir help VERB`, the same as `weir VERB --help`.
func newHelpCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "help [VERB]",
		Short:  "Show the help of a verb",
		Hidden: true,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if target, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range target.Commands() {
					if sub.IsAvailableCommand() {
						names = append(names, sub.Name()+"\t"+sub.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noSuchCommand(target, rest)
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// group returns a command that only holds others, such as `profiles`.
func group(use, short, long, example string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:     use,
		Short:   short,
		Long:    long,
		Example: example,
		Args:    noSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// argNames checks that exactly the named arguments are there; the names are
// those of the command's Use line.
func argNames(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef(usageLine(cmd), "%smissing %s", about(cmd), strings.Join(names[len(args):], " "))
		case len(args) > len(names):
			return usagef(usageLine(cmd), "%sunexpected argument %q", about(cmd), args[len(names)])
		}
		return nil
	}
}

// usageLine is a hint: the first example, since a line that works teaches
// more than a grammar.
func usageLine(cmd *cobra.Command) string {
	first, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n")
	if first == "" {
		return cmd.CommandPath() + " --help"
	}
	return first
}
