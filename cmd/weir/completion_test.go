package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/weir-cli/weir/internal/peertest"
)

// The scripts must be valid to the shells that will read them: to bash
// everywhere, to the others where they are installed.
func TestCompletionScriptsParse(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if shell == "bash" {
				path = peertest.Need(t, shell)
			} else if err != nil {
				t.Skipf("%s is not here", shell)
			}
			a, stdout, stderr := testApp()
			if code := a.execute(t.Context(), newRoot(a, verbs(a)...), []string{"completion", shell}); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			check := exec.Command(path, "-n")
			check.Stdin = strings.NewReader(stdout.String())
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
