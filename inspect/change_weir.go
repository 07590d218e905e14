package inspect

import (
	"fmt"
	"math/bits"
	"strconv"
)

// What is planned for weir's own state is what its scripts would write.

// fields are those of the main key, which decoding has found sound.
func (p *plan) weir(names ...string) (e *Entry, v map[string]int64, err error) {
	v, ok := p.f.weirFields(names...)
	e = p.f.keys[p.f.layout.Keys[0].Role]
	if !ok || v == nil || p.before.Remaining == nil {
		return nil, nil, refused("weir inspect bucket reset --help", "the state cannot be read")
	}
	return e, v, nil
}

func (e *Entry) set(name string, n int64) { e.Fields[name] = strconv.FormatInt(n, 10) }

func planWeirBucket(p *plan) error {
	e := p.f.keys[p.f.layout.Keys[0].Role]
	name, second := "n", ""
	if _, ok := e.Fields["a"]; ok {
		name, second = "a", "f"
	} else if _, ok := e.Fields["l"]; ok {
		name = "l"
	}
	names := []string{"g", "t", "b", "r", name}
	if second != "" {
		names = append(names, second)
	}
	e, v, err := p.weir(names...)
	if err != nil {
		return err
	}
	kind := p.before.Limit.Algorithm
	room, ok := weirRoomOf(v, kind)
	hi, lo := bits.Mul64(uint64(v["b"]), uint64(v["g"]))
	if !ok || hi != 0 || lo > weirMax {
		return refused("weir inspect bucket reset --help", "the state cannot be read")
	}
	top, rate, at := int64(lo), v["r"], v["t"]
	room = min(room, top)
	if p.order.Action == Grant {
		// At the time of the last write: what came since then comes on top.
		room = top - max(0, top-room-p.units*v["g"])
	} else {
		if gone := p.f.now/1000 - at; gone > 0 {
			at += gone
			if room = top - max(0, top-room); gone >= (top-room+rate-1)/rate {
				room = top
			} else {
				room += gone * rate
			}
		}
		if room -= p.units * v["g"]; p.all {
			room = 0
		}
		p.live(e, at-p.f.now/1000+top/rate+1)
	}
	e.set("t", at)
	owed := top - room
	switch name {
	case "n":
		e.set("n", room)
	case "l":
		e.set("l", owed)
	default:
		e.set("a", at+owed/rate)
		e.set("f", owed%rate)
	}
	return nil
}

func planWeirFixed(p *plan) error {
	e, v, err := p.weir("n", "e", "w", "l")
	if err != nil {
		return err
	}
	if v["w"] == 0 {
		return refused("weir inspect bucket reset --help", "the state cannot be read")
	}
	now := p.f.now / 1000
	end := v["e"]
	if now >= end {
		end = now - now%v["w"] + v["w"]
	}
	e.set("n", v["l"]-p.left)
	e.set("e", end)
	p.live(e, end-now)
	return nil
}

func planWeirCounter(p *plan) error {
	e, v, err := p.weir("p", "n", "t", "w", "l")
	if err != nil {
		return err
	}
	c := weirCounter{window: v["w"]}
	c.set(v, p.f.now/1000)
	c.current += v["l"] - p.left - c.used(p.f.now/1000)
	if c.current < 0 {
		// The rest is taken out of the window before: as much as leaves what
		// it weighs, rounded up, at what it should be.
		weight := c.weight() + c.current
		hi, lo := bits.Mul64(uint64(max(0, weight)), uint64(c.window))
		q, _ := bits.Div64(hi, lo, uint64(c.window-c.into)) // at most what it was
		c.previous, c.current = int64(q), 0
	}
	e.set("p", c.previous)
	e.set("n", c.current)
	e.set("t", c.at)
	p.live(e, c.at-p.f.now/1000+2*c.window-c.into)
	return nil
}

// planWeirLog takes units out of the oldest entries, or adds one entry.
func planWeirLog(p *plan) error {
	e := p.f.keys[p.f.layout.Keys[0].Role]
	log, ok := readWeirLog(e)
	if !ok || log == nil || p.before.Remaining == nil || e.Truncated {
		return refused("weir inspect bucket reset --help", "the log cannot be read")
	}
	now := max(p.f.now/1000, log.seen)
	mark := e.Members[len(e.Members)-1]
	entries := e.Members[:len(e.Members)-1]
	if p.order.Action == Drain {
		sum := p.units
		if n := len(log.entries); n > 0 {
			sum += log.entries[n-1].sum
		}
		if sum >= 1<<52 {
			return refused("weir inspect bucket reset --help", "the sums of the log have no room left")
		}
		mark.Score = float64(now)
		e.Members = append(entries, Member{fmt.Sprintf("%016d:%d", sum, p.units), float64(now)}, mark)
		e.Len = int64(len(e.Members))
		p.live(e, now-p.f.now/1000+log.window)
		return nil
	}
	used, _ := log.units(now - log.window)
	drop := used - (log.limit - p.left)
	var kept []Member
	for i, x := range log.entries {
		switch {
		case x.at <= now-log.window || drop == 0:
			kept = append(kept, entries[i])
		case x.cost > drop:
			kept = append(kept, Member{fmt.Sprintf("%016d:%d", x.sum, x.cost-drop), entries[i].Score})
			drop = 0
		default:
			drop -= x.cost
		}
	}
	e.Members = append(kept, mark)
	e.Len = int64(len(e.Members))
	return nil
}
