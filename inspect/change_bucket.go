package inspect

import (
	"math"
	"strconv"
)

// planBucket gives by adding to what was left at the last write; what has come
// back since then comes on top of it, as before. It takes from what is there
// now, as the writer's next call would write it.
func planBucket(p *plan) error {
	d := &p.f.layout.Decode
	tokens, last, ok := p.f.tokensAndLast()
	if !ok || tokens == nil || p.before.Held == nil {
		return refused("weir inspect bucket reset --help", "the tokens cannot be read")
	}
	rate, burst := p.before.Limit.Rate, p.before.Limit.Burst
	if p.order.Action == Grant {
		p.setBucket(decimal(math.Min(float64(burst), *tokens+float64(p.units))), "")
		return nil
	}
	left := *p.before.Held - float64(p.units)
	if p.all {
		left = math.Min(0, left)
	}
	each := units[d.Unit]
	at := float64(p.f.now/each - d.Epoch*int64(1e9)/each)
	per := float64(rate.Per) / float64(each) // of the rate, in the layout's unit
	if d.Refill == "intervals" {
		at = last + math.Floor(math.Max(0, at-last)/per)*per
	}
	p.setBucket(decimal(left), strconv.FormatFloat(math.Max(at, last), 'f', 0, 64))
	full := math.Ceil((float64(burst)-left)/float64(rate.Units)) * float64(rate.Per) / 1000
	for _, e := range p.f.keys {
		p.live(e, floorInt(full))
	}
	return nil
}

// setBucket writes the tokens and, unless it is "", their time.
func (p *plan) setBucket(tokens, last string) {
	d := &p.f.layout.Decode
	main := p.f.keys[p.f.layout.Keys[0].Role]
	if p.f.layout.Keys[0].Type == "hash" {
		main.Fields[d.Tokens] = tokens
		if last != "" {
			main.Fields[d.Last] = last
		}
		return
	}
	p.f.keys["tokens"].setText(tokens)
	if last != "" {
		p.f.keys["last"].setText(last)
	}
}

func (e *Entry) setText(s string) { e.Text, e.Len = []byte(s), int64(len(s)) }

// decimal is a number with all its digits and no exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// planTAT moves the arrival time by the time that the units take.
func planTAT(p *plan) error {
	m := &p.f.layout.Decode
	e := p.f.keys[p.f.layout.Keys[0].Role]
	tat, ok := p.f.instant(string(e.Text), "The arrival time")
	if !ok {
		return refused("weir inspect bucket reset --help", "the arrival time cannot be read")
	}
	rate, burst := p.before.Limit.Rate, p.before.Limit.Burst
	if m.Arithmetic != "doubles" {
		each := max(int64(rate.Per)/rate.Units, 1)
		to := max(tat-p.units*each, p.f.now)
		if p.order.Action == Drain {
			if to = max(tat, p.f.now) + p.units*each; p.all {
				to = p.f.now + burst*each
			}
			p.live(e, (to-p.f.now)/1000)
		}
		e.setText(strconv.FormatInt(to/units[m.Unit]-m.Epoch*1e9/units[m.Unit], 10))
		return nil
	}
	// In seconds, in doubles; a µs this way or that makes up for rounding.
	n, _ := parseNumber(string(e.Text))
	us := p.f.now / 1000
	now := float64(us/1e6-m.Epoch) + float64(us%1e6)/1e6
	each := rate.Per.Seconds() / float64(rate.Units)
	to := math.Max(n.double-each*float64(p.units), now)
	if p.order.Action == Drain {
		if to = math.Max(n.double, now) + each*float64(p.units); p.all {
			to = now + each*float64(burst)
		}
		p.live(e, floorInt((to-now)*1e6))
	}
	for range 8 {
		e.setText(decimal(to))
		r, err := Decode(p.f.layout, []Entry{*e}, p.f.now, p.f.told)
		switch {
		case err != nil || r.Remaining == nil || *r.Remaining == p.left:
			return err
		case *r.Remaining < p.left:
			to -= 1e-6
		default:
			to += 1e-6
		}
	}
	return nil
}
