//go:build !unix

package tui

import tea "github.com/charmbracelet/bubbletea"

// suspend does nothing where processes cannot be stopped.
func suspend() tea.Msg { return nil }

func (d *Dashboard) watchSignals() (release func()) { return func() {} }
