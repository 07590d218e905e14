package inspect

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Sentences say what a reading means, in words to paste into a ticket: what
// the bucket holds, when the next call of cost passes, when it is full, who
// wrote it, and what is odd. Nothing in them can harm a terminal.
func (r *Reading) Sentences(cost int64) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("%s", r.holds())
	if s := r.block(); s != "" {
		say("%s", s)
	}
	if s := r.next(cost); s != "" {
		say("%s", s)
	}
	if wait, known := r.Wait(cost); known && wait == 0 && r.Layout.Unseen != "" {
		say("That is by what is in Redis. %s", r.Layout.Unseen)
	}
	if s := r.full(cost); s != "" {
		say("%s", s)
	}
	if r.LastUse != nil {
		say("Last used %s.", r.when(*r.LastUse))
	}
	if r.Existing() > 0 {
		say("%s", r.writer())
	}
	for _, p := range r.Problems {
		say("%s", p.Text)
	}
	out = append(out, r.Notes...)
	return out
}

// subject is what the sentences are about.
func (r *Reading) subject() string {
	switch {
	case r.ID != "" && r.Rule != "":
		return fmt.Sprintf("%s, under the rule %s,", shownKey(r.ID), shownKey(r.Rule))
	case r.ID != "":
		return shownKey(r.ID)
	}
	return shownKey(r.Entries[0].Key)
}

func (r *Reading) holds() string {
	bucket := r.Held != nil
	switch {
	case r.Existing() == 0:
		return fmt.Sprintf("There is no state of %s: nothing counts against it, as if it had never called.", strings.TrimSuffix(r.subject(), ","))
	case bucket && r.Capacity != nil:
		return fmt.Sprintf("%s has %s of %d tokens (%s).", r.subject(), amount(*r.Held), *r.Capacity, r.limitText())
	case r.Used != nil && r.Capacity != nil && r.Algorithm == limit.Concurrency.String():
		return fmt.Sprintf("%s holds %d of %d slots (%s).", r.subject(), *r.Used, *r.Capacity, r.limitText())
	case r.Used != nil && r.Capacity != nil:
		return fmt.Sprintf("%s has used %d of %d in %s (%s).", r.subject(), *r.Used, *r.Capacity, r.windowText(), r.limitText())
	case r.Used != nil && r.Limit != nil:
		return fmt.Sprintf("%s has used at least %d in %s (%s). Whether a call passes cannot be told, since not all was read.", r.subject(), *r.Used, r.windowText(), r.limitText())
	case r.Used != nil:
		return fmt.Sprintf("%s has used %d in %s. The limit is not in the state; %s.", r.subject(), *r.Used, r.windowText(), r.ask())
	case r.blocked():
		return fmt.Sprintf("%s is banned.", r.subject())
	case r.Limit == nil && r.stored != "":
		return fmt.Sprintf("%s %s at the last write. What that is by now depends on the limit, which is not in the state; %s.", r.subject(), r.stored, r.ask())
	case r.Limit == nil && !r.Has("unread") && !r.Has("wrong-type"):
		return fmt.Sprintf("%s is known to the limiter. The limit is not in the state; %s.", r.subject(), r.ask())
	}
	return fmt.Sprintf("What %s holds cannot be told.", r.subject())
}

// blocked reports whether a block is in force.
func (r *Reading) blocked() bool { return r.BlockedUntil != nil && *r.BlockedUntil > r.Now }

// block says for how long calls are refused for another reason than what was
// used.
func (r *Reading) block() string {
	switch {
	case !r.blocked():
		return ""
	case *r.BlockedUntil == math.MaxInt64:
		return "It is blocked, and nothing ends that: calls are refused whatever was used."
	}
	return "It is blocked, and calls are refused whatever was used; the block ends " + r.when(*r.BlockedUntil) + "."
}

// ask says how to tell the limit.
func (r *Reading) ask() string {
	if r.Layout.Example == "" {
		return "it must be told to say more"
	}
	return "say it to know more, such as --limit " + r.Layout.Example
}

func (r *Reading) limitText() string {
	if r.Limit == nil {
		return "limit unknown"
	}
	switch r.LimitFrom {
	case "state":
		return r.Limit.String() + ", as the state says"
	case "name":
		return r.Limit.String() + ", as the key's name says"
	}
	return r.Limit.String() + ", as told"
}

func (r *Reading) windowText() string {
	switch {
	case r.WindowEnd != nil && *r.WindowEnd > r.Now:
		return "a window that ends " + r.when(*r.WindowEnd)
	case r.WindowEnd != nil:
		return "the window of now"
	case r.Algorithm == limit.SlidingLog.String() && r.Limit != nil:
		return "the last " + limit.ShortDuration(r.Limit.Window)
	}
	return "its window"
}

func (r *Reading) next(cost int64) string {
	wait, known := r.Wait(cost)
	if !known {
		return ""
	}
	call := "The next call"
	if cost != 1 {
		call = fmt.Sprintf("The next call of cost %d", cost)
	}
	switch {
	case wait == 0 && r.Remaining == nil:
		return call + " passes now."
	case wait == 0 && r.verdict.any:
		return call + " passes now: what it costs is not asked for, and it passes while anything is left."
	case wait == 0:
		return fmt.Sprintf("%s passes now; %d would pass at once.", call, *r.Remaining)
	case r.blocked() && int64(wait) == *r.BlockedUntil-r.Now:
		return call + " passes then."
	case wait == limit.Never && r.blocked() && *r.BlockedUntil == math.MaxInt64:
		return "" // it has just been said
	case wait == limit.Never && r.Capacity != nil && cost > *r.Capacity:
		return fmt.Sprintf("%s never passes: at most %d can pass at once.", call, *r.Capacity)
	case wait == limit.Never:
		return call + " never passes as things are: nothing gives back what was used."
	case wait == limit.Unknown:
		return call + " is refused until somebody gives back a slot."
	}
	return fmt.Sprintf("%s is refused now and passes %s.", call, r.when(r.Now+int64(wait)))
}

func (r *Reading) full(cost int64) string {
	wait, _ := r.Wait(cost)
	switch {
	case r.FullAt == nil || r.Existing() == 0 || r.Capacity == nil:
		return ""
	case *r.FullAt <= r.Now:
		return "Its whole allowance is there."
	case wait == time.Duration(*r.FullAt-r.Now):
		return "" // it has just been said
	}
	return "Its whole allowance is there again " + r.when(*r.FullAt) + "."
}

func (r *Reading) writer() string {
	name := r.Layout.Writer
	var s string
	switch r.Sure {
	case Certain:
		s = fmt.Sprintf("Written by %s.", name)
	case Likely:
		s = fmt.Sprintf("Probably written by %s.", name)
	default:
		s = fmt.Sprintf("Perhaps written by %s: only the value's shape says so.", name)
	}
	var names []string
	for _, o := range r.Others {
		// What fits every number says nothing beside a name that fits.
		if o.Sure > Guess || r.Sure == Guess {
			names = append(names, o.Name)
		}
	}
	if len(names) > 0 {
		s += " It could also be " + strings.Join(names, ", ") + "."
	}
	return s
}

// when is an instant as seen from now, and by the server's clock.
func (r *Reading) when(at int64) string {
	d := at - r.Now
	clock := time.Unix(0, at).UTC().Format("15:04:05.000")
	if time.Duration(d).Abs() > 12*time.Hour {
		clock = shownTime(at)
	} else {
		clock += " UTC"
	}
	switch {
	case d > 0:
		return fmt.Sprintf("in %s, at %s", shownWait(d), clock)
	case d > -int64(time.Millisecond):
		return "just now"
	}
	return fmt.Sprintf("%s ago, at %s", shownWait(-d), clock)
}

// amount is a number of tokens: whole, or with what matters of its fraction,
// never rounded up to the next whole one.
func amount(f float64) string {
	switch {
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return fmt.Sprintf("%.0f", f)
	case math.Abs(f) < 1e12:
		return strings.TrimSuffix(fmt.Sprintf("%.2f", math.Floor(f*100)/100), ".00")
	}
	return fmt.Sprintf("%g", f)
}

// Level is in few words what is left, or what was used.
func (r *Reading) Level() string {
	switch {
	case r.Existing() == 0 && r.Capacity != nil:
		return fmt.Sprintf("no key, so all of %d left", *r.Capacity)
	case r.Existing() == 0:
		return "no key"
	case r.Held != nil && r.Capacity != nil:
		return fmt.Sprintf("%s of %d left", amount(*r.Held), *r.Capacity)
	case r.Remaining != nil && r.Capacity != nil:
		return fmt.Sprintf("%d of %d left", *r.Remaining, *r.Capacity)
	case r.Used != nil:
		return fmt.Sprintf("%d used", *r.Used)
	case r.blocked():
		return "blocked"
	case r.stored != "":
		return r.stored + " at the last write"
	}
	return "limit unknown"
}

// Ahead is in few words when a call of cost passes, when all is there again,
// how long the key lives, and when it was last used.
func (r *Reading) Ahead(cost int64) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch wait, known := r.Wait(cost); {
	case !known:
	case wait == 0:
		say("next now")
	case wait == limit.Never:
		say("next never")
	case wait == limit.Unknown:
		say("next when a slot is given back")
	default:
		say("next in %s", shownWait(int64(wait)))
	}
	if r.FullAt != nil && *r.FullAt > r.Now {
		say("full in %s", shownWait(*r.FullAt-r.Now))
	}
	if r.Existing() > 0 {
		if ttl := r.Entries[0].TTL; ttl >= 0 {
			say("TTL %s", shownWait(int64(ttl)))
		} else if ttl == NoTTL {
			say("no TTL")
		}
		if r.LastUse != nil {
			say("used %s ago", shownWait(max(0, r.Now-*r.LastUse)))
		}
	}
	return out
}
