// Package noquery keeps bubbletea from asking the terminal for its background
// colour. It does so while the program is initialised, in every command, and a
// terminal that does not answer holds each of them up for ten seconds.
//
// Go initialises packages that are ready in the order of their paths. This one
// needs nothing but os, so it comes before os/exec, which bubbletea needs. The
// library asks nothing where CI is set.
package noquery

import "os"

const name = "CI"

var was, set = os.LookupEnv(name)

func init() {
	if was == "" {
		os.Setenv(name, "weir")
	}
}

// Done leaves the environment as it was. Call it in an init function of a
// package that imports bubbletea.
func Done() {
	if !set {
		os.Unsetenv(name)
	} else {
		os.Setenv(name, was)
	}
}
