package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/peertest"
	"github.com/weir-cli/weir/internal/redistest"
)

const (
	wantSteps = 300 // that are compared, of each library
	wantEach  = 20  // calls that pass, and that are refused, among them
	mostSteps = 3000
)

// The real limiters say what they decide, and inspect must have said it before:
// whether a call of that cost passes, what remains, and how long to wait.
//
// A library reads a clock of its own some time between the read before its
// call and the one after it. Where the state changes its answer in between,
// give or take tolerance, nothing can be compared; such steps are counted.
func TestRealLibrariesAnswerAsForeseen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	peertest.Need(t, "redis-server")
	drivers := findDrivers(t)
	tallies := make([]tally, len(libraries))
	var running sync.WaitGroup
	for i := range libraries {
		lib := &libraries[i]
		d := drivers[lib.driver]
		if d.missing != "" {
			continue
		}
		c := redistest.Server(quiet{t}).Client(t)
		running.Go(func() {
			tallies[i] = lib.compare(t.Context(), d, c)
		})
	}
	running.Wait()
	for i := range libraries {
		lib := &libraries[i]
		t.Run(lib.name, func(t *testing.T) {
			if missing := drivers[lib.driver].missing; missing != "" {
				peertest.Missing(t, missing)
			}
			tallies[i].check(t)
		})
	}
	t.Log("\n" + table(tallies))
}

// quiet keeps the many servers from writing their logs for what one library
// does.
type quiet struct{ testing.TB }

func (quiet) Failed() bool { return false }

// tally is what came of one library.
type tally struct {
	name    string
	steps   int
	passed  int // that the library let through
	refused int
	near    int // too near to a change to be foreseen
	// What was compared.
	verdicts, remains, waits int
	rounded                  int // of remains: one less, by the library's arithmetic
	known                    int // keys of which the right layout was found first
	keys                     int
	took                     time.Duration
	wrong                    []string
	err                      error
}

// maxWrong is how many differences of one library are kept.
const maxWrong = 5

func (y *tally) differ(format string, args ...any) {
	y.wrong = append(y.wrong, fmt.Sprintf("step %d: "+format, append([]any{y.steps}, args...)...))
}

// enough reports whether there is enough to tell.
func (y *tally) enough() bool {
	return y.verdicts >= wantSteps && y.passed >= wantEach && y.refused >= wantEach
}

// check fails for what was wrong, and where too little was compared to tell.
func (y *tally) check(t *testing.T) {
	if y.err != nil {
		t.Fatal(y.err)
	}
	for _, w := range y.wrong {
		t.Error(w)
	}
	if len(y.wrong) == 0 && !y.enough() {
		t.Errorf("of %d steps only %d could be compared, %d passed and %d were refused", y.steps, y.verdicts, y.passed, y.refused)
	}
}

func table(tallies []tally) string {
	var b strings.Builder
	row := func(cells ...any) {
		fmt.Fprintf(&b, "%-24v %6v %7v %8v %9v %8v %6v %7v %6v %9v %6v %6v\n", cells...)
	}
	row("library", "steps", "passed", "refused", "verdicts", "remains", "waits", "rounded", "near", "named", "wrong", "took")
	all := tally{name: "all"}
	line := func(y *tally) {
		row(y.name, y.steps, y.passed, y.refused, y.verdicts, y.remains, y.waits, y.rounded, y.near, fmt.Sprintf("%d/%d", y.known, y.keys), len(y.wrong), y.took.Round(100*time.Millisecond))
	}
	for i := range tallies {
		y := &tallies[i]
		if y.name == "" {
			continue
		}
		line(y)
		all.steps, all.passed, all.refused, all.near = all.steps+y.steps, all.passed+y.passed, all.refused+y.refused, all.near+y.near
		all.verdicts, all.remains, all.waits = all.verdicts+y.verdicts, all.remains+y.remains, all.waits+y.waits
		all.rounded, all.known, all.keys = all.rounded+y.rounded, all.known+y.known, all.keys+y.keys
		all.wrong = slices.Concat(all.wrong, y.wrong)
	}
	line(&all)
	return b.String()
}
