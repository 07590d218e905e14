package report

// herdBin is the width of a herd's bin: 10 ms.
const herdBin = int64(10e6)

// herdBins bounds the bins: 2.8 hours.
const herdBins = 1 << 20

// herdCount counts retries in aligned 10 ms bins by when they were due and by
// when they left.
type herdCount struct {
	due, sent          []uint32
	peakDue, peakSent  uint32
	peakAt, peakSentAt int // bins
	firstBin, lastBin  int // by due
	n                  uint64
	over               uint64 // retries beyond the last bin
}

func (h *herdCount) add(due, sent int64) {
	d, s := max(due, 0)/herdBin, max(sent, 0)/herdBin
	if d >= herdBins || s >= herdBins {
		h.over++
		return
	}
	h.due = bump(h.due, int(d))
	h.sent = bump(h.sent, int(s))
	if n := h.due[d]; n > h.peakDue {
		h.peakDue, h.peakAt = n, int(d)
	}
	if n := h.sent[s]; n > h.peakSent {
		h.peakSent, h.peakSentAt = n, int(s)
	}
	if h.n == 0 || int(d) < h.firstBin {
		h.firstBin = int(d)
	}
	h.lastBin = max(h.lastBin, int(d))
	h.n++
}

func bump(b []uint32, i int) []uint32 {
	if i >= len(b) {
		if i >= cap(b) {
			b = append(make([]uint32, 0, max(2*cap(b), i+1, 4096)), b...)
		}
		b = b[:i+1]
	}
	b[i]++
	return b
}

// overMean is the peak against the mean over the span from the first to the
// last retry, and at least a second of it: a single wave is a herd too.
func (h *herdCount) overMean() float64 {
	if h.n == 0 {
		return 0
	}
	span := max(h.lastBin-h.firstBin+1, int(1e9/herdBin))
	return float64(h.peakDue) / (float64(h.n) / float64(span))
}

// herdAround is how many bins on either side of the peak a result keeps.
const herdAround = 100

func (h *herdCount) result() Herd {
	r := Herd{Retries: int64(h.n), Peak10ms: int64(h.peakDue), PeakSent10ms: int64(h.peakSent)}
	if h.n == 0 {
		return r
	}
	r.AtS = seconds(int64(h.peakAt) * herdBin)
	r.SentAtS = seconds(int64(h.peakSentAt) * herdBin)
	r.OverMean = round(h.overMean(), 2)
	from := max(h.peakAt-herdAround, 0)
	to := min(h.peakAt+herdAround+1, len(h.due))
	r.AroundFromS = seconds(int64(from) * herdBin)
	r.Around = append([]uint32(nil), h.due[from:to]...)
	return r
}
