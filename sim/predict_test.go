package sim

import (
	"context"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
)

// A slot is held until the answer is out: of four clients in step, two get
// through in each tenth of a second, all run long.
func TestPredictGivesSlotsBack(t *testing.T) {
	spec, err := limit.ParseSpec("concurrency:limit=2")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := load.Compile(&profiles.Profile{Name: "p", Duration: time.Second, Populations: []profiles.Population{{
		Name: "p", Clients: 4, Keys: profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}, Behaviour: "give-up",
		Arrivals: profiles.Arrivals{Kind: profiles.Closed}}}}, load.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Predict(context.Background(), Prediction{Plan: plan, Limit: spec, Answer: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Totals; n.Offered != 40 || n.Admitted != 20 || n.Refused != 20 {
		t.Errorf("%+v, want 20 of 40 admitted", n)
	}
}
