package redistest

import "testing"

func (p *process) pause(t testing.TB)  { t.Helper(); t.Skip("a process cannot be stopped here") }
func (p *process) resume(t testing.TB) { t.Helper() }
