package tui

import (
	"strings"

	"github.com/weir-cli/weir/report"
)

// Colors says what the terminal can show.
type Colors uint8

const (
	// NoColor leaves bold and reversed text.
	NoColor Colors = iota
	Colors16
	Colors256
	TrueColor
)

// ink is one colour in all depths. The deeper ones are of a middle lightness,
// to be read on white as well as on black. Dim text is faint where there are
// 16: what is called bright black vanishes in some themes.
type ink struct{ sixteen, deep, rgb string }

var inks = [tones]ink{
	plain:    {"", "", ""},
	dim:      {"2", "38;5;245", "38;2;138;138;138"},
	admitted: {"32", "38;5;35", "38;2;38;162;105"},
	refused:  {"31", "38;5;167", "38;2;224;88;74"},
	failed:   {"35", "38;5;134", "38;2;175;95;215"},
	offered:  {"36", "38;5;31", "38;2;35;135;190"},
	promised: {"34", "38;5;68", "38;2;95;135;215"},
	bounded:  {"33", "38;5;172", "38;2;215;135;20"},
	accent:   {"36", "38;5;37", "38;2;20;160;165"},
	marked:   {"33", "38;5;172", "38;2;215;135;20"},
}

// hex is a tone in a picture.
func (t tone) hex() string {
	return [tones]string{plain: "#d8d8d8", dim: "#8a8a8a", admitted: "#26a269", refused: "#e0584a", failed: "#af5fd7",
		offered: "#2387be", promised: "#5f87d7", bounded: "#d78714", accent: "#14a0a5", marked: "#d78714"}[t]
}

// code is the style as an escape sequence; "" for plain text.
func (s style) code(c Colors) string {
	var parts []string
	if s.bold {
		parts = append(parts, "1")
	}
	if s.reverse {
		parts = append(parts, "7")
	}
	i := inks[s.tone]
	color := [...]string{NoColor: "", Colors16: i.sixteen, Colors256: i.deep, TrueColor: i.rgb}[c]
	if color != "" {
		parts = append(parts, color)
	}
	if len(parts) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(parts, ";") + "m"
}

// ascii puts what any terminal can show in the place of everything else. A wide
// letter leaves two characters.
func (c *canvas) ascii() {
	for y := range c.h {
		for x := range c.w {
			cell := c.at(x, y)
			if cell.r == 0 {
				cell.r = '?'
			}
			c.set(x, y, rune(report.ASCII(cell.r)), cell.s)
		}
	}
}

// ansi is the canvas for a terminal, a line a row, no spaces at line ends.
func (c *canvas) ansi(colors Colors) string {
	var b strings.Builder
	b.Grow(c.w * c.h * 2)
	var codes [tones * 4]string
	code := func(s style) string {
		i := int(s.tone) * 4
		if s.bold {
			i++
		}
		if s.reverse {
			i += 2
		}
		if codes[i] == "" {
			codes[i] = s.code(colors) + "\x00"
		}
		return codes[i][:len(codes[i])-1]
	}
	for y := range c.h {
		end := c.w
		for end > 0 && c.at(end-1, y).r == ' ' && !c.at(end-1, y).s.reverse {
			end--
		}
		now := ""
		for x := range end {
			cell := c.at(x, y)
			if cell.r == 0 {
				continue
			}
			want := code(cell.s)
			if cell.r == ' ' && !cell.s.reverse && now != "" && !strings.Contains(now, "7") {
				want = now // a space looks the same in any ink
			}
			if want != now {
				if now != "" {
					b.WriteString("\x1b[0m")
				}
				b.WriteString(want)
				now = want
			}
			b.WriteRune(cell.r)
		}
		if now != "" {
			b.WriteString("\x1b[0m")
		}
		if y < c.h-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// plainText is the canvas without any escape.
func (c *canvas) plainText() string {
	var b strings.Builder
	for y := range c.h {
		var line strings.Builder
		for x := range c.w {
			if r := c.at(x, y).r; r != 0 {
				line.WriteRune(r)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}
