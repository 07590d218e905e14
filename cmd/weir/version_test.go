package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	vcs := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"},
		{Key: "vcs.time", Value: "2024-05-06T07:08:09Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	tail := " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	tests := []struct {
		name     string
		override string
		info     *debug.BuildInfo
		want     string
	}{
		{"no build information", "", nil, "weir devel" + tail},
		{"go run", "", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "weir devel" + tail},
		{"go install module@version", "", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "weir v1.2.3" + tail},
		{"the linker outranks the module", "v9", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "weir v9" + tail},
		{"a changed checkout", "", &debug.BuildInfo{Settings: vcs}, "weir devel 0123456789ab+changes" + tail},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := versionOf(tt.override, tt.info).String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
