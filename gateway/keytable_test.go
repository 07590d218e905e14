package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func TestParseKeys(t *testing.T) {
	text := "# who may call\n\nalpha gold acme\nalpha-next\tgold  acme\r\nbeta -\n" +
		hashOf("gamma") + " free\n" + strings.ToUpper(hashOf("delta")[7:]) + "\n"
	_, err := parseKeys([]byte(text), "keys")
	var bad *KeysError
	if !errors.As(err, &bad) || bad.Line != 7 {
		t.Fatalf("a line of one field: %v", err)
	}
	k, err := parseKeys([]byte(strings.Replace(text, strings.ToUpper(hashOf("delta")[7:]), hashOf("delta")+" free delta-co", 1)), "keys")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]keyOwner{
		"alpha":      {"acme", "gold"},
		"alpha-next": {"acme", "gold"},
		"beta":       {"beta", ""},
		"gamma":      {hashOf("gamma")[:7+16], "free"},
		"delta":      {"delta-co", "free"},
	} {
		if got, ok := k.find(key); !ok || got != want {
			t.Errorf("%s: %+v %t, want %+v", key, got, ok, want)
		}
	}
	for _, key := range []string{"", "gold", "acme", "alpha ", hashOf("gamma"), strings.Repeat("x", maxKey+1)} {
		if got, ok := k.find(key); ok {
			t.Errorf("%q is known as %+v", key, got)
		}
	}
	if k.len() != 5 {
		t.Errorf("%d keys", k.len())
	}
}

// Every mistake names its line, and no message tells a key.
func TestParseKeysErrors(t *testing.T) {
	const secret = "s3cr3t-key"
	for text, want := range map[string]string{
		secret + " gold\n" + secret + " gold\n":         "keys:2: the same key as on line 1",
		secret + " gold\n" + hashOf(secret) + " gold\n": "keys:2: the same key as on line 1",
		"\n\n" + secret:                                                     "keys:3: has 1 fields",
		secret + " gold a b":                                                "keys:1: has 4 fields",
		secret + " gold acme\nb free acme":                                  "keys:2: its name has another plan on line 1",
		secret + " g/old":                                                   "keys:1: plan is not a name",
		secret + " " + strings.Repeat("p", 65):                              "keys:1: plan is not a name",
		secret + " gold n\x01":                                              "keys:1: name is longer",
		secret + "\x7f gold":                                                "keys:1: key is longer",
		secret + "\xff gold":                                                "keys:1: not UTF-8",
		strings.Repeat(secret, 21) + " gold":                                "keys:1: key is longer",
		"sha256:" + secret + " gold":                                        "keys:1: sha256: has 10 digits",
		"sha256:" + strings.Repeat("z", 64) + " gold":                       "keys:1: sha256: is not followed by hex",
		hashOf("a") + " p\n" + hashOf("a")[:7+63] + "0 p\n":                 "keys:2: begins as the hash on line 1 does",
		secret + " " + strings.Repeat("x", maxKeyLine):                      "keys:1: longer than 4096 bytes",
		strings.Repeat("a", 3) + " gold\n" + fmt.Sprint("b ", "gold x y z"): "keys:2: has 5 fields",
	} {
		_, err := parseKeys([]byte(text), "keys")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the key is told: %v", err)
		}
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add([]byte("a gold\n# x\nsha256:00 -\n"), "a")
	f.Add([]byte(hashOf("k")+" free n\r\n\tb\t-\n"), "k")
	f.Fuzz(func(t *testing.T, data []byte, key string) {
		k, err := parseKeys(data, "keys")
		if err != nil {
			return
		}
		if k.len() > strings.Count(string(data), "\n")+1 {
			t.Errorf("%d keys on fewer lines", k.len())
		}
		if o, ok := k.find(key); ok {
			if o.name == "" || len(o.name) > maxKey || o.plan != "" && !planName(o.plan) {
				t.Errorf("%q is %+v", key, o)
			}
			if !strings.Contains(string(data), key) && !strings.Contains(strings.ToLower(string(data)), hashOf(key)[7:]) {
				t.Errorf("%q is known and not in the file", key)
			}
		}
	})
}

// The mark that editors put before UTF-8 is no part of the first key.
func TestParseKeysAfterAMark(t *testing.T) {
	k, err := parseKeys([]byte("\xef\xbb\xbfalpha gold acme\r\nbeta -\r\n"), "keys")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := k.find("alpha"); !ok || got != (keyOwner{"acme", "gold"}) {
		t.Errorf("%+v, %t", got, ok)
	}
}
