package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/profiles"
)

// asWindows is a text as an editor there may save it: with a mark before it, and
// two bytes at the end of each line.
func asWindows(text string) []byte {
	return []byte("\xef\xbb\xbf" + strings.ReplaceAll(text, "\n", "\r\n"))
}

// A file means the same however an editor saves it.
func TestFilesWithAMark(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if _, err := rules.Parse(asWindows("version: 1\nrules:\n  - name: a\n    per: key\n    limits:\n      - {default: true, limit: 1/s}\noverrides:\n  - {key: k, rule: a, limit: 2/s, reason: x, expires: 2099-01-01}\n"), "f"); err != nil {
		t.Error(err)
	}
	if _, err := profiles.ParseYAML("f", "one profile", asWindows("name: a\n")); err != nil {
		t.Error(err)
	}
	if _, err := parseConfig("f", asWindows("load:\n  duration: 1s\n")); err != nil {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"t.csv": "t,key\n1,a\n2,a\n", "t.ndjson": "{\"t\":1,\"key\":\"a\"}\n{\"t\":2,\"key\":\"a\"}\n",
	} {
		a, stdout, stderr := testApp()
		if code := runWith(a, newReplayCmd(a), "replay", file(name, asWindows(text)), "--limit", "1/h,burst=1", "-q"); code != 0 || !strings.Contains(stdout.String(), "admitted 1 of 2") {
			t.Errorf("%s: exit %d: %s%s", name, code, stdout, stderr)
		}
	}
	const saved = `{"schema":"weir.events/v1","source":"load","name":"x"}` + "\n"
	r, err := readRun(file("run.ndjson", asWindows(saved)), nil)
	if err != nil || r.Name != "x" {
		t.Errorf("%+v, %v", r, err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(saved))
	z.Close()
	if _, err := readRun(file("run.gz", packed.Bytes()), nil); err == nil || !strings.Contains(err.Error(), "packed with gzip") {
		t.Errorf("%v", err)
	}
}
