package survey

import (
	"slices"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit/redislimit"
)

// Bounds of what is read of one key.
const (
	maxName    = 4 << 10   // of a key's name; longer ones are counted and not read
	maxText    = 8 << 10   // of a string
	maxPart    = 4 << 10   // of a field, a member or an item
	maxMembers = 1000      // fields, members or items, from both ends
	maxBytes   = 256 << 10 // of memory, that a hash, a set or a list may take to be read
)

// Key is what was read of one key.
type Key struct {
	inspect.Entry
	// Frequency is the server's own measure of use, where it keeps that in
	// place of the time of last use; -1 where not.
	Frequency int64
}

// keyReader reads keys on one connection. Not safe for concurrent use.
type keyReader struct {
	w     *wire
	node  string // "" outside of a cluster
	clock func() time.Time

	types map[string]string // by how a name begins, the type of the last such key
	plan  plan
	alone bool // keys that hold the same number share no time of last use
	blind []inspect.Blind
}

// plan is what is asked of every key. What may not be asked, or means nothing
// on this server, is left out after its first error.
type plan struct {
	time, memory, idle, frequency bool
}

func newKeyReader(w *wire, node string, clock func() time.Time) *keyReader {
	return &keyReader{w: w, node: node, clock: clock, types: map[string]string{}, plan: plan{time: true, memory: true, idle: true}}
}

// maxTypes bounds the memory for types, after which it is forgotten.
const maxTypes = 1024

// stem is how a name begins, up to the first mark that divides names.
func stem(key string) string {
	most := min(len(key), 24)
	for i := range most {
		switch key[i] {
		case ':', '{', '/', '.', '_', '|', '-':
			return key[:i+1]
		}
	}
	return key[:min(most, 6)]
}

// read reads keys and, in the same breath, takes the next step of a scan, when
// there is one. Of a key that is gone the TTL says so.
func (r *keyReader) read(names []string, next *cursorAt) ([]Key, *listed, error) {
	p := r.plan // replies come to what was asked, whatever they teach
	keys := make([]Key, len(names))
	guesses := make([]string, len(names))
	if p.time {
		r.w.ask("TIME")
	}
	for i, name := range names {
		keys[i] = Key{Entry: inspect.Entry{Key: name, Type: "none", TTL: inspect.NoKey, Idle: inspect.Unknown, Bytes: inspect.Unknown, Slot: -1, Node: r.node, Len: -1}, Frequency: -1}
		if r.node != "" {
			keys[i].Slot = redislimit.Slot(name)
		}
		guesses[i] = r.types[stem(name)]
		r.askSizes(p, name)
		r.askKind(name, guesses[i])
	}
	if next != nil {
		r.askScan(next)
	}
	if err := r.w.flush(); err != nil {
		return nil, nil, err
	}
	now, err := r.readTime(p)
	if err != nil {
		return nil, nil, err
	}
	var wrong, long []*Key
	for i := range keys {
		k := &keys[i]
		k.At = now
		if err := r.readSizes(p, k); err != nil {
			return nil, nil, err
		}
		switch what, err := r.readKind(k, guesses[i]); {
		case err != nil:
			return nil, nil, err
		case what == mistaken:
			wrong = append(wrong, k)
		case what == unread:
			long = append(long, k)
		}
	}
	var list *listed
	if next != nil {
		if list, err = r.readScan(); err != nil {
			return nil, nil, err
		}
	}
	more, err := r.retype(wrong)
	if err != nil {
		return nil, nil, err
	}
	return keys, list, r.values(append(long, more...))
}

// readTime is the server's time, unix ns, or the local one.
func (r *keyReader) readTime(p plan) (int64, error) {
	if !p.time {
		return r.clock().UnixNano(), nil
	}
	n, err := r.w.list()
	if isReply(err) && redislimit.Classify(err) == redislimit.KindNoPerm {
		r.plan.time = false
		r.missing("TIME", err, "the server's time, for which the local clock stands in")
		return r.clock().UnixNano(), nil
	}
	if err == nil && n != 2 {
		err = errProtocol
	}
	if err != nil {
		return 0, err
	}
	var parts [2]int64
	for i := range parts {
		text, _, err := r.w.text(20)
		if err != nil {
			return 0, err
		}
		var ok bool
		if parts[i], ok = parseInt(text); !ok || parts[i] > 1<<33 {
			return 0, errProtocol
		}
	}
	return parts[0]*1e9 + parts[1]*1e3, nil
}

// missing notes a command that is not allowed and can be done without.
func (r *keyReader) missing(command string, err error, lost string) {
	b := inspect.Blind{Command: command, Rule: inspect.RuleFor(command, err), Lost: lost}
	if !slices.Contains(r.blind, b) {
		r.blind = append(r.blind, b)
	}
}

// denied types an error of a command that cannot be done without.
func denied(command string, err error) error {
	if redislimit.Classify(err) != redislimit.KindNoPerm {
		return err
	}
	return &inspect.DeniedError{Command: command, Rule: inspect.RuleFor(command, err), Err: err}
}

// askSizes asks what reading the value would change, and so comes before it.
func (r *keyReader) askSizes(p plan, name string) {
	switch {
	case p.frequency:
		r.w.ask("OBJECT", "FREQ", name)
	case p.idle:
		r.w.ask("OBJECT", "IDLETIME", name)
	}
	r.w.ask("PTTL", name)
	if p.memory {
		r.w.ask("MEMORY", "USAGE", name)
	}
}

func (r *keyReader) readSizes(p plan, k *Key) error {
	if p.frequency || p.idle {
		n, ok, err := r.w.whole()
		switch {
		case isReply(err):
			r.useless(p, err)
		case err != nil:
			return err
		case ok && p.frequency:
			k.Frequency = n
		case ok && n >= 0:
			k.Idle = time.Duration(min(n, 1<<32)) * time.Second
		}
	}
	n, ok, err := r.w.whole()
	switch {
	case isReply(err) && !elsewhere(err):
		return denied("PTTL", err)
	case err != nil && !isReply(err):
		return err
	case ok && n >= 0:
		k.TTL = time.Duration(min(n, int64(1<<62/time.Millisecond))) * time.Millisecond
	case ok && n == -1:
		k.TTL = inspect.NoTTL
	}
	if !p.memory {
		return nil
	}
	n, ok, err = r.w.whole()
	switch {
	case isReply(err) && !elsewhere(err):
		r.plan.memory = false
		if redislimit.Classify(err) == redislimit.KindNoPerm {
			r.missing("MEMORY USAGE", err, "how much memory a key takes")
		}
	case err != nil && !isReply(err):
		return err
	case ok:
		k.Bytes = n
	}
	return nil
}

// useless learns from an error of OBJECT: a server that evicts by frequency
// keeps that in place of the time of last use.
func (r *keyReader) useless(p plan, err error) {
	switch {
	case elsewhere(err):
	case redislimit.Classify(err) == redislimit.KindNoPerm && p.frequency:
		r.plan.frequency, r.plan.idle = false, false
		r.missing("OBJECT FREQ", err, "how often a key is used")
	case redislimit.Classify(err) == redislimit.KindNoPerm:
		r.plan.idle = false
		r.missing("OBJECT IDLETIME", err, "when a key was last used")
	case !p.frequency && strings.Contains(err.Error(), "LFU"):
		r.plan.frequency = true
	default:
		r.plan.frequency, r.plan.idle = false, false
	}
}

// elsewhere reports whether a reply says that the key is on another node, or on
// its way there.
func elsewhere(err error) bool {
	kind := redislimit.Classify(err)
	return kind == redislimit.KindMoved || kind == redislimit.KindTryAgain
}

func isWrongType(err error) bool { return redislimit.Classify(err) == redislimit.KindWrongType }
