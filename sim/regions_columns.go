package sim

import "math/big"

// regionColumns are values over time, one a second: what was admitted in the
// second, and shares as they flow in its first step. A nil one keeps none.
type regionColumns struct {
	admitted, sum, highest []float64
	each, share            [][]float64
}

func newRegionColumns(n int) *regionColumns {
	return &regionColumns{each: make([][]float64, n), share: make([][]float64, n)}
}

// begin takes the shares of the second that begins.
func (c *regionColumns) begin(w *regionRun) {
	if c == nil {
		return
	}
	c.sum = append(c.sum, nearest(w.measure.sum))
	for i, r := range w.regions {
		share := r.Share()
		if w.down[i] {
			share = new(big.Rat)
		}
		c.share[i] = append(c.share[i], nearest(share))
	}
}

// end takes what was admitted in the second that ends.
func (c *regionColumns) end(m *regionMeasure) {
	if c == nil {
		return
	}
	c.admitted = append(c.admitted, nearest(m.second))
	c.highest = append(c.highest, nearest(m.highestInSecond))
	for i, each := range m.eachSecond {
		c.each[i] = append(c.each[i], nearest(each))
	}
}

// list is the columns with their names.
func (c *regionColumns) list() []Series {
	if c == nil {
		return nil
	}
	out := []Series{
		{"admitted", 0, 1, c.admitted},
		{"sum_of_shares", 0, 1, c.sum},
		{"highest_sum_of_shares", 0, 1, c.highest},
	}
	for i := range c.each {
		out = append(out, Series{"admitted_" + lowerName(i), 0, 1, c.each[i]}, Series{"share_" + lowerName(i), 0, 1, c.share[i]})
	}
	return out
}

// seconds is what was admitted in each of the first maxNumbered seconds.
func (c *regionColumns) seconds() []float64 {
	if c == nil {
		return nil
	}
	return c.admitted[:min(len(c.admitted), maxNumbered)]
}

// nearest is the float nearest to an exact value, for show.
func nearest(v *big.Rat) float64 {
	f, _ := v.Float64()
	return f
}

// lowerName is a for Region 0, and so on, as it stands in figures.
func lowerName(i int) string { return string(rune('a' + i)) }
