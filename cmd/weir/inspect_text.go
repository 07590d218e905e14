package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// skewShown is from when on the difference of two clocks is worth a line.
const skewShown = time.Second

// sightText is what get says: sentences first, then the keys.
func sightText(s *inspect.Sight, cost int64, width int) string {
	var b strings.Builder
	para := func(text string) { b.WriteString(fold(text, "", width) + "\n") }
	for i := range s.Readings {
		r := &s.Readings[i]
		para(strings.Join(r.Sentences(cost), " "))
		b.WriteByte('\n')
		keyTable(&b, r.Entries, r.Layout.TTL.Means, width)
		b.WriteByte('\n')
	}
	for i := range s.Own {
		para(strings.Join(s.Own[i].Sentences(s.Now), " "))
		b.WriteByte('\n')
		keyTable(&b, s.OwnKeys[i:i+1], "", width)
		b.WriteByte('\n')
	}
	for i := range s.Strangers {
		e := &s.Strangers[i]
		para(fmt.Sprintf("%s is a %s that no layout fits. %s", report.Clean(e.Key), report.Clean(e.Type), strangerHint(e)))
		if e.Problem != "" {
			para("Its value was not read: " + report.Clean(e.Problem) + ".")
		}
		b.WriteByte('\n')
		keyTable(&b, s.Strangers[i:i+1], "", width)
		b.WriteByte('\n')
	}
	for _, name := range s.Missing {
		para(fmt.Sprintf("No key is called %s, and none of %d names that layouts would give it as an id is there.", report.Clean(name), s.Tried))
	}
	if len(s.Nearest) > 0 {
		para("Close to that, and there: " + strings.Join(cleaned(s.Nearest), ", ") + ".")
	}
	if len(s.Missing) > 0 {
		para("A limiter that was not called for a while keeps nothing: no key mostly means that everything is there.")
		missingParts(&b, s, width)
	}
	if d := s.Skew; d.Abs() > skewShown {
		ahead := "ahead of"
		if d < 0 {
			ahead = "behind"
		}
		para(fmt.Sprintf("The server's clock is %s %s the one of this machine; the times above are the server's.", d.Abs().Round(time.Millisecond), ahead))
	}
	for _, x := range s.Blind {
		para(fmt.Sprintf("Not allowed: %s, so it is not known %s. redis-cli ACL SETUSER NAME %s", x.Command, x.Lost, shellRule(x.Rule)))
	}
	fmt.Fprintf(&b, "%s by the server's clock; %d commands, all reads.\n", time.Unix(0, s.Now).UTC().Format(time.RFC3339), s.Commands)
	return b.String()
}

// maxNamesakes is how many layouts are named for a key that only its name fits.
const maxNamesakes = 4

// strangerHint is what may help with a key that no layout fits.
func strangerHint(e *inspect.Entry) string {
	like := inspect.Namesakes(e.Key, inspect.Builtin())
	if len(like) == 0 {
		return "--layout NAME reads it as one, --layouts FILE describes more."
	}
	var names []string
	for i, l := range like {
		if i == maxNamesakes {
			names = append(names, fmt.Sprintf("%d more", len(like)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (a %s)", l.Name, l.Keys[0].Type))
	}
	return "Its name would fit " + strings.Join(names, ", ") + ", and what it holds does not. --layout NAME reads it as one all the same."
}

// missingParts says for which layouts no name could be made up.
func missingParts(b *strings.Builder, s *inspect.Sight, width int) {
	by := map[string][]string{}
	var order []string
	for _, x := range s.Skipped {
		if by[x.Part] == nil {
			order = append(order, x.Part)
		}
		by[x.Part] = append(by[x.Part], x.Layout.Name)
	}
	for _, part := range order {
		flag := "--part " + part + "=…"
		switch part {
		case "rule":
			flag = "--rule NAME"
		case "limit", "multiple", "period", "window":
			flag = "--limit fixed-window:limit=…,window=…"
		case "id":
			continue // such an id cannot stand in their names
		}
		b.WriteString(fold(fmt.Sprintf("Not looked for, without %s: %s.", flag, strings.Join(by[part], ", ")), "", width) + "\n")
	}
}

func cleaned(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = report.Clean(s)
	}
	return out
}

// ttlMeans are what the end of a key means, by TTL.Means.
var ttlMeans = map[string]string{
	"window-end": "then the window ends",
	"block-end":  "then the block ends",
	"to-full":    "about when it is full",
	"cleanup":    "then it is cleaned up",
}

// keyTable is a line for each key.
func keyTable(b *strings.Builder, entries []inspect.Entry, means string, width int) {
	for i := range entries {
		e := &entries[i]
		if !e.Exists() {
			b.WriteString(fold(fmt.Sprintf("%s: there is no such key", report.Clean(e.Key)), "  ", width) + "\n")
			continue
		}
		life := "no TTL"
		if e.TTL >= 0 {
			life = "TTL " + limit.ShortDuration(e.TTL)
			if text := ttlMeans[means]; text != "" {
				life += " (" + text + ")"
			}
		}
		facts := []string{report.Clean(e.Type), life}
		if e.Idle >= 0 {
			facts = append(facts, "idle "+limit.ShortDuration(e.Idle))
		}
		if e.Bytes >= 0 {
			facts = append(facts, fmt.Sprintf("%d bytes", e.Bytes))
		}
		if e.Truncated {
			facts = append(facts, fmt.Sprintf("%d long, read in part", e.Len))
		}
		if e.Slot >= 0 {
			facts = append(facts, fmt.Sprintf("slot %d on %s", e.Slot, report.Clean(e.Node)))
		}
		b.WriteString(fold(report.Clean(e.Key)+"  "+strings.Join(facts, ", "), "  ", width) + "\n")
	}
}
