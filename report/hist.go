package report

import "math/bits"

// A Hist counts durations in log-linear buckets: subBuckets to each power of
// two, so a bucket is never wider than 1/128 of its value (0.8%) and the value
// given back, its middle, is off by at most 0.4%. It covers 0 ns to 2.4 h;
// what lies above is counted in the last bucket while Max stays exact. The
// layout follows the idea of HdrHistogram (Tene) with a fixed precision.
//
// The zero value is empty. Not safe for concurrent use.
type Hist struct {
	counts [histBuckets]uint64
	n      uint64
	sum    float64 // ns; a float is safe, it only feeds the mean
	max    int64
	min    int64
}

const (
	subBits     = 7
	subBuckets  = 1 << subBits
	histTop     = 43 // values from 2^43 ns on share the last bucket
	histBuckets = (histTop-subBits)*subBuckets + subBuckets
)

func bucketOf(v int64) int {
	u := uint64(v)
	if u < 2*subBuckets {
		return int(u)
	}
	shift := bits.Len64(u) - subBits - 1
	i := shift<<subBits + int(u>>shift)
	if i >= histBuckets {
		return histBuckets - 1
	}
	return i
}

// bucketMid is the middle of a bucket, in nanoseconds.
func bucketMid(i int) int64 {
	if i < 2*subBuckets {
		return int64(i)
	}
	shift := i>>subBits - 1
	low := int64(i&(subBuckets-1)|subBuckets) << shift
	return low + (int64(1)<<shift-1)/2
}

// RecordN counts v nanoseconds n times; n of 0 counts nothing.
func (h *Hist) RecordN(v int64, n uint64) {
	if n == 0 {
		return
	}
	h.Record(v)
	v, n = max(v, 0), n-1
	h.counts[bucketOf(v)] += n
	h.n += n
	h.sum += float64(v) * float64(n)
}

// Record counts v nanoseconds; a negative v counts as 0.
func (h *Hist) Record(v int64) {
	if v < 0 {
		v = 0
	}
	h.counts[bucketOf(v)]++
	h.n++
	h.sum += float64(v)
	if v > h.max {
		h.max = v
	}
	if v < h.min || h.n == 1 {
		h.min = v
	}
}

// Merge adds o's counts to h.
func (h *Hist) Merge(o *Hist) {
	if o.n == 0 {
		return
	}
	for i, c := range o.counts {
		h.counts[i] += c
	}
	if h.n == 0 || o.min < h.min {
		h.min = o.min
	}
	h.n += o.n
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Count is how many values were recorded.
func (h *Hist) Count() uint64 { return h.n }

// Max is the largest value recorded, exact; 0 when empty.
func (h *Hist) Max() int64 { return h.max }

// Mean is the mean in nanoseconds; 0 when empty.
func (h *Hist) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return h.sum / float64(h.n)
}

// Quantile returns the smallest value that at least the share q of all values
// do not exceed, to the precision of a bucket; 0 when empty.
func (h *Hist) Quantile(q float64) int64 {
	var out [1]int64
	h.quantiles([]float64{q}, out[:])
	return out[0]
}

// quantiles fills out for ascending qs in one pass.
func (h *Hist) quantiles(qs []float64, out []int64) {
	if h.n == 0 {
		clear(out)
		return
	}
	var seen uint64
	next := 0
	for i := range h.counts {
		if h.counts[i] == 0 {
			continue
		}
		seen += h.counts[i]
		for next < len(qs) {
			rank := uint64(qs[next] * float64(h.n))
			if float64(rank) < qs[next]*float64(h.n) || rank == 0 {
				rank++
			}
			if rank > h.n {
				rank = h.n
			}
			if seen < rank {
				break
			}
			out[next] = min(max(bucketMid(i), h.min), h.max)
			next++
		}
		if next == len(qs) {
			return
		}
	}
}
