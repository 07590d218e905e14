package sim

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// regionRate is a rate, a demand or a share, a second: exact, and 0 is one.
// Its text is that of Rate, or 0.
type regionRate struct{ limit.Rate }

func (r *regionRate) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if count, unit, _ := strings.Cut(s, "/"); count == "0" && (unit == "" || unit == "s") {
		*r = regionRate{}
		return nil
	}
	var rate Rate
	if err := rate.UnmarshalText(text); err != nil {
		return err
	}
	r.Rate = rate.Rate
	return nil
}

func (r regionRate) String() string {
	if r.Units == 0 {
		return "0/s"
	}
	return r.Rate.String()
}

// rat is the rate a second.
func (r regionRate) rat() *big.Rat {
	if r.Units == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt64(r.Units), big.NewRat(int64(time.Second), int64(r.Per)))
}

func regionRates(list ...int64) []regionRate {
	out := make([]regionRate, len(list))
	for i, n := range list {
		out[i] = regionRate{PerSecond(n).Rate}
	}
	return out
}

// fraction is an exact part of a whole. Its text is 1/2, 0.5 or 50%.
type fraction struct {
	text string
	of   *big.Rat // nil in the zero value, which is no fraction
}

func newFraction(num, den int64) fraction {
	return fraction{strconv.FormatInt(num, 10) + "/" + strconv.FormatInt(den, 10), big.NewRat(num, den)}
}

func (f *fraction) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	body, percent := strings.CutSuffix(s, "%")
	v := new(big.Rat)
	// Exponents are left out since they could fill the memory.
	if len(s) > 40 || strings.Trim(body, "0123456789./") != "" {
		return &valueError{"is not a fraction from 0 to 1", "1/2"}
	}
	if _, ok := v.SetString(body); !ok {
		return &valueError{"is not a fraction from 0 to 1", "1/2"}
	}
	if percent {
		v.Mul(v, big.NewRat(1, 100))
	}
	if v.Cmp(big.NewRat(1, 1)) > 0 {
		return &valueError{"is above 1", "1/2"}
	}
	*f = fraction{s, v}
	return nil
}

func (f fraction) String() string { return f.text }

// regionPart is the part of a silent Region's share that a Region takes over:
// a fraction, or `side` for one of as many equal parts as there are Regions on
// its side of the fault.
type regionPart struct{ fraction }

func (p *regionPart) UnmarshalText(text []byte) error {
	if strings.TrimSpace(string(text)) == bySide {
		*p = regionPart{fraction{text: bySide}}
		return nil
	}
	return p.fraction.UnmarshalText(text)
}

const bySide = "side"

// regionName is A for Region 0, and so on.
func regionName(i int) string { return string(rune('A' + i)) }

// regionIndex is the Region of a name, or -1.
func regionIndex(name string, n int) int {
	if len(name) != 1 || name[0] < 'A' || int(name[0]-'A') >= n {
		return -1
	}
	return int(name[0] - 'A')
}
