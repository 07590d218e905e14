package inspect

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"
	"time"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// bucket4jTwo has 100 an hour at once and 5 a second, of which 3 were consumed.
const bucket4jTwo = "000000020000000100000002" +
	"00000001000000000000006400000000000000640000034630b8a000000000000000006401800000000000000000010004686f7572" +
	"0000000100000000000000050000000000000005000000003b9aca00000000000000000500800000000000000000010003736563" +
	"00000003000000010000000617979cfe3d7ed4c00000000000000061000000000000000017979cfe3d7ed4c000000000000000020000000000000000" +
	"00000001000000000000000301" + "0000000000000007"

func TestBucket4jValue(t *testing.T) {
	b, err := readBucket4j(unhex(t, bucket4jTwo))
	if err != nil {
		t.Fatal(err)
	}
	hour, sec := b.limits[0], b.limits[1]
	if hour.id != "hour" || !hour.intervally || hour.capacity != 100 || sec.id != "sec" || sec.intervally || *b.version != 7 || b.consumed != 3 {
		t.Errorf("%+v", b)
	}
	const at = (1700000000123 + 2500) * 1e6
	if hour.at(at) != 97 || sec.at(at) != 5 || hour.fullIn(at) != 3597500*time.Millisecond {
		t.Errorf("hour %d, full in %s; sec %d", hour.at(at), hour.fullIn(at), sec.at(at))
	}
	// Half of a second brings back two of five, and the rest of the third.
	sec.size, sec.rounding = -2, 0
	if got := sec.at(sec.last + 500e6); got != 0 {
		t.Errorf("%d after half a second", got)
	}
	// Nothing overflows in a limit as large as it can be.
	huge := bucket4jLimit{capacity: math.MaxInt64, period: 1, refill: math.MaxInt64, size: math.MinInt64}
	if got := huge.at(math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("%d", got)
	}
	for n := range len(bucket4jTwo) / 2 {
		if _, err := readBucket4j(unhex(t, bucket4jTwo[:2*n])); err == nil {
			t.Errorf("the first %d bytes are read as a whole", n)
		}
	}
	if _, err := readBucket4j(unhex(t, bucket4jTwo+"00")); err == nil {
		t.Error("more than a whole is read")
	}
}

func TestPickledFloats(t *testing.T) {
	for _, c := range []struct {
		about, value string
		want         int // -1 for an error
	}{
		{"protocol 4, two", "80049517000000000000005d94284741dac31cd9a614624741dac31cd8100000652e", 2},
		{"protocol 4, one", "8004950d000000000000005d944741dac31cd9a61462612e", 1},
		{"protocol 5, none", "80055d942e", 0},
		{"protocol 2, two", "80025d7100284741dac31cd9a614624741dac31cd8100000652e", 2},
		{"batches", "80025d7100284741dac31cd9a61462654741dac31cd8100000612e", 2},
		{"a whole number in it", "80045d944b01612e", -1},
		{"no end", "80045d944741dac31cd9a6146261", -1},
		{"something behind", "80045d942e00", -1},
		{"a function is called", "800463 6f730a73797374656d0a 28 5327 7472756527 0a 74 52 2e", -1},
		{"not a number", "80045d94477ff8000000000000612e", -1},
		{"protocol 0", "286c70300a2e", -1},
		{"nothing", "", -1},
	} {
		list, err := pickledFloats(unhex(t, c.value))
		if c.want < 0 && err == nil || c.want >= 0 && (err != nil || len(list) != c.want) {
			t.Errorf("%s: %v, %v", c.about, list, err)
		}
	}
}

// PHP's two serializers are read alike.
func TestPHPObjects(t *testing.T) {
	object := `O:48:"Symfony\Component\RateLimiter\Policy\TokenBucket":2:{s:9:"` + "\x00\x00\x00\n" + `login";i:7;s:18:"P0Y0M0DT00H15M0S-5";d:1795978296.5;}`
	want, err := readSymfony([]byte(object))
	if err != nil || want.burst != 10 || want.tokens != 7 || want.id != "login" {
		t.Fatalf("%+v, %v", want, err)
	}
	for n := range len(object) {
		if _, err := readSymfony([]byte(object[:n])); err == nil {
			t.Errorf("the first %d bytes are read as a whole", n)
		}
	}
	class := "Symfony\\Component\\RateLimiter\\Policy\\TokenBucket"
	binary := "\x00\x00\x00\x02\x17" + string(rune(len(class))) + class + "\x14\x02" +
		"\x11\x09\x00\x00\x00\nlogin\x06\x07" + "\x11\x12P0Y0M0DT00H15M0S-5" + "\x0c" + string(unhex(t, "41dac31d0e200000"))
	got, err := readSymfony([]byte(binary))
	if err != nil || *got != *want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{
		`O:8:"stdClass":1:{s:1:"a";i:1;}`, `O:48:"x":1:{}`, `O:1:"x":99999999:{s:1:"a";i:1;}`, `a:1:{i:0;i:1;}`, `O:-1:"x":1:{s:1:"a";i:1;}`,
		"\x00\x00\x00\x02\x17\x01x\x14\x01\x0e\x07\x06\x01", "\x00\x00\x00\x02",
	} {
		if s, err := readSymfony([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, s)
		}
	}
}

// Whatever a value is, its readers end, take no more than it has, and give
// numbers that can be computed with.
func FuzzBinary(f *testing.F) {
	f.Add(unhex(f, bucket4jTwo), int64(1700000002623000000))
	f.Add(unhex(f, "80049517000000000000005d94284741dac31cd9a614624741dac31cd8100000652e"), int64(1795978090000000000))
	f.Add([]byte(`O:48:"Symfony\Component\RateLimiter\Policy\TokenBucket":2:{s:9:"`+"\x00\x00\x00\n"+`login";i:7;s:18:"P0Y0M0DT00H15M0S-5";d:1795978296.5;}`), int64(1795978300000000000))
	f.Add([]byte("\x00\x00\x00\x02\x17\x01x\x14\x01\x11\x01a\x06\x01"), int64(1))
	f.Add([]byte(`{"state":{"Last":1795978030881928996,"Available":17},"version":1}`), int64(1795978300000000000))
	f.Add([]byte("1795978184811 0"), int64(1795978300000000000))
	f.Add([]byte("\x10"+strings.Repeat("r", 16)+"\x01\x00\x00\x00"), int64(0))
	f.Fuzz(func(t *testing.T, value []byte, now int64) {
		now = max(0, min(now, 7_258_118_400_000_000_000))
		if list, err := pickledFloats(value); err == nil && len(list) > len(value)/9 {
			t.Fatalf("%d floats in %d bytes", len(list), len(value))
		}
		for _, name := range []string{"bucket4j", "drf", "symfony", "mennanov-token", "mennanov-leaky", "self-limiters"} {
			l := Find(Builtin(), name)
			e := Entry{Key: "k", Type: "string", TTL: time.Minute, Text: value, Len: int64(len(value))}
			l.Match(&e, now)
			r, err := Decode(l, []Entry{e}, now, nil)
			if err != nil {
				t.Fatal(err)
			}
			if wait, known := r.Wait(1); known && wait == 0 && (r.Remaining == nil || *r.Remaining < 1) {
				t.Fatalf("%s: a call passes and none remains", name)
			}
			r.Sentences(1)
		}
		if n, err := redissonPermits(string(value)); err == nil && (n < 0 || n > math.MaxUint32) {
			t.Fatalf("%d permits", n)
		}
	})
}
