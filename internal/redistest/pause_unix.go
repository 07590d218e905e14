//go:build unix

package redistest

import (
	"syscall"
	"testing"
)

func (p *process) pause(t testing.TB)  { t.Helper(); p.signal(t, syscall.SIGSTOP) }
func (p *process) resume(t testing.TB) { t.Helper(); p.signal(t, syscall.SIGCONT) }

func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if p.cmd == nil {
		t.Fatal("the server does not run")
	}
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
