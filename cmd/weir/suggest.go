package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noSuchCommand refuses arguments of a command that takes only verbs.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := cmd.CommandPath() + " --help"
	if n := nearest(args[0], names); n != "" {
		hint = cmd.CommandPath() + " " + n
	}
	return usagef(hint, "%sunknown command %q", about(cmd), args[0])
}

// takesArguments marks a command that has verbs below it and also takes
// arguments of its own.
const takesArguments = "weir_takes_arguments"

// flagError gives a flag mistake its hint: the nearest flag there is, or the
// command's help.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 && cmd.Annotations[takesArguments] == "" {
		return noSuchCommand(cmd, args) // the flag is that of a misspelt verb
	}
	hint := cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usageError(err, hint)
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return usagef(hint, "%sunknown flag -%s", about(cmd), name)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if n := nearest(name, names); n != "" {
		hint = cmd.CommandPath() + " --" + n
	} else if sub := childOf(cmd, name); sub != nil {
		hint = sub.CommandPath()
	}
	return usagef(hint, "%sunknown flag --%s", about(cmd), name)
}

// nearest returns the candidate that word most likely meant, or "": the start
// of exactly one, or else the one with fewest letters wrong, up to a third and
// one more. Among equals the first with word's own first letter is taken.
func nearest(word string, candidates []string) string {
	if len(word) >= 2 {
		var starts []string
		for _, c := range candidates {
			if strings.HasPrefix(c, word) {
				starts = append(starts, c)
			}
		}
		if len(starts) == 1 {
			return starts[0]
		}
		if len(starts) > 1 {
			return ""
		}
	}
	best, bestScore := "", 2*(len(word)/3+2)
	for _, c := range candidates {
		score := 2 * distance(word, c)
		if word != "" && c != "" && word[0] != c[0] {
			score++
		}
		if score < bestScore {
			best, bestScore = c, score
		}
	}
	return best
}

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of neighbours each count 1 (Damerau 1964).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// verbPath is the command's path without the program's name, which begins
// every error line already.
func verbPath(cmd *cobra.Command) string {
	_, path, found := strings.Cut(cmd.CommandPath(), " ")
	if !found {
		return "" // the root itself
	}
	return path
}

// about prefixes a message with its verb.
func about(cmd *cobra.Command) string {
	if path := verbPath(cmd); path != "" {
		return path + ": "
	}
	return ""
}
