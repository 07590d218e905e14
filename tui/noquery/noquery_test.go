package noquery

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const roleEnv = "WEIR_NOQUERY_TEST"

// The environment is another one while the program is initialised, and the
// caller's own afterwards.
func TestEnvironmentIsPutBack(t *testing.T) {
	if os.Getenv(roleEnv) != "" {
		during := os.Getenv(name)
		Done()
		after, set := os.LookupEnv(name)
		fmt.Printf("during %q after %q %v.\n", during, after, set)
		return
	}
	for given, want := range map[string]string{
		"":       `during "weir" after "" false.`,
		"CI=yes": `during "yes" after "yes" true.`,
		"CI=":    `during "weir" after "" true.`,
	} {
		cmd := exec.Command(os.Args[0], "-test.run=TestEnvironmentIsPutBack")
		cmd.Env = append(os.Environ(), roleEnv+"=1", given)
		if given == "" {
			cmd.Env = []string{roleEnv + "=1"}
		}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("with %q: %s, %v; want %s", given, out, err, want)
		}
	}
}
