package gateway

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// What is told of a breaker is told in the order in which it came: an opening
// that overtook the closing before it would be no news, and health would say
// for ever that the breaker is as it was.
func TestBreakersAreToldInOrder(t *testing.T) {
	f, err := New(Config{Limit: spec(t, "10/s,burst=20"), Observe: Observe{Metrics: true}})
	if err != nil {
		t.Fatal(err)
	}
	g := f.gateways[0]
	g.breakers = newBreakers(limit.BreakerRule{Failures: 1, Every: time.Nanosecond}, g.breakers.tell)
	failure := errors.New("no answer")
	var callers sync.WaitGroup
	for c := range 8 {
		callers.Go(func() {
			for i := range 20000 {
				ticket := g.breakers.ask("n", g.now())
				if ticket.Way == limit.Locally {
					continue
				}
				var err error
				if (i+c)%2 == 0 {
					err = failure
				}
				g.outcome("n", ticket, err)
			}
		})
	}
	callers.Wait()
	open, openings := g.breakers.counts()
	if openings < 100 {
		t.Fatalf("only %d openings", openings)
	}
	w := &f.observer.watch.gateways[0]
	if told := slices.Contains(w.open, "n"); told != (open == 1) {
		t.Errorf("told that it is open: %t; it is: %t", told, open == 1)
	}
	if told := int(scraped(t, f.observer.metrics.handler)["weir_breaker_openings_total"]); told != openings {
		t.Errorf("told of %d openings of %d", told, openings)
	}
}
