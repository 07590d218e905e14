package gateway

import (
	"net/url"
	"strings"
)

var slashes = strings.NewReplacer("%2F", "%00", "%2f", "%00")

// keptSlashes is u's path with each slash that was sent encoded as a character
// that no route has; "" when there was none.
func keptSlashes(u *url.URL) string {
	if u.RawPath == "" || !strings.Contains(u.RawPath, "%2F") && !strings.Contains(u.RawPath, "%2f") {
		return ""
	}
	kept, err := url.PathUnescape(slashes.Replace(u.RawPath))
	if err != nil { // whoever parsed u would have refused it
		return ""
	}
	return kept
}
