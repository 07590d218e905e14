package replay

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/weir-cli/weir/report"
)

const (
	stateKeys    = 4  // of one call that are shown
	stateMembers = 8  // of one key
	stateText1   = 80 // bytes of one value
)

// stateOf is what keys hold, with plain reads.
func stateOf(ctx context.Context, s Store, keys []string, show func(string) string) string {
	var out []string
	for i, k := range keys {
		if i == stateKeys {
			break
		}
		a := s.do(ctx, []command{{"TYPE", k}, {"PTTL", k}})
		kind, _ := a[0].reply.(string)
		text := ""
		switch kind {
		case "string":
			text = replyText(one(ctx, s, "GETRANGE", k, "0", fmt.Sprint(stateText1)).reply)
		case "hash":
			text = pairsText(one(ctx, s, "HGETALL", k).reply)
		case "zset":
			text = replyText(one(ctx, s, "ZCARD", k).reply) + " members, first " +
				replyText(one(ctx, s, "ZRANGE", k, "0", "0", "WITHSCORES").reply) + ", last " +
				replyText(one(ctx, s, "ZRANGE", k, "-1", "-1", "WITHSCORES").reply)
		case "list":
			text = replyText(one(ctx, s, "LLEN", k).reply) + " items, first " + replyText(one(ctx, s, "LINDEX", k, "0").reply)
		case "set":
			text = replyText(one(ctx, s, "SCARD", k).reply) + " members"
		default:
			text = "nothing"
		}
		if ttl, ok := a[1].reply.(int64); ok && ttl >= 0 {
			text += fmt.Sprintf(" for %v", time.Duration(ttl)*time.Millisecond)
		} else if ok && ttl == -1 {
			text += " without a TTL"
		}
		out = append(out, show(k)+" "+report.Clean(text))
	}
	return strings.Join(out, "; ")
}

// pairsText is a hash by its fields.
func pairsText(v any) string {
	list, _ := v.([]any)
	var out []string
	for i := 0; i+1 < len(list); i += 2 {
		value := replyText(list[i+1])
		if len(value) > stateText1 {
			value = value[:stateText1] + "…"
		}
		out = append(out, replyText(list[i])+"="+value)
	}
	sort.Strings(out)
	if len(out) > stateMembers {
		out = append(out[:stateMembers], "…")
	}
	return strings.Join(out, " ")
}
