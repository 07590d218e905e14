//go:build !linux

package redistest

import "syscall"

// dieTogether has no way here; servers end with their tests.
func dieTogether() *syscall.SysProcAttr { return nil }
