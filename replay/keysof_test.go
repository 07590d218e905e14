package replay

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// The keys of a command are those that Redis says, in the embedded store's
// books and in the shim's, or a script could write outside of its scratch keys.
func TestKeysOfCommands(t *testing.T) {
	real, _ := remote(t)
	for _, text := range []string{"GET a", "SET a 1 EX 9", "DEL a b c", "MSET a 1 b 2", "RENAME a b", "COPY a b REPLACE", "SMOVE a b m",
		"LMOVE a b LEFT RIGHT", "RPOPLPUSH a b", "BITOP AND a b c", "OBJECT IDLETIME a", "MEMORY USAGE a", "ZUNIONSTORE a 2 b c WEIGHTS 1 2",
		"ZDIFFSTORE a 1 b", "ZRANGESTORE a b 0 1", "ZINTER 2 a b", "SINTERCARD 2 a b LIMIT 1", "LMPOP 2 a b LEFT", "ZMPOP 1 a MIN",
		"SORT a STORE b", "SORT a BY x", "GEORADIUS a 1 1 1 m STORE b", "GEOSEARCHSTORE a b FROMLONLAT 1 1 BYRADIUS 1 m", "PFMERGE a b c", "BLPOP a b 0", "BRPOP a 0", "BZPOPMIN a b 0", "BZPOPMAX a 0", "BLMOVE a b LEFT RIGHT 0", "BRPOPLPUSH a b 0", "PING", "TIME"} {
		words := strings.Fields(text)
		var want []string
		if list, ok := one(t.Context(), real, append([]string{"COMMAND", "GETKEYS"}, words...)...).reply.([]any); ok {
			for _, k := range list {
				want = append(want, k.(string))
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(keysOf(words[0], words[1:]))); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %v, and not %v", text, want, got)
		}
		o := shimmedCall(t, real, words, "")
		var got []string
		for _, k := range o.touched {
			got = append(got, k.key)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %v, and not those of the shim, %v", text, want, got)
		}
	}
	for _, text := range []string{"COPY s:a b", "BLPOP s:a b 0", "BRPOPLPUSH s:a b 0", "BLMOVE s:a b LEFT LEFT 0", "SMOVE s:a b m", "LMOVE s:a b LEFT LEFT", "SORT s:a STORE b", "BITOP AND b s:a", "ZUNIONSTORE s:a 1 b"} {
		if o := shimmedCall(t, real, strings.Fields(text), "s:"); o.reply != "outside" {
			t.Errorf("%s reaches outside of s: and is let through: %v", text, o.reply)
		}
	}
}

// shimmedCall runs one command behind the shim. A refusal of the shim's is the
// reply "outside".
func shimmedCall(t *testing.T, s Store, words []string, prefix string) observed {
	t.Helper()
	script := NewScript("x.lua", "local a = ARGV; return redis.pcall(unpack(a))").shimmed()
	if err := compiles(context.Background(), s, script); err != nil {
		t.Fatal(err)
	}
	a := one(t.Context(), s, evalsha(script.SHA, filled{args: words}, control{record: true, prefix: prefix}.text())...)
	if a.err != nil {
		if strings.Contains(a.err.Error(), "outside of the scratch prefix") {
			return observed{reply: "outside"}
		}
		t.Fatal(words, a.err)
	}
	o, err := observe(a.reply)
	if err != nil {
		t.Fatal(words, err)
	}
	return o
}
