package redistest

import "syscall"

// dieTogether makes a server die with the test's process, however that ends.
func dieTogether() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
