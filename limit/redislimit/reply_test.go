package redislimit

import (
	"slices"
	"strings"
	"testing"
)

func TestReply(t *testing.T) {
	many := "*97\r\n" + strings.Repeat(":1\r\n", maxReply)
	for _, tt := range []struct {
		text    string
		numbers []int64
		fault   string
		bad     bool
	}{
		{text: ":7\r\n", numbers: []int64{7}},
		{text: "*0\r\n", numbers: nil},
		{text: "*3\r\n:1\r\n:-2\r\n:9007199254740991\r\n", numbers: []int64{1, -2, maxExact}},
		{text: many, numbers: slices.Repeat([]int64{1}, maxReply)},
		{text: "-NOSCRIPT No matching script.\r\n", fault: "NOSCRIPT No matching script."},
		{text: "-" + strings.Repeat("x", 10_000) + "\r\n", fault: strings.Repeat("x", maxReplyLine-1)},
		{text: "*98\r\n", bad: true},
		{text: "*1000000000\r\n", bad: true},
		{text: "*-1\r\n", bad: true},
		{text: "*1\r\n*1\r\n:1\r\n", bad: true},
		{text: "*1\r\n-ERR\r\n", bad: true},
		{text: "*1\r\n$1\r\n1\r\n", bad: true},
		{text: "$-1\r\n", bad: true},
		{text: "+OK\r\n", bad: true},
		{text: ":\r\n", bad: true},
		{text: ":-\r\n", bad: true},
		{text: ":1x\r\n", bad: true},
		{text: ":99999999999999999999\r\n", bad: true},
		{text: ":" + strings.Repeat("0", 10_000), bad: true},
		{text: "-\r\n", bad: true},
		{text: "\r\n", bad: true},
		{text: ":1\r\n:1\r\n", bad: true},
	} {
		for _, step := range []int{len(tt.text), 1, 3} {
			var r reply
			err := feed(&r, tt.text, step)
			if tt.bad {
				if err == nil {
					t.Errorf("%.40q in steps of %d: %v, want an error", tt.text, step, r.numbers)
				}
				continue
			}
			if err != nil || !r.whole || r.fault != tt.fault || !slices.Equal(r.numbers, tt.numbers) {
				t.Errorf("%.40q in steps of %d: %v, %.40q, whole %v, %v", tt.text, step, r.numbers, r.fault, r.whole, err)
			}
		}
	}
}

func feed(r *reply, text string, step int) error {
	for len(text) > 0 {
		n := min(step, len(text))
		if err := r.write([]byte(text[:n])); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func FuzzReply(f *testing.F) {
	f.Add("*2\r\n:1\r\n:2\r\n")
	f.Add("-ERR no\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		var whole, bytes reply
		err, same := feed(&whole, text, max(1, len(text))), feed(&bytes, text, 1)
		if (err == nil) != (same == nil) || err == nil && (whole.whole != bytes.whole || !slices.Equal(whole.numbers, bytes.numbers)) {
			t.Fatalf("%q is read in two ways: %v, %v", text, err, same)
		}
		if len(whole.numbers) > maxReply || len(whole.fault) > maxReplyLine {
			t.Fatalf("%q: %d numbers, %d bytes", text, len(whole.numbers), len(whole.fault))
		}
	})
}
