package inspect

import (
	"fmt"
	"time"

	"github.com/weir-cli/weir/report"
)

// shownKey and shownValue are names and values as they may be printed.
func shownKey(s string) string { return report.Clean(s) }

func shownValue(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%s… (%d bytes)", report.Clean(s[:60]), len(s))
	}
	return report.Clean(s)
}

// shownWait is a time in ns as people say it: about three digits.
func shownWait(ns int64) string {
	d := time.Duration(ns)
	if d < 0 {
		return "-" + shownWait(int64(max(-d, 0)))
	}
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= time.Hour:
		return d.Round(time.Minute).String()[:len(d.Round(time.Minute).String())-2]
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	case d > 0:
		return d.Round(time.Microsecond).String()
	}
	return "0s"
}

// shownTime is an instant in UTC.
func shownTime(ns int64) string {
	return time.Unix(0, ns).UTC().Format("2006-01-02 15:04:05.000") + " UTC"
}
