package main

import (
	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Long: `Prints a script that teaches a shell to complete weir's verbs and flags.
SHELL is bash, zsh, fish or powershell. The one for bash needs the package
bash-completion, 2.0 or newer; "source <(weir completion bash)" tries it in this
shell alone.`,
		Example: `  weir completion bash > /etc/bash_completion.d/weir
  weir completion zsh > "${fpath[1]}/_weir"
  weir completion fish | source`,
		Args:      argNames("SHELL"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runCompletion(a, cmd.Root(), args[0])
		},
	}
}

func runCompletion(a *app, root *cobra.Command, shell string) error {
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(a.stdout, true)
	case "zsh":
		err = root.GenZshCompletion(a.stdout)
	case "fish":
		err = root.GenFishCompletion(a.stdout, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(a.stdout)
	default:
		hint := "weir completion bash"
		if n := nearest(shell, shells); n != "" {
			hint = "weir completion " + n
		}
		return usagef(hint, "no completion for shell %q", shell)
	}
	return stdoutError(err)
}
