// Package peertest finds the programs that some tests measure weir against,
// such as nginx or a shell.
package peertest

import (
	"os"
	"os/exec"
	"testing"
)

// RequireEnv, set to 1, turns every skip for a missing program into a
// failure. CI sets it, having installed them all.
const RequireEnv = "WEIR_TEST_REQUIRE"

// Need returns the path of a program. Where it is not installed the test is
// skipped with that reason, or fails when [RequireEnv] is 1.
func Need(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	Missing(t, program+" is not here: install it to run this test")
	return ""
}

// Missing is Need for what is no program: the test is skipped for that reason,
// or fails when [RequireEnv] is 1.
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(RequireEnv) == "1" {
		t.Fatalf("%s=1, and %s", RequireEnv, reason)
	}
	t.Skipf("%s", reason)
}
