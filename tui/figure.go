package tui

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/report"
)

// brief writes a figure in at most five characters or so: 7, 3.4, 950, 12.3k, 4M.
func brief(v float64) string {
	unit := ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if math.Abs(v) < 9999.5 {
			break
		}
		v, unit = v/1000, u
	}
	digits := 0
	switch {
	case v == math.Trunc(v) && unit == "":
	case math.Abs(v) < 1:
		digits = 2
	case math.Abs(v) < 100:
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s + unit
}

// clock writes an instant of a run: 12.3 s, 4:05, 3:20:05, 2d 03:00:00.
func clock(ns int64) string {
	switch d := time.Duration(max(ns, 0)); {
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + ":" + two(int(d.Seconds())%60)
	case d < 24*time.Hour:
		return strconv.Itoa(int(d.Hours())) + ":" + two(int(d.Minutes())%60) + ":" + two(int(d.Seconds())%60)
	default:
		return strconv.Itoa(int(d.Hours())/24) + "d " + two(int(d.Hours())%24) + ":" + two(int(d.Minutes())%60) + ":" + two(int(d.Seconds())%60)
	}
}

func two(n int) string { return string(rune('0'+n/10)) + string(rune('0'+n%10)) }

// lasting writes a length of time without zeros: 100ms, 2s, 5m.
func lasting(ns int64) string {
	s := time.Duration(ns).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return strings.ReplaceAll(s, "µ", "u")
}

// millis writes milliseconds to three figures.
func millis(v float64) string {
	switch {
	case v >= 10_000:
		return brief(math.Round(v/100)/10) + "s"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + "%" }

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// rate is what a promise allows in a second in the long run; 0 for one that no
// interval can judge.
func rate(p *report.Promise) float64 {
	switch {
	case p == nil:
	case p.Units > 0 && p.Per > 0:
		return float64(p.Units) * 1e9 / float64(p.Per)
	case p.Window > 0:
		return float64(p.Limit) * 1e9 / float64(p.Window)
	}
	return 0
}
