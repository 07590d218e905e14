package report

// starvedAfter is how many attempts without one admission make a client count
// as starved.
const starvedAfter = 10

// fairCount keeps Jain's index (Jain, Chiu, Hawe 1984) over the clients'
// admissions up to date: (sum x)^2 / (n * sum x^2).
type fairCount struct {
	clients, sum, squares uint64
	starved               int64
}

func (f *fairCount) add(c *clientStat, admitted bool) {
	if c.offered == 0 {
		f.clients++
	}
	c.offered++
	if !admitted {
		if c.offered == starvedAfter && c.admitted == 0 {
			f.starved++
		}
		return
	}
	if c.admitted == 0 && c.offered > starvedAfter {
		f.starved--
	}
	f.sum++
	f.squares += 2*uint64(c.admitted) + 1
	c.admitted++
}

// jain is 1 when all had the same, 1/n when one had everything. Nobody having
// anything is even.
func (f *fairCount) jain() float64 {
	if f.squares == 0 {
		return 1
	}
	return float64(f.sum) * float64(f.sum) / (float64(f.clients) * float64(f.squares))
}
