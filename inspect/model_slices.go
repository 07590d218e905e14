package inspect

import (
	"fmt"
	"time"

	"github.com/weir-cli/weir/limit"
)

// decodeSlices is a hash of counts, each of a slice of time whose number is
// the field.
func decodeSlices(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingCounter.String()
	most, w, known := f.window(limit.SlidingCounter)
	e := f.main()
	if f.unread() {
		return nil
	}
	counts := map[int64]int64{}
	newest := int64(0)
	if e != nil {
		for name, text := range e.Fields {
			n, ok := f.whole(name, "A slice's number")
			if !ok || n <= 0 {
				return nil
			}
			if counts[n], ok = f.whole(text, "A slice's count"); !ok {
				return nil
			}
			newest = max(newest, n)
		}
		if e.Truncated {
			f.partial = true
			f.r.problem("truncated", fmt.Sprintf("It has %d slices, of which %d were read.", e.Len, len(e.Fields)))
		}
	}
	slice := int64(5 * time.Second)
	if newest > 0 {
		slice = int64(inferWindow(newest, f.now))
		f.r.note(fmt.Sprintf("The numbers of its slices tell their length: %s.", limit.ShortDuration(time.Duration(slice))))
	}
	if !known || slice <= 0 {
		return nil
	}
	back := int64(w) / slice
	sum := func(at int64) int64 {
		total := int64(0)
		for n, count := range counts {
			if now := at / slice; n <= now && n >= now-back {
				total = -satSub(-total, count)
			}
		}
		return total
	}
	used := sum(f.now)
	f.r.Used = &used
	if stale := len(counts); int64(stale) > 2*back+8 {
		f.r.note(fmt.Sprintf("It keeps %d slices, more than the window needs: old ones are removed by chance.", stale))
	}
	return &verdict{most: most, passes: func(at, cost int64) bool { return cost <= satSub(most, sum(at)) }}
}
