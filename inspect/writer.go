package inspect

import (
	"bytes"
	"context"
	_ "embed" // the script
	"errors"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/limit/redislimit"
)

//go:embed write.lua
var writeScript string

// WriteRule is what an ACL user needs to write, beside what reading needs: the
// keys that may be written to, and the commands.
const WriteRule = "~* +eval +set +del +pexpire +hset +hget +zadd +zrem +ltrim"

// ErrChanged is the error of a state that is no longer what was read: nothing
// was written.
var ErrChanged = errors.New("the state has changed since it was read; nothing was written")

// maxWords bounds what one command of the script takes.
const maxWords = 1000

// Write carries out a change in one script, which first compares all keys with
// what was read. When they differ it is ErrChanged. A change of nothing sends
// nothing.
func Write(ctx context.Context, c redis.UniversalClient, change *Change) error {
	if change.Nothing() {
		return nil
	}
	var keys []string
	var args []any
	for i := range change.Before.Entries {
		before, after := &change.Before.Entries[i], &change.After.Entries[i]
		keys = append(keys, before.Key)
		args = expect(args, before)
		args = commands(args, before, after)
	}
	if _, cluster := c.(*redis.ClusterClient); cluster {
		for _, key := range keys[1:] {
			if redislimit.Slot(key) != redislimit.Slot(keys[0]) {
				return refused("", "its keys are in different slots of the cluster, so they cannot be written together")
			}
		}
	}
	done, err := c.Eval(ctx, writeScript, keys, args...).Int()
	switch {
	case redislimit.Classify(err) == redislimit.KindNoPerm:
		return &DeniedError{Command: "EVAL, or what it calls", Rule: WriteRule, Err: err}
	case err != nil:
		return err
	case done != 1:
		return ErrChanged
	}
	return nil
}

// expect puts on the list what a key held.
func expect(args []any, e *Entry) []any {
	args = append(args, e.Type, e.TTL.Milliseconds(), e.Len)
	if e.TTL < 0 {
		args[len(args)-2] = -1
	}
	switch e.Type {
	case "string":
		args = append(args, string(e.Text))
	case "hash":
		args = append(args, len(e.Fields))
		for name, value := range e.Fields {
			args = append(args, name, value)
		}
	case "zset", "list":
		// All of it as the head, or the head and the tail.
		head := len(e.Members)
		if e.Truncated {
			head = e.Head
		}
		args = part(args, e, 0, e.Members[:head])
		args = part(args, e, e.Len-int64(len(e.Members)-head), e.Members[head:])
	}
	return args
}

func part(args []any, e *Entry, from int64, members []Member) []any {
	args = append(args, from, len(members))
	for _, m := range members {
		args = append(args, m.Name)
		if e.Type == "zset" {
			args = append(args, strconv.FormatFloat(m.Score, 'g', -1, 64))
		}
	}
	return args
}

// commands puts on the list what makes before into after: how many commands,
// and each as its name, how many words follow the key, and they.
func commands(args []any, before, after *Entry) []any {
	var list [][]any
	do := func(words ...any) { list = append(list, words) }
	switch {
	case !before.Exists():
	case !after.Exists():
		do("DEL")
	default:
		switch before.Type {
		case "string":
			if !bytes.Equal(before.Text, after.Text) {
				do("SET", string(after.Text))
			}
		case "hash":
			var set []any
			for name, value := range after.Fields {
				if before.Fields[name] != value {
					set = append(set, name, value)
				}
			}
			if len(set) > 0 {
				do(append([]any{"HSET"}, set...)...)
			}
		case "zset":
			removed, added := memberDiff(before, after)
			for some := range slices.Chunk(added, maxWords/2) {
				words := []any{"ZADD"}
				for _, m := range some {
					words = append(words, strconv.FormatFloat(m.Score, 'g', -1, 64), m.Name)
				}
				do(words...)
			}
			for some := range slices.Chunk(removed, maxWords) {
				words := []any{"ZREM"}
				for _, m := range some {
					words = append(words, m.Name)
				}
				do(words...)
			}
		case "list":
			if n := len(after.Members); n < len(before.Members) {
				from := 0 // what is left is the start of it, or the end
				if !slices.Equal(before.Members[:n], after.Members) {
					from = len(before.Members) - n
				}
				do("LTRIM", from, from+n-1)
			}
		}
		if after.TTL != before.TTL {
			do("PEXPIRE", after.TTL.Milliseconds())
		}
	}
	args = append(args, len(list))
	for _, words := range list {
		args = append(append(args, words[0], len(words)-1), words[1:]...)
	}
	return args
}
