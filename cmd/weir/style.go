package main

// style makes words bold where the terminal can.
type style struct{ on bool }

func newStyle(on bool) style { return style{on} }

func (s style) bold(text string) string {
	if !s.on {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}
