package gateway

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// What each failure mode lets through while the store is gone: twenty gateways,
// one key that storms at 400/s and ten that keep to 2/s each, all under 10/s,
// burst 20. In an outage of t seconds:
//
//	open    everything
//	closed  nothing
//	local   of a key at most gateways × max(1, burst/gateways) + rate × t; and at
//	        least what each gateway's share gains in t, if it is asked that often
//
// and before and after it at most burst + rate × t, as of one bucket.
func TestStormDuringAnOutage(t *testing.T) {
	const gateways, honest, storming = 20, 10, 400
	const burst, rate = 20, 10
	var tab table
	t.Cleanup(func() {
		t.Logf("admitted of those sent during the outage\n| mode | outage | storm | computed | honest | computed |\n%s", tab.rows.String())
	})
	for _, mode := range []limit.FailMode{limit.FailOpen, limit.FailClosed, limit.FailLocal} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			r := redistest.Server(t)
			breaker := limit.BreakerRule{Failures: 5, Every: 500 * time.Millisecond}
			f := serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Limit: spec(t, "10/s,burst=20"),
				OnFailure: mode, StoreTimeout: 2 * time.Second, Breaker: breaker})
			c := newCrowd(t, f)
			begun := time.Now()
			c.send("storm", storming, 0)
			for i := range honest {
				c.send(fmt.Sprint("honest-", i), 2, 2*i)
			}
			time.Sleep(span(2*time.Second, 5*time.Second))

			before := f.Counts(0).Store.Calls
			off := time.Now()
			r.Kill()
			from := time.Now()
			time.Sleep(span(2500*time.Millisecond, 10*time.Second))
			to := time.Now()
			calls := f.Counts(0).Store.Calls - before
			r.Restart()
			until(t, "all gateways ask the store again", func() bool { return openBreakers(f) == 0 })
			back := time.Now()
			time.Sleep(span(time.Second, 5*time.Second))
			end := time.Now()
			c.balanced()

			// One bucket, before and after.
			_, n := c.between("storm", begun, off)
			if most := bound(burst, rate, off.Sub(begun)); n > most {
				t.Errorf("before: %d passed in %v, want at most %d", n, off.Sub(begun), most)
			}
			_, m := c.between("storm", back, end)
			if most := bound(burst, rate, end.Sub(back)); m > most {
				t.Errorf("after: %d passed in %v, want at most %d", m, end.Sub(back), most)
			}
			if n < burst || m == 0 {
				t.Errorf("%d passed before the outage and %d after it", n, m)
			}

			outage := to.Sub(from)
			sent, storm := c.between("storm", from, to)
			honestSent, passed := c.between("honest", from, to)
			var least, most, honestPass int
			var computed string
			switch mode {
			case limit.FailOpen:
				least, most, honestPass, computed = sent, sent, honestSent, "all"
			case limit.FailClosed:
				computed = "0"
			case limit.FailLocal:
				// Each gateway is asked 20 times a second; half a second is for
				// a machine that is busy.
				each := int((outage - 500*time.Millisecond).Seconds() * rate / gateways)
				least, most, honestPass = gateways*each, shareBound(gateways, burst, rate, outage), honestSent
				computed = fmt.Sprintf("%d to %d", least, most)
			}
			tab.row(mode, outage.Round(10*time.Millisecond), fmt.Sprint(storm, " of ", sent), computed,
				fmt.Sprint(passed, " of ", honestSent), honestPass)
			if storm < least || storm > most {
				t.Errorf("%d of the storm's %d passed in %v, want %d to %d", storm, sent, outage, least, most)
			}
			if passed != honestPass {
				t.Errorf("%d of %d honest requests passed, want %d", passed, honestSent, honestPass)
			}
			if sent < storming/4*int(outage.Seconds()) {
				t.Errorf("only %d were sent in %v", sent, outage)
			}
			c.each("", from, to, func(a attempt) {
				if a.status != http.StatusOK && (a.status != http.StatusTooManyRequests || a.wait == "" || a.wait == "0" || a.problem != problemCapacity) {
					t.Fatalf("a caller was told %+v", a)
				}
			})
			// Nobody waits for a store that is known to be gone.
			if most := int64(gateways * (2*breaker.Failures + int(outage/breaker.Every) + 2)); calls > most {
				t.Errorf("%d calls during the outage, want at most %d", calls, most)
			}
			// The restarted server got the script again, and no caller heard of it.
			if n := stat(t, r, "commandstats", "cmdstat_script|load"); n < 1 || n > gateways {
				t.Errorf("the script was loaded %d times", n)
			}
			for i, s := range f.stores {
				if st := s.Stats(); st.Loads > 2 || st.Errors[redislimit.KindNoScript] != 0 {
					t.Errorf("gateway %d: %+v", i+1, st)
				}
			}
			if sn := f.Counts(0).Store; sn.Openings < gateways {
				t.Errorf("%d breakers opened", sn.Openings)
			}
			tidyServer(t, r, poolSize)
		})
	}
}

// A server that stands still. Each check that has left may be counted when it
// goes on; no caller waits longer than one timeout, and nothing begins anew. In
// all, the key gets at most
//
//	burst + rate × T of the store, and of the shares what an outage gives.
func TestStoreStandsStill(t *testing.T) {
	t.Parallel()
	const gateways, burst, rate = 20, 20, 10
	r := redistest.Server(t)
	f := serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Limit: spec(t, "10/s,burst=20"),
		OnFailure: limit.FailLocal, StoreTimeout: 250 * time.Millisecond, Breaker: quick})
	c := newCrowd(t, f)
	begun := time.Now()
	c.send("storm", 400, 0)
	c.send("honest", 2, 0)
	until(t, "the store decides", func() bool { return by(f, FromStore) > 200 })
	loads := stat(t, r, "commandstats", "cmdstat_script|load")
	calls := f.Counts(0).Store.Calls
	r.Pause()
	from := time.Now()
	until(t, "all breakers are open", func() bool { return openBreakers(f) == gateways })
	time.Sleep(span(time.Second, 5*time.Second))
	to := time.Now()
	calls = f.Counts(0).Store.Calls - calls
	r.Resume()
	until(t, "all gateways ask the store again", func() bool { return openBreakers(f) == 0 })
	c.balanced()
	all := time.Since(begun)
	sent, admitted := c.between("storm", begun, time.Now())
	_, during := c.between("storm", from, to)
	most := bound(burst, rate, all) + shareBound(gateways, burst, rate, all)
	t.Logf("%d of %d passed in %v, at most %d; %d of them while the server stood still for %v, with %d calls",
		admitted, sent, all, most, during, to.Sub(from), calls)
	if admitted > most {
		t.Errorf("%d passed in %v, want at most %d", admitted, all, most)
	}
	if most := shareBound(gateways, burst, rate, to.Sub(from)); during > most {
		t.Errorf("%d passed while the server stood still, want at most %d", during, most)
	}
	if sent, n := c.between("honest", begun, time.Now()); n != sent {
		t.Errorf("%d of %d honest requests passed", n, sent)
	}
	if n := stat(t, r, "commandstats", "cmdstat_script|load"); n != loads {
		t.Errorf("%d loads, though the server kept its scripts", n-loads)
	}
	tidyServer(t, r, poolSize)
}
