package tui

import (
	"reflect"
	"testing"
)

func TestRoundUp(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, -1: 0, 1: 1, 1.3: 1.5, 7: 7, 9: 10, 10: 10, 11: 12, 99: 100, 315: 350, 1184: 1200, 150: 150,
		100: 100, 1e9: 1e9, 0.3: 0.3, 0.31: 0.35} {
		if got := roundUp(v); got < want*(1-1e-12) || got > want*(1+1e-12) {
			t.Errorf("roundUp(%v) = %v, want %v", v, got, want)
		}
	}
}

// Every scale has both ends and, where there is room, whole figures between
// that stand in rows of their own.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		top  float64
		rows int
		want []float64
	}{
		{150, 15, []float64{0, 150, 50, 100}},
		{100, 20, []float64{0, 100, 20, 40, 60, 80}},
		{100, 8, []float64{0, 100, 50}},
		{2, 30, []float64{0, 2, 1}}, // no half of a request
		{1, 30, []float64{0, 1}},
		{3, 4, []float64{0, 3}},
		{400, 2, []float64{400}},
		{13, 30, []float64{0, 13}}, // a scale that is not round
	} {
		if got := ticks(c.top, c.rows); !reflect.DeepEqual(got, c.want) {
			t.Errorf("ticks(%v, %d) = %v, want %v", c.top, c.rows, got, c.want)
		}
	}
	for v := 0.01; v < 1e7; v *= 1.07 {
		top := roundUp(v)
		for rows := 3; rows < 60; rows++ {
			c, at := newCanvas(1, rows), map[int]float64{}
			for _, tick := range ticks(top, rows) {
				y := c.row(tick, top)
				if was, taken := at[y]; taken {
					t.Fatalf("scale to %v in %d rows: %v and %v both stand in row %d", top, rows, was, tick, y)
				}
				at[y] = tick
			}
		}
	}
}
