package survey

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weir-cli/weir/inspect"
)

// outcome is how far a key has been read.
type outcome uint8

const (
	done     outcome = iota
	unread           // the value is still to be read
	mistaken         // the key is of another type than was guessed
)

// lengths are the commands that say how long a value is, by its type.
var lengths = map[string]string{"hash": "HLEN", "zset": "ZCARD", "list": "LLEN", "string": "STRLEN"}

// askKind asks for the value of a key that is probably a short string, for the
// length of what is probably something else, and for the type of the rest.
func (r *keyReader) askKind(name, guess string) {
	switch command := lengths[guess]; {
	case guess == "string":
		r.w.ask("GETRANGE", name, "0", lastOfText)
	case command != "":
		r.w.ask(command, name)
	default:
		r.w.ask("TYPE", name)
	}
}

var lastOfText = strconv.Itoa(maxText - 1)

func (r *keyReader) readKind(k *Key, guess string) (outcome, error) {
	command := lengths[guess]
	switch {
	case guess == "string":
		text, full, err := r.w.text(maxText)
		if isReply(err) {
			return r.wrong(k, "GETRANGE", err)
		}
		if err != nil || !k.Exists() {
			return done, err
		}
		k.Type, k.Text, k.Len = guess, text, full
		r.unshare(k)
		if full == maxText {
			return unread, nil // there may be more
		}
		return done, nil
	case command != "":
		n, _, err := r.w.whole()
		if isReply(err) {
			return r.wrong(k, command, err)
		}
		if err != nil || !k.Exists() {
			return done, err
		}
		k.Type, k.Len = guess, n
		return unread, nil
	}
	return r.readType(k)
}

// unshare drops a time of last use that is that of all keys with one number.
func (r *keyReader) unshare(k *Key) {
	if !r.alone && inspect.IsShared(string(k.Text)) {
		k.Idle = inspect.Unknown
	}
}

func (r *keyReader) readType(k *Key) (outcome, error) {
	kind, err := r.w.status()
	switch {
	case isReply(err) && elsewhere(err):
		k.TTL = inspect.NoKey
		return done, nil
	case err != nil:
		return done, denied("TYPE", err)
	case kind == "none":
		k.TTL = inspect.NoKey
		return done, nil
	case !k.Exists(): // it came to be in between
		return done, nil
	}
	k.Type = kind
	if lengths[kind] == "" {
		k.Problem = fmt.Sprintf("no limiter that is known keeps a %.40q", kind)
		k.Len = 0
		return done, nil
	}
	if len(r.types) >= maxTypes {
		clear(r.types)
	}
	r.types[stem(k.Key)] = kind
	return unread, nil
}

// wrong is about an error reply where a value or its length was expected.
func (r *keyReader) wrong(k *Key, command string, err error) (outcome, error) {
	switch {
	case elsewhere(err):
		k.TTL = inspect.NoKey
		return done, nil
	case !k.Exists():
		return done, nil
	case isWrongType(err):
		delete(r.types, stem(k.Key))
		return mistaken, nil
	}
	return done, denied(command, err)
}

// retype asks for the types of keys that were mistaken, and returns those that
// are to be read.
func (r *keyReader) retype(keys []*Key) (unreads []*Key, err error) {
	for _, k := range keys {
		r.w.ask("TYPE", k.Key)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	if err := r.w.flush(); err != nil {
		return nil, err
	}
	for _, k := range keys {
		what, err := r.readType(k)
		if err != nil {
			return nil, err
		}
		if what == unread {
			unreads = append(unreads, k)
		}
	}
	return unreads, nil
}

// values reads values in one pipeline.
func (r *keyReader) values(keys []*Key) error {
	if len(keys) == 0 {
		return nil
	}
	if err := r.measure(keys); err != nil {
		return err
	}
	steps := make([]func() error, len(keys))
	for i, k := range keys {
		steps[i] = r.askValue(k)
	}
	if err := r.w.flush(); err != nil {
		return err
	}
	for i, k := range keys {
		err := steps[i]()
		switch {
		case err == nil:
		case !isReply(err):
			return err
		case elsewhere(err):
			k.TTL = inspect.NoKey
		case isWrongType(err):
			k.Problem = "it became something else while it was read"
		default:
			return err
		}
	}
	return nil
}

// measure asks how long those values are that might be too large to read.
func (r *keyReader) measure(keys []*Key) error {
	var large []*Key
	for _, k := range keys {
		if k.Len < 0 && k.Type != "string" && k.Bytes > maxBytes {
			large = append(large, k)
			r.w.ask(lengths[k.Type], k.Key)
		}
	}
	if len(large) == 0 {
		return nil
	}
	if err := r.w.flush(); err != nil {
		return err
	}
	for _, k := range large {
		n, ok, err := r.w.whole()
		switch {
		case err != nil && !isReply(err):
			return err
		case ok: // what is wrong with it comes up again when it is read
			k.Len = n
		}
	}
	return nil
}

// askValue asks for a value and returns what takes the replies over. All
// replies are read even when one is an error.
func (r *keyReader) askValue(k *Key) func() error {
	var readers []func() error
	if k.Len < 0 || k.Type == "string" {
		command := lengths[k.Type]
		r.w.ask(command, k.Key)
		readers = append(readers, func() error {
			n, _, err := r.w.whole()
			k.Len = n
			return denied(command, err)
		})
	}
	switch {
	case k.Type == "string" && k.Text == nil:
		r.w.ask("GETRANGE", k.Key, "0", lastOfText)
		readers = append(readers, func() (err error) {
			k.Text, _, err = r.w.text(maxText)
			r.unshare(k)
			return denied("GETRANGE", err)
		})
	case k.Type == "string": // only how long it is was not known
	case k.tooLarge():
		k.Truncated = true
		k.Problem = fmt.Sprintf("it takes %d KB, of which a scan would read more than %d", k.Bytes>>10, maxBytes>>10)
	case k.Type == "hash":
		r.w.ask("HSCAN", k.Key, noCursor, "COUNT", strconv.Itoa(maxMembers))
		readers = append(readers, func() error { return denied("HSCAN", r.readFields(k)) })
	case k.Len >= 0 && k.Len <= maxMembers:
		readers = append(readers, r.askRange(k, 0, -1, &k.Members))
	default:
		var head, tail []inspect.Member
		readers = append(readers, r.askRange(k, 0, maxMembers/2-1, &head), r.askRange(k, -maxMembers/2, -1, &tail),
			func() error { k.Join(head, tail); return nil })
	}
	return func() error {
		var first error
		for _, read := range readers {
			err := read()
			if err != nil && !isReply(err) {
				return err
			}
			if first == nil {
				first = err
			}
		}
		if k.Type == "string" {
			k.Truncated = int64(len(k.Text)) < k.Len
		}
		return first
	}
}

// tooLarge reports whether so much of a value would be read that it could harm
// the server.
func (k *Key) tooLarge() bool {
	if k.Type == "string" || k.Bytes <= maxBytes {
		return false
	}
	return k.Len <= 0 || k.Bytes/k.Len > maxBytes/min(k.Len, maxMembers)
}

func (r *keyReader) askRange(k *Key, from, to int, into *[]inspect.Member) func() error {
	words := []string{"LRANGE", k.Key, strconv.Itoa(from), strconv.Itoa(to)}
	each := int64(1)
	if k.Type == "zset" {
		words[0], each = "ZRANGE", 2
		words = append(words, "WITHSCORES")
	}
	r.w.ask(words...)
	return func() error {
		n, err := r.w.list()
		if err != nil {
			return denied(words[0], err)
		}
		for range n / each {
			name, err := r.part(k)
			if err != nil {
				return err
			}
			m := inspect.Member{Name: name}
			if each == 2 {
				if m.Score, err = r.score(); err != nil {
					return err
				}
			}
			if len(*into) < maxMembers {
				*into = append(*into, m)
			}
		}
		return nil
	}
}

// part reads a field, a member or an item. One that is cut off is marked as
// such, so that nobody takes it for whole.
func (r *keyReader) part(k *Key) (string, error) {
	text, full, err := r.w.text(maxPart)
	if err == nil && full > maxPart {
		k.Truncated, k.Problem = true, fmt.Sprintf("a part of it has %d bytes, and no more than %d are read", full, maxPart)
	}
	return string(text), err
}

func (r *keyReader) score() (float64, error) {
	text, _, err := r.w.text(maxPart)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(f) {
		return 0, errProtocol
	}
	return f, nil
}

func (r *keyReader) readFields(k *Key) error {
	n, err := r.w.list()
	if err == nil && n != 2 {
		err = errProtocol
	}
	if err == nil {
		_, _, err = r.w.text(20)
	}
	if err == nil {
		n, err = r.w.list()
	}
	if err != nil {
		return err
	}
	k.Fields = make(map[string]string, min(n/2, maxMembers))
	for range n / 2 {
		name, err := r.part(k)
		if err != nil {
			return err
		}
		value, err := r.part(k)
		if err != nil {
			return err
		}
		if len(k.Fields) < maxMembers {
			k.Fields[name] = value
		}
	}
	k.Truncated = k.Truncated || int64(len(k.Fields)) < k.Len
	return nil
}
