package limit_test

import (
	"testing"

	"github.com/weir-cli/weir/limit"
)

func TestVersionsOnlyGoUp(t *testing.T) {
	up, follow := limit.NewVersions(1, "10/s", false), limit.NewVersions(1, "10/s", true)
	for i, step := range []struct {
		version         int64
		value           string
		wantUp, wantAny string
	}{
		{2, "20/s", "20/s", "20/s"},
		{1, "10/s", "20/s", "10/s"}, // a late copy
		{2, "x", "20/s", "x"},
		{3, "30/s", "30/s", "30/s"},
	} {
		took := up.Offer(step.version, step.value)
		if up.Get() != step.wantUp || took != (step.wantUp == step.value) {
			t.Errorf("step %d: %s, taken is %v", i, up.Get(), took)
		}
		if !follow.Offer(step.version, step.value) || follow.Get() != step.wantAny || follow.Version() != step.version {
			t.Errorf("step %d: following has %s", i, follow.Get())
		}
	}
	if up.Version() != 3 || up.Late() != 1 || follow.Late() != 1 {
		t.Errorf("version %d, %d late, %d late", up.Version(), up.Late(), follow.Late())
	}
}
