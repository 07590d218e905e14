package limit_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func breaker(t testing.TB, rule limit.BreakerRule) *limit.Breaker {
	t.Helper()
	b, err := limit.NewBreaker(rule)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var fiveFailures = limit.BreakerRule{Failures: 5, Every: time.Second}

// A request every gap; the store is silent in [5 s, back), takes 0.5 ms each
// way, and a check that it does not answer fails after 3 ms.
func outage(t *testing.T, b *limit.Breaker, gap, back int64) (failed, local int, opened, closed int64) {
	type outcome struct {
		ticket limit.Ticket
		at     int64
		ok     bool
	}
	var flying []outcome
	for now := 4 * second; now < 20*second; now += gap {
		rest := flying[:0]
		for _, o := range flying { // in the order of their outcomes, as those sent do
			switch {
			case o.at > now:
				rest = append(rest, o)
			case o.ok:
				if b.Answered(o.ticket) {
					closed = o.at
				}
			default:
				failed++
				if b.Failed(o.ticket, o.at) {
					opened = o.at
				}
			}
		}
		flying = rest
		ticket := b.Ask(now)
		store := now + ms/2
		switch {
		case ticket.Way == limit.Locally:
			local++
		case store >= 5*second && store < back:
			flying = append(flying, outcome{ticket, now + 3*ms, false})
		default:
			flying = append(flying, outcome{ticket, now + ms, true})
		}
	}
	return failed, local, opened, closed
}

func TestBreakerInAnOutage(t *testing.T) {
	// Calls at 5.000 to 5.040 fail; the last at 5.043. Probes at 6.050, 7.050
	// and 8.050 fail, the one at 9.050 is answered at 9.051.
	failed, local, opened, closed := outage(t, breaker(t, fiveFailures), 10*ms, 8200*ms)
	if failed != 5+3 || local != 400-3 || opened != 5043*ms || closed != 9051*ms {
		t.Errorf("%d failed, %d local, opened at %d, closed at %d", failed, local, opened, closed)
	}
	// A call every millisecond: 5.000 to 5.004 are the five; those of 5.005
	// and 5.006 were on their way. The first probe goes at 6.007 exactly.
	failed, local, opened, closed = outage(t, breaker(t, fiveFailures), ms, 5900*ms)
	if failed != 7 || local != 1000 || opened != 5007*ms || closed != 6008*ms {
		t.Errorf("%d failed, %d local, opened at %d, closed at %d", failed, local, opened, closed)
	}
}

func TestBreakerSteps(t *testing.T) {
	b := breaker(t, limit.BreakerRule{Failures: 2, Every: time.Second})
	early, early2 := b.Ask(0), b.Ask(0)
	b.Failed(b.Ask(1), 2)
	b.Answered(b.Ask(3)) // the row begins anew
	if b.Failed(b.Ask(4), 5) || b.Open() {
		t.Fatal("opened after one failure in a row")
	}
	if !b.Failed(b.Ask(6), 7) || !b.Open() || b.OpenedAt() != 7 || b.Openings() != 1 {
		t.Fatal("not opened by the second in a row")
	}
	if b.Answered(early) || !b.Open() {
		t.Error("an answer to a check from before the opening closes")
	}
	want := func(now int64, way limit.Way) limit.Ticket {
		t.Helper()
		ticket := b.Ask(now)
		if ticket.Way != way {
			t.Errorf("at %d: %v, want %v", now, ticket.Way, way)
		}
		return ticket
	}
	want(7, limit.Locally)
	want(second+6, limit.Locally)
	probe := want(second+7, limit.Probe)
	want(second+8, limit.Locally) // one in flight
	want(5*second, limit.Locally)
	b.Failed(probe, 5*second)
	b.Failed(probe, 5*second) // reported twice
	// k is 2 now, whose time is over.
	probe = want(5*second, limit.Probe)
	b.Failed(early2, 5*second) // from long ago
	want(5*second, limit.Locally)
	if !b.Answered(probe) || b.Open() {
		t.Fatal("an answered probe does not close")
	}
	if b.Failed(early2, 6*second) || b.Failed(probe, 6*second) {
		t.Error("a check from before counts")
	}
	if b.Failed(want(6*second, limit.Send), 6*second) {
		t.Error("the row goes on after the closing")
	}
	if !b.Failed(want(6*second, limit.Send), 6*second) || b.Openings() != 2 {
		t.Error("does not open again")
	}
	want(7*second-1, limit.Locally)
	want(7*second, limit.Probe)
}

func TestBreakerSkips(t *testing.T) {
	b := breaker(t, limit.BreakerRule{Failures: 2, Every: 2 * time.Second, Skip: true})
	b.Failed(b.Ask(0), 0)
	b.Failed(b.Ask(0), 0)
	if w := b.Ask(2*second - 1).Way; w != limit.Locally {
		t.Error(w)
	}
	one, two := b.Ask(2*second), b.Ask(2*second)
	if one.Way != limit.Send || two.Way != limit.Send {
		t.Error(one, two)
	}
	if !b.Failed(one, 2*second+3) || b.Failed(two, 2*second+3) || b.Ask(4*second+2).Way != limit.Locally {
		t.Error("the next failure does not open it again for as long")
	}
	b.Answered(b.Ask(4*second + 3))
	if b.Failed(b.Ask(4*second+4), 4*second+4) {
		t.Error("an answer does not end the row")
	}
}

func TestBreakerRules(t *testing.T) {
	for _, rule := range []limit.BreakerRule{{}, {Failures: -1, Every: 1}, {Failures: 1}, {Failures: 1, Every: -1}} {
		if _, err := limit.NewBreaker(rule); err == nil {
			t.Errorf("%+v is taken", rule)
		}
	}
	b := breaker(t, limit.BreakerRule{Failures: 1, Every: math.MaxInt64})
	b.Failed(b.Ask(second), second)
	if w := b.Ask(1 << 60).Way; w != limit.Locally {
		t.Errorf("%v after 36 years of 292", w)
	}
}

// Random checks in random order: probes go one at a time and never before
// their time; a closed breaker has fewer failures in a row than open it.
func TestBreakerProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		rule := limit.BreakerRule{Failures: 1 + rnd.IntN(5), Every: time.Duration(1 + rnd.IntN(50))}
		b := breaker(t, rule)
		var flying []limit.Ticket
		probes, failedProbes, sawProbe := 0, int64(0), 0
		for now := range int64(2000) {
			if rnd.IntN(2) == 0 {
				ticket := b.Ask(now)
				if (ticket.Way == limit.Send) == b.Open() {
					t.Fatalf("%v while open is %v", ticket.Way, b.Open())
				}
				if ticket.Way == limit.Probe {
					probes++
					sawProbe++
					if probes > 1 || now < b.OpenedAt()+(failedProbes+1)*int64(rule.Every) {
						t.Fatalf("probe at %d with %d in flight, opened %d, %d failed before", now, probes, b.OpenedAt(), failedProbes)
					}
				}
				if ticket.Way != limit.Locally {
					flying = append(flying, ticket)
				}
				continue
			}
			if len(flying) == 0 {
				continue
			}
			i := rnd.IntN(len(flying))
			ticket := flying[i]
			flying = append(flying[:i], flying[i+1:]...)
			wasOpen := b.Open()
			if rnd.IntN(3) == 0 {
				if closed := b.Answered(ticket); closed != (wasOpen && ticket.Way == limit.Probe) {
					t.Fatalf("%v answered: closed is %v", ticket.Way, closed)
				}
			} else if b.Failed(ticket, now) {
				failedProbes = 0
			} else if ticket.Way == limit.Probe {
				failedProbes++
			}
			if ticket.Way == limit.Probe {
				probes--
			}
		}
		if b.Openings() > 0 && sawProbe == 0 {
			t.Errorf("%+v: never a probe", rule)
		}
	}
}

func BenchmarkBreaker(b *testing.B) {
	br := breaker(b, fiveFailures)
	b.ReportAllocs()
	for i := range b.N {
		br.Answered(br.Ask(int64(i)))
	}
}
