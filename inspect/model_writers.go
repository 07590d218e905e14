package inspect

import (
	"slices"
	"time"

	"github.com/weir-cli/weir/limit"
)

// writerModels are those with the code of one writer, or of few.
func writerModels() map[string]model {
	return map[string]model{
		"level":          {checkLevel, decodeLevel},
		"level-any-cost": {checkLevel, decodeLevel},
		"slots-until":    {checkSlots, decodeSlots},
		"slots-since":    {checkSlots, decodeSlots},
		"slot-count":     {checkNothing, decodeSlotCount},
		"owned-slot":     {checkNothing, decodeOwnedSlot},
		"lone-count":     {checkNothing, decodeLoneCount},
		"count-until":    {checkCountUntil, decodeCountUntil},
		"started-window": {checkNothing, decodeStartedWindow},

		"apisix-req":          {checkExcess, decodeExcess},
		"apisix-sliding":      {checkApisixSliding, decodeApisixSliding},
		"bottleneck":          {checkNothing, decodeBottleneck},
		"bucket4j":            {checkNothing, decodeBucket4j},
		"drf":                 {checkNothing, decodeDRF},
		"go-redisstore":       {checkNothing, decodeGoRedisstore},
		"laravel-cache":       {checkLaravelCache, decodeLaravelCache},
		"limitador":           {checkCounter, decodeLimitador},
		"mennanov-leaky":      {checkNothing, decodeMennanovLeaky},
		"mennanov-leaky-keys": {checkNothing, decodeMennanovLeaky},
		"mennanov-sliding":    {checkNumbered, decodeMennanovSliding},
		"mennanov-token":      {checkNothing, decodeMennanovToken},
		"mennanov-token-keys": {checkNothing, decodeMennanovToken},
		"prorate":             {checkProrate, decodeProrate},
		"redisson":            {checkRedisson, decodeRedisson},
		"ruby-ratelimit":      {checkNothing, decodeSlices},
		"self-limiters":       {checkNothing, decodeSelfLimiters},
		"symfony":             {checkNothing, decodeSymfony},
		"tyk-log":             {checkLog, decodeTykLog},
	}
}

// slots is the number of slots as told.
func (f *frame) slots() (most int64, ok bool) {
	switch {
	case f.told == nil:
		return 0, false
	case f.told.Algorithm != limit.Concurrency:
		f.misfit("slots")
		return 0, false
	}
	f.setLimit(limit.Spec{Algorithm: limit.Concurrency, Limit: f.told.Limit}, "told")
	return f.told.Limit, true
}

// main is the entry of the main key, nil when there is none or it is of
// another type or unread.
func (f *frame) main() *Entry {
	k := &f.layout.Keys[0]
	e := f.keys[k.Role]
	if e == nil || e.Type != k.Type || e.Problem != "" {
		return nil
	}
	return e
}

// unread reports whether the main key is there and cannot be used.
func (f *frame) unread() bool {
	return f.keys[f.layout.Keys[0].Role] != nil && f.main() == nil
}

// unreadable says that a value is not what the writer writes.
func (f *frame) unreadable(err error) {
	f.r.problem("unreadable", "The value is not as "+f.layout.Writer+" writes it: "+err.Error()+".")
}

// ahead says when a time is ahead of the server's clock by more than slack.
func (f *frame) ahead(what string, at, slack int64) {
	if at > f.now+slack {
		f.r.problem("future", what+" is "+shownWait(at-f.now)+" ahead of the server's clock: the clock of who wrote it runs ahead.")
	}
}

// livesTo reports whether a key lives just as long as the time that it holds
// is ahead, to a few ms.
func livesTo(l *Layout, e *Entry, now int64) bool {
	at, ok := parseInstant(string(e.Text), l.Decode.Unit, l.Decode.Epoch)
	if !ok || e.TTL < 0 {
		return false
	}
	off := time.Duration(at-now) - e.TTL
	return off > -5*time.Millisecond && off < 5*time.Millisecond
}

// livesToEdge reports whether a key lives to the end of the window whose number
// stands in its name, to the second.
func livesToEdge(e *Entry, window string, now int64) bool {
	n, ok := parseNumber(window)
	if !ok || n.whole <= 0 || e.TTL < 0 {
		return false
	}
	w := inferWindow(n.whole, now)
	if !slices.Contains(usualWindows, w) {
		return false
	}
	off := time.Duration((n.whole+1)*int64(w)-now) - e.TTL
	return off > -1100*time.Millisecond && off < 1100*time.Millisecond
}
