//go:build unix

package replay

import (
	"os/exec"
	"syscall"
)

// apart puts a server into a process group of its own: Ctrl-C in a terminal goes
// to the whole group, and the run still needs its server to end well.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
