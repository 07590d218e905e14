package sim

import "testing"

func TestShardedX(t *testing.T) {
	for _, n := range []string{"refusal-cache", "no-refusal-cache", "store-outage", "store-outage-closed", "batches"} {
		t.Log(n, figuresOf(t, "leases/"+n))
	}
}
