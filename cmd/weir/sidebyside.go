package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// sideBySide writes the figures of several runs with their units, and as many
// runs beside each other as the width has room for; the others follow below.
// rows[0] is the head: what a row begins with, and the runs' names. unit is that
// of a figure in the first of the runs from to to-1 that has it.
func sideBySide(b *strings.Builder, rows [][]string, unit func(name string, from, to int) (string, bool), width int) {
	groups := make([]string, len(rows[0])) // above the heads, which they would widen
	for i, name := range rows[0] {
		if at := strings.LastIndexByte(name, '/') + 1; i > 0 {
			groups[i], rows[0][i] = name[:at], name[at:]
		}
	}
	runs := len(groups) - 1
	wide := make([]int, len(groups))
	for _, row := range append([][]string{groups}, rows...) {
		for i, cell := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	longestUnit := 0
	for _, row := range rows[1:] {
		u, _ := unit(row[0], 0, runs)
		longestUnit = max(longestUnit, len(u))
	}
	for from := 1; from < len(groups); {
		to, used := from, wide[0]+2+longestUnit
		for to < len(groups) && (to == from || used+2+wide[to] <= width) {
			used += 2 + wide[to]
			to++
		}
		if from > 1 {
			b.WriteByte('\n')
		}
		for k, row := range append([][]string{groups}, rows...) {
			line := fmt.Sprintf("%-*s", wide[0], row[0])
			for i := from; i < to; i++ {
				line += fmt.Sprintf("  %*s", wide[i], row[i])
			}
			if k > 1 {
				u, ok := unit(row[0], from-1, to-1)
				if !ok {
					continue // none of these runs reports it
				}
				line += "  " + u
			}
			if line = strings.TrimRight(line, " "); line != "" {
				b.WriteString(line + "\n")
			}
		}
		from = to
	}
}
