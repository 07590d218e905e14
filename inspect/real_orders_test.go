package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/internal/peertest"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// wantOrders are carried out on the state of each library.
const wantOrders = 60

// After what an operator writes, a real limiter's next answer is as was said.
func TestRealLibrariesAnswerAsOrdered(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	peertest.Need(t, "redis-server")
	drivers := findDrivers(t)
	tallies := make([]orders, len(libraries))
	var running sync.WaitGroup
	for i := range libraries {
		lib := &libraries[i]
		d := drivers[lib.driver]
		l := inspect.Find(inspect.Builtin(), lib.layout)
		if d.missing != "" || l == nil || len(l.Writes) == 0 {
			continue
		}
		c := redistest.Server(quiet{t}).Client(t)
		running.Go(func() {
			tallies[i] = lib.operate(t.Context(), d, l, c)
		})
	}
	running.Wait()
	for i := range libraries {
		lib, y := &libraries[i], &tallies[i]
		l := inspect.Find(inspect.Builtin(), lib.layout)
		if l == nil || len(l.Writes) == 0 {
			continue
		}
		t.Run(lib.name, func(t *testing.T) {
			if missing := drivers[lib.driver].missing; missing != "" {
				peertest.Missing(t, missing)
			}
			if y.err != nil {
				t.Fatal(y.err)
			}
			for _, w := range y.wrong {
				t.Error(w)
			}
			for _, a := range l.Writes {
				if y.done[a] == 0 {
					t.Errorf("no %s was carried out", a)
				}
			}
			if y.verdicts < wantOrders/3 {
				t.Errorf("only %d answers of %d could be compared", y.verdicts, y.steps)
			}
			t.Logf("%v, %d answers compared, %d refused orders, %d changed meanwhile", y.done, y.verdicts, y.no, y.late)
		})
	}
}

// orders is a tally of answers after orders.
type orders struct {
	tally
	done     map[inspect.Action]int
	no, late int // orders that were refused; states that changed before they were written to
}

// operate has a library decide, changes its state, and compares what it
// decides next.
func (lib *library) operate(ctx context.Context, d driver, l *inspect.Layout, c redis.UniversalClient) (y orders) {
	y.name, y.done = lib.name, map[inspect.Action]int{}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	name := lib.library
	if name == "" {
		name = lib.name
	}
	fail := func(err error) orders {
		y.err = err
		return y
	}
	talk, err := d.start(ctx, name, c.(*redis.Client).Options().Addr, lib.settings)
	if err != nil {
		return fail(err)
	}
	defer talk.end()
	told, err := limit.ParseSpec(lib.limit)
	if err != nil {
		return fail(err)
	}
	own := *lib          // its prefix is found anew
	own.wait = waitOther // a library does not know of an earlier end
	lib = &own
	if err := lib.findPrefix(ctx, talk, c); err != nil {
		return fail(err)
	}
	r := inspect.NewReader(c, inspect.ReaderOptions{})
	random := rand.New(rand.NewPCG(2, uint64(len(lib.name))))
	sum := 0
	for ; sum < wantOrders && y.steps < mostSteps && len(y.wrong) < maxWrong; y.steps++ {
		id := "o" + strconv.Itoa(y.steps/5)
		for range 1 + random.IntN(6) {
			if _, err := talk.take(id, 1+random.Int64N(min(lib.costs, 3))); err != nil {
				return fail(err)
			}
		}
		o := inspect.Order{Action: l.Writes[random.IntN(len(l.Writes))], Units: random.Int64N(5), In: time.Duration(100+random.IntN(5000)) * time.Millisecond}
		if o.Action == inspect.Grant {
			o.Units++
		}
		change, err := lib.order(ctx, c, r, l, id, &told, o)
		var refused *inspect.RefusedError
		switch {
		case errors.As(err, &refused):
			y.no++
			continue
		case errors.Is(err, inspect.ErrChanged):
			y.late++
			continue
		case err != nil:
			return fail(err)
		}
		y.done[o.Action]++
		sum++
		before, err := lib.see(ctx, r, id, &told, &y.tally)
		if err != nil {
			return fail(err)
		}
		// What was promised, as time has passed since.
		promised, err := inspect.Decode(l, aged(change.After.Entries, before.Now-change.After.Now), before.Now, &told)
		if err != nil {
			return fail(err)
		}
		if o.Action != inspect.Reset && !alike(&promised, &before.Reading) {
			y.differ("%+v was to leave %s, and left %s", o, show(promised), before.show())
		}
		cost := int64(1)
		if lib.costs > 1 && before.Remaining != nil {
			cost = max(1, min(*before.Remaining+random.Int64N(2), *before.Capacity))
		}
		a, err := talk.take(id, cost)
		if err != nil {
			return fail(err)
		}
		after, err := lib.see(ctx, r, id, &told, &y.tally)
		if err != nil {
			return fail(err)
		}
		lib.judge(&y.tally, before, after, cost, a)
	}
	return y
}

// order carries out one order on a customer's state.
func (lib *library) order(ctx context.Context, c redis.UniversalClient, r *inspect.Reader, l *inspect.Layout, id string, told *limit.Spec, o inspect.Order) (inspect.Change, error) {
	keys, err := lib.keys(l, id)
	if err != nil {
		return inspect.Change{}, err
	}
	s, err := r.Get(ctx, keys...)
	if err != nil {
		return inspect.Change{}, err
	}
	reading, err := inspect.Decode(l, s.Entries, s.Now, told)
	if err != nil {
		return inspect.Change{}, err
	}
	change, err := inspect.NewChange(&reading, o, true)
	if err != nil {
		return change, err
	}
	return change, inspect.Write(ctx, c, &change)
}

// alike reports whether two readings let the same pass now: all that there is to
// compare of a ban.
func alike(a, b *inspect.Reading) bool {
	if a.Algorithm == "ban" && b.Algorithm == "ban" {
		first, known := a.Wait(1)
		second, knownToo := b.Wait(1)
		return known && knownToo && (first == 0) == (second == 0)
	}
	return a.Remaining != nil && b.Remaining != nil && *a.Remaining == *b.Remaining
}

// aged are entries of which some time has passed.
func aged(entries []inspect.Entry, by int64) []inspect.Entry {
	out := slices.Clone(entries)
	for i := range out {
		if e := &out[i]; e.TTL >= 0 {
			if e.TTL -= time.Duration(by); e.TTL <= 0 {
				*e = inspect.Entry{Key: e.Key, Type: "none", TTL: inspect.NoKey}
			}
		}
	}
	return out
}

func show(r inspect.Reading) string {
	s := seen{Reading: r}
	return fmt.Sprint(s.show())
}
