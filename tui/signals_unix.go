//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
)

// suspend asks for the process to be stopped, and all of its job with it.
func suspend() tea.Msg {
	_ = syscall.Kill(0, syscall.SIGTSTP)
	return nil
}

// watchSignals gives the terminal back before a signal stops or ends the
// process, and takes it again when the process is continued. Interrupts are
// the caller's.
func (d *Dashboard) watchSignals() (release func()) {
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	ends := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) { // nohup has a hang-up ignored
			signal.Notify(ends, sig)
		}
	}
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-stops:
				d.stop()
			case sig := <-ends:
				_ = d.program.ReleaseTerminal()
				signal.Reset(sig)
				_ = syscall.Kill(os.Getpid(), sig.(syscall.Signal))
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(stops)
		signal.Stop(ends)
		close(over)
	}
}

// stop stops this process as the signal would have done, with the terminal in
// order, and returns when it is continued. Once SIGTSTP has been asked for, Go
// does not give it its effect back, so SIGSTOP takes its place.
func (d *Dashboard) stop() {
	if !continuable() {
		return
	}
	on := make(chan os.Signal, 1)
	signal.Notify(on, unix.SIGCONT)
	defer signal.Stop(on)
	_ = d.program.ReleaseTerminal()
	_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	<-on
	_ = d.program.RestoreTerminal()
	d.program.Send(continuedMsg{})
}

// continuable reports that a shell can continue this process. The system does
// not heed SIGTSTP where none can, as in the first process of a session.
func continuable() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil || group == session {
		return false
	}
	if g, err := unix.Getpgid(os.Getppid()); err == nil && g == group {
		return true
	}
	parents, err := unix.Getsid(os.Getppid())
	return err == nil && parents == session
}
