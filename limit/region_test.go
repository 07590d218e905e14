package limit

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"
)

func rat(num, den int64) *big.Rat { return big.NewRat(num, den) }

func rats(list ...int64) []*big.Rat {
	out := make([]*big.Rat, len(list))
	for i, n := range list {
		out[i] = rat(n, 1)
	}
	return out
}

func regionRules() *RegionRules {
	return &RegionRules{Limit: rat(10_000, 1), Floor: rat(500, 1), MaxRaise: rat(1_000, 1), Silent: 3}
}

// fleet starts one Region per demand.
func fleet(t *testing.T, rules *RegionRules, demands ...int64) []*Region {
	t.Helper()
	var regions []*Region
	for i := range demands {
		r, err := NewRegion(rules, i, rats(demands...))
		if err != nil {
			t.Fatal(err)
		}
		regions = append(regions, r)
	}
	return regions
}

func wantRat(t *testing.T, what string, got *big.Rat, num, den int64) {
	t.Helper()
	if got.Cmp(rat(num, den)) != 0 {
		t.Errorf("%s is %s, want %s", what, got.RatString(), rat(num, den).RatString())
	}
}

// A share goes from A to C by a grant that A names and C takes later.
func TestNamedGrant(t *testing.T) {
	regions := fleet(t, regionRules(), 7_200, 3_600, 1_200)
	a, b, c := regions[0], regions[1], regions[2]
	wantRat(t, "A's share", a.Share(), 5_600, 1)
	wantRat(t, "B's share", b.Share(), 3_050, 1)
	wantRat(t, "C's share", c.Share(), 1_350, 1)

	// C wants its target, 3,900, and has nothing to raise itself with.
	move := c.Rebalance(rat(7_200, 1), make([]RegionSight, 3))
	asks := move.Record
	wantRat(t, "C's target", move.Target, 3_900, 1)
	wantRat(t, "C's share", c.Share(), 1_350, 1)
	wantRat(t, "C's need", asks.Need, 2_550, 1)

	// A reads it, lowers itself by 1,700 and names C.
	move = a.Rebalance(rat(7_200, 1), []RegionSight{2: {Record: &asks}})
	gives := move.Record
	wantRat(t, "A's share", a.Share(), 3_900, 1)
	wantRat(t, "A's pool", a.Pool(), 0, 1)
	wantRat(t, "A's grant to C", gives.Granted[2], 1_700, 1)

	// C raises itself by no more than 1,000 at a time.
	move = c.Rebalance(rat(7_200, 1), []RegionSight{0: {Record: &gives}, 2: {}})
	wantRat(t, "C's share", c.Share(), 2_350, 1)
	wantRat(t, "C's pool", c.Pool(), 700, 1)
	wantRat(t, "C's need", move.Record.Need, 1_550, 1)

	// The same record again gives nothing more.
	c.Rebalance(rat(7_200, 1), []RegionSight{0: {Record: &gives}, 2: {}})
	wantRat(t, "C's share", c.Share(), 3_050, 1)
	wantRat(t, "C's pool", c.Pool(), 0, 1)
	wantRat(t, "A's record", gives.Granted[2], 1_700, 1)
}

func TestJump(t *testing.T) {
	rules := regionRules()
	rules.Jump = true
	c := fleet(t, rules, 7_200, 3_600, 1_200)[2]
	move := c.Rebalance(rat(7_200, 1), make([]RegionSight, 3))
	wantRat(t, "C's share", c.Share(), 3_900, 1)
	wantRat(t, "C's need", move.Record.Need, 0, 1)
}

// A pool is split by need and never gives more than one.
func TestGrantsByNeed(t *testing.T) {
	tests := []struct {
		needB, needC, giveB, giveC, left int64
	}{
		{3_000, 1_000, 3_000, 1_000, 1_100},
		{3_825, 1_275, 3_825, 1_275, 0},
		{7_650, 2_550, 3_825, 1_275, 0},
		{0, 10_000, 0, 5_100, 0},
		{0, 0, 0, 0, 5_100},
	}
	for _, tt := range tests {
		a := fleet(t, regionRules(), 7_200, 3_600, 1_200)[0]
		record := func(need int64) *RegionRecord {
			return &RegionRecord{Seq: 1, Demand: rat(3_600, 1), Share: rat(0, 1), Need: rat(need, 1), Granted: zeros(3)}
		}
		m := a.Rebalance(new(big.Rat), []RegionSight{{}, {Record: record(tt.needB)}, {Record: record(tt.needC)}})
		wantRat(t, "A's share", a.Share(), 500, 1)
		wantRat(t, "grant to B", m.Record.Granted[1], tt.giveB, 1)
		wantRat(t, "grant to C", m.Record.Granted[2], tt.giveC, 1)
		wantRat(t, "A's pool", a.Pool(), tt.left, 1)
	}
}

func TestReclaim(t *testing.T) {
	half := rat(1, 2)
	tests := []struct {
		name      string
		rule      RegionReclaim
		unhealthy int // from which rebalance on
		at        int // which rebalance reclaims; 0 for none
	}{
		{name: "freeze", rule: RegionFreeze, unhealthy: 1},
		{name: "silence", rule: RegionSilence, unhealthy: 99, at: 4},
		{name: "two signals, healthy", rule: RegionTwoSignals, unhealthy: 99},
		{name: "two signals, unhealthy first", rule: RegionTwoSignals, unhealthy: 1, at: 4},
		{name: "two signals, unhealthy later", rule: RegionTwoSignals, unhealthy: 6, at: 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := regionRules()
			rules.Reclaim = tt.rule
			a := fleet(t, rules, 7_200, 3_600, 7_200)[0]
			b := RegionRecord{Seq: 1, Demand: rat(3_600, 1), Share: rat(2_200, 1), Need: new(big.Rat), Granted: zeros(3)}
			for k := 1; k <= 8; k++ {
				c := RegionRecord{Seq: uint64(k), Demand: rat(7_200, 1), Share: rat(3_900, 1), Need: new(big.Rat), Granted: zeros(3)}
				m := a.Rebalance(rat(7_200, 1), []RegionSight{
					{}, {Record: &b, Unhealthy: k >= tt.unhealthy, Part: half}, {Record: &c, Part: half},
				})
				if got := len(m.Reclaimed) > 0; got != (k == tt.at) {
					t.Errorf("rebalance %d reclaimed %v, want it at %d", k, m.Reclaimed, tt.at)
				}
				switch {
				case tt.at == 0 || k < tt.at:
					wantRat(t, "target", m.Target, 3_900, 1)
				case k == tt.at:
					wantRat(t, "target", m.Target, 5_000, 1)
					wantRat(t, "share", a.Share(), 4_900, 1)
					wantRat(t, "pool", a.Pool(), 100, 1)
				default:
					wantRat(t, "share", a.Share(), 5_000, 1)
				}
			}
			if a.Live(1) != (tt.at == 0) || !a.Live(2) {
				t.Errorf("live: B %v, C %v", a.Live(1), a.Live(2))
			}
		})
	}
}

func TestRegionTarget(t *testing.T) {
	r := regionRules()
	all := []bool{true, true, true}
	wantRat(t, "a third of 8,500 and the floor", r.Target(1, rats(0, 0, 0), all), 10_000, 3)
	wantRat(t, "without demand", r.Target(1, rats(5, 0, 5), all), 500, 1)
	wantRat(t, "alone", r.Target(1, rats(7, 2, 9), []bool{false, true, false}), 10_000, 1)
	r.Floor = rat(10_000, 3)
	wantRat(t, "all floor", r.Target(0, rats(9, 1, 1), all), 10_000, 3)
}

func TestRegionRulesValidate(t *testing.T) {
	tests := []struct {
		field  string
		spoil  func(*RegionRules)
		number int
	}{
		{"", func(*RegionRules) {}, 3},
		{"", func(r *RegionRules) { r.Floor = rat(10_000, 3) }, 3},
		{"floor", func(r *RegionRules) { r.Floor = rat(10_001, 3) }, 3},
		{"floor", func(r *RegionRules) { r.Floor = rat(-1, 3) }, 3},
		{"floor", func(r *RegionRules) { r.Floor = nil }, 3},
		{"limit", func(r *RegionRules) { r.Limit = rat(0, 1) }, 3},
		{"max raise", func(r *RegionRules) { r.MaxRaise = rat(0, 1) }, 3},
		{"silent", func(r *RegionRules) { r.Silent = 0 }, 3},
		{"regions", func(*RegionRules) {}, 0},
	}
	for _, tt := range tests {
		r := regionRules()
		tt.spoil(r)
		var se *SpecError
		err := r.Validate(tt.number)
		switch {
		case tt.field == "" && err != nil:
			t.Errorf("valid rules: %v", err)
		case tt.field != "" && (!errors.As(err, &se) || se.Field != tt.field):
			t.Errorf("got %v, want an error about %s", err, tt.field)
		}
	}
	if _, err := NewRegion(regionRules(), 3, rats(1, 2, 3)); err == nil {
		t.Error("Region 3 of 3 was started")
	}
	if _, err := NewRegion(regionRules(), 0, rats(1, -2, 3)); err == nil {
		t.Error("a demand below zero was taken")
	}
}

// However late or seldom records are read, whoever rebalances when: what is
// held is the limit and what was reclaimed, to the last fraction.
func TestRegionConservation(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(5)
		rules := &RegionRules{
			Limit: rat(1+r.Int64N(20_000), 1+r.Int64N(7)), MaxRaise: rat(1+r.Int64N(2_000), 1+r.Int64N(3)),
			Silent: 1 + r.IntN(4), Reclaim: RegionReclaim(r.IntN(3)),
		}
		rules.Floor = new(big.Rat).Mul(rules.Limit, rat(r.Int64N(5), int64(4*n)))
		demands := make([]int64, n)
		for i := range demands {
			demands[i] = r.Int64N(10_000) * r.Int64N(2)
		}
		regions := fleet(t, rules, demands...)
		records := make([][]*RegionRecord, n)
		for step := range 20 {
			i := r.IntN(n)
			sights := make([]RegionSight, n)
			for j := range sights {
				if k := len(records[j]) - r.IntN(4); k > 0 {
					sights[j].Record = records[j][k-1] // also older than one read before
				}
				sights[j].Unhealthy, sights[j].Part = r.IntN(2) > 0, rat(r.Int64N(4), 3+r.Int64N(3))
			}
			if r.IntN(4) == 0 {
				demands[i] = r.Int64N(10_000)
			}
			m := regions[i].Rebalance(rat(demands[i], 1+r.Int64N(500)), sights)
			records[i] = append(records[i], &m.Record)

			shares, pools, grants, reclaimed := RegionSum(regions)
			held := new(big.Rat).Add(shares, pools)
			if held.Add(held, grants).Sub(held, reclaimed).Cmp(rules.Limit) != 0 {
				t.Fatalf("seed %d step %d: %s + %s + %s - %s is not %s", seed, step, shares, pools, grants, reclaimed, rules.Limit)
			}
			for _, x := range regions {
				if x.Pool().Sign() < 0 || x.Share().Sign() < 0 {
					t.Fatalf("seed %d step %d: pool %s, share %s", seed, step, x.Pool(), x.Share())
				}
			}
		}
	}
}

// Fractions stop growing where demand never rests.
func TestRegionFractionsAreBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	regions := fleet(t, regionRules(), 1_000, 1_000, 1_000, 1_000, 1_000, 1_000)
	records := make([]*RegionRecord, 6)
	most := 0
	for range 800 {
		i := r.IntN(6)
		sights := make([]RegionSight, 6)
		for j := range sights {
			sights[j].Record = records[j]
		}
		m := regions[i].Rebalance(rat(100+r.Int64N(9_900), 1), sights)
		records[i] = &m.Record
		most = max(most, regions[i].Pool().Denom().BitLen())
	}
	if most <= ratBits || most > 64*ratBits {
		t.Errorf("the largest denominator has %d bits", most)
	}
}
