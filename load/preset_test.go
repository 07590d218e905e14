package load

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

// Texts of Retry-After that presets read differently. The dates lie 5 s
// ahead, "past" an hour back.
var hintTexts = map[string]string{
	"imf":     "Sat, 14 Mar 2026 10:00:05 GMT",
	"utc":     "Sat, 14 Mar 2026 10:00:05 UTC",
	"rfc850":  "Saturday, 14-Mar-26 10:00:05 GMT",
	"asctime": "Sat Mar 14 10:00:05 2026",
	"past":    "Sat, 14 Mar 2026 09:00:00 GMT",
	"joined":  "Sat, 14 Mar 2026 10:00:05 GMT, 9",
}

// answerOf is what the dialect reader makes of a 429 with one Retry-After.
func answerOf(text string) *dialect.Answer {
	raw, ok := hintTexts[text]
	if !ok {
		raw = text
	}
	fields := []dialect.Field{
		{Name: []byte("Date"), Value: []byte("Sat, 14 Mar 2026 10:00:00 GMT")},
		{Name: []byte("Retry-After"), Value: []byte(raw)},
	}
	if text == "none" {
		fields = fields[:1]
	}
	a := new(dialect.Answer)
	dialect.Read(a, dialect.Response{Status: 429, Fields: fields})
	return a
}

// presetCase is one client's behaviour, worked out by hand from its source.
// A wait is "1s", a range "0s-2s"; "stop" is no retry. Hints are tried on the
// first attempt with the status in on, "own" being the first of the waits.
type presetCase struct {
	name     string
	on       uint16
	waits    string
	statuses string // those of probeStatuses that are tried again
	classes  string // those of probeClasses that are tried again
	hints    string // text=wait
}

var probeStatuses = []uint16{302, 400, 401, 403, 404, 408, 409, 410, 413, 422, 429, 451, 500, 501, 502, 503, 504, 509, 521, 522, 524, 529}

var probeClasses = map[string]report.Class{
	"refused": report.ConnectRefused, "connect-timeout": report.ConnectTimeout, "unknown-host": report.UnknownHost,
	"tls": report.TLSFailed, "reset": report.ConnReset, "closed": report.ClosedEarly, "timeout": report.Timeout, "malformed": report.Malformed,
}

const (
	anyClass = "refused connect-timeout unknown-host tls reset closed timeout malformed"
	any5xx   = "500 501 502 503 504 509 521 522 524 529"
)

var presetCases = []presetCase{
	{
		name: "go-retryablehttp", on: 429, waits: "1s 2s 4s 8s stop",
		statuses: "429 500 502 503 504 509 521 522 524 529",
		classes:  "refused connect-timeout unknown-host reset closed timeout malformed",
		hints: "none=own 0=0s 7=7s +7=7s 86400=24h -5=own 2.5=own 1e1=own 0x10=own soon=own " +
			"imf=5s utc=5s rfc850=own asctime=own past=0s",
	},
	{
		name: "aws-sdk-go-v2", on: 503, waits: "0s-2s 0s-4s stop", statuses: "500 502 503 504", classes: anyClass,
		hints: "7=own imf=own",
	},
	{
		// From the fifth retry on the wait is the maximum, without chance.
		name: "aws-sdk-go-v2,attempts=9", on: 500, waits: "0s-2s 0s-4s 0s-8s 0s-16s 20s 20s 20s 20s stop",
		statuses: "500 502 503 504", classes: anyClass, hints: "7=own",
	},
	{
		name: "gax-go", on: 429, waits: "0s-1s 0s-2s 0s-4s 0s-8s 0s-16s 0s-30s 0s-30s",
		statuses: "429 503", classes: anyClass, hints: "7=own",
	},
	{
		// 0.5 * 1.5^(n-1): 0.5, 0.75, 1.125, 1.6875, 2.53125; half of it either way.
		name: "cenkalti-backoff", on: 429, waits: "250ms-750ms 375ms-1.125s 562.5ms-1.6875s 843.75ms-2.53125s 1.265625s-3.796875s",
		statuses: "400 401 403 404 408 409 410 413 422 429 451 " + any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "urllib3", on: 429, waits: "stop", // a 429 without Retry-After is handed to the caller
		statuses: "", classes: anyClass,
		hints: "none=stop 0=0s 7=7s 86400=6h 2.5=stop -5=stop 1e1=stop soon=stop imf=5s utc=5s rfc850=5s asctime=5s past=0s",
	},
	{
		name: "requests", on: 429, waits: "stop", hints: "7=stop",
	},
	{
		name: "aws-standard", on: 500, waits: "0s-1s 0s-2s stop", statuses: "500 502 503 504", classes: anyClass, hints: "7=own",
	},
	{
		// min(2^(n-1), 20) before the draw, so the fifth wait is up to 16 s, the sixth up to 20.
		name: "aws-standard,attempts=7", on: 500, waits: "0s-1s 0s-2s 0s-4s 0s-8s 0s-16s 0s-20s stop",
		statuses: "500 502 503 504", classes: anyClass, hints: "7=own",
	},
	{
		name: "botocore-legacy", on: 429, waits: "0s-1s 0s-2s 0s-4s 0s-8s stop",
		statuses: "429 500 502 503 504 509", classes: anyClass, hints: "7=own imf=own",
	},
	{
		name: "google-api-core", on: 429, waits: "0s-1s 0s-2s 0s-4s 0s-8s 0s-16s 0s-32s 0s-60s 0s-60s",
		statuses: "429 500 503", classes: "refused connect-timeout unknown-host tls reset closed malformed", hints: "7=own",
	},
	{
		name: "openai", on: 429, waits: "375ms-500ms 750ms-1s stop",
		statuses: "408 409 429 " + any5xx, classes: anyClass,
		hints: "none=own 0=own 7=7s 2.5=2.5s 1e1=10s 120=2m 121=stop 86400=stop 1e400=stop -5=own soon=own imf=5s utc=5s rfc850=5s asctime=5s past=own",
	},
	{
		name: "openai,attempts=7", on: 429, waits: "375ms-500ms 750ms-1s 1.5s-2s 3s-4s 6s-8s 6s-8s stop",
		statuses: "408 409 429 " + any5xx, classes: anyClass, hints: "7=7s",
	},
	{
		name: "anthropic", on: 429, waits: "375ms-500ms 750ms-1s stop",
		statuses: "408 409 429 " + any5xx, classes: anyClass,
		hints: "none=own 0=own 7=7s 2.5=2.5s 60=1m 61=own 86400=own -5=own soon=own imf=5s past=own",
	},
	{
		// max(0.5, min(0.5 * 2^(n-1), 5) * U(0.5, 1))
		name: "stripe", on: 500, waits: "500ms 500ms-1s stop",
		statuses: "409 " + any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "stripe,attempts=7", on: 500, waits: "500ms 500ms-1s 1s-2s 2s-4s 2.5s-5s 2.5s-5s stop",
		statuses: "409 " + any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "slack-sdk", on: 429, waits: "1s-2s stop", statuses: "429",
		classes: "refused unknown-host tls reset closed malformed",
		hints:   "none=own 0=0s-1s 7=7s-8s +7=7s-8s 2.5=stop imf=stop soon=stop -5=stop",
	},
	{
		// floor(U(0,1) * 500 * 2^(n-1)) ms after throttling.
		name: "aws-sdk-js-v3", on: 429, waits: "0s-499ms 0s-999ms stop", statuses: "429 500 502 503 504", classes: anyClass,
		hints: "none=own 0=own 7=7s 2.5=2.5s imf=5s rfc850=5s past=own joined=9s -5=own 1e1=own soon=own 86400=24h 2147484=1ms",
	},
	{
		name: "aws-sdk-js-v3,attempts=10", on: 500, waits: "0s-99ms 0s-199ms 0s-399ms 0s-799ms 0s-1.599s 0s-3.199s 0s-6.399s 0s-12.799s 0s-19.999s stop",
		statuses: "429 500 502 503 504", classes: anyClass, hints: "7=7s",
	},
	{
		name: "got", on: 429, waits: "1s-1.1s 2s-2.1s stop",
		statuses: "408 429 500 502 503 504 521 522 524", // 413 only with Retry-After
		classes:  "refused connect-timeout unknown-host reset closed timeout",
		hints: "none=own 0=own 7=7s 2.5=2.5s 1e1=10s 0x10=16s -5=1ms soon=own imf=5s asctime=5s past=1ms 86400=24h " +
			"2147483=2147483s 2147484=1ms", // above 2^31-1 ms the timer fires at once
	},
	{
		name: "got", on: 413, waits: "stop", hints: "7=7s 0=stop soon=stop",
	},
	{
		name: "axios-retry", on: 429, waits: "0s 0s 0s stop", statuses: "429 " + any5xx,
		classes: "refused unknown-host tls reset closed malformed",
		hints:   "none=own 0=own 7=7s 2.5=2.5s 1e1=10s 0x10=16s -5=own soon=own imf=5s past=own",
	},
	{
		name: "ky", on: 429, waits: "300ms 600ms stop", statuses: "408 413 429 500 502 503 504",
		classes: "refused unknown-host tls reset closed malformed",
		hints:   "none=own 0=0s 7=7s 2.5=own 1e1=own -5=own soon=own imf=5s utc=own rfc850=5s asctime=5s past=0s 9999999=2147483.647s",
	},
	{
		name: "ky", on: 500, waits: "300ms 600ms stop", hints: "7=own imf=own",
	},
	{
		name: "p-retry", on: 429, waits: "1s 2s 4s 8s 16s 32s 64s 128s 256s 512s stop",
		statuses: "400 401 403 404 408 409 410 413 422 429 451 " + any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "undici", on: 429, waits: "500ms 1s 2s 4s 8s stop", statuses: "429 500 502 503 504",
		classes: "refused unknown-host reset closed",
		hints:   "none=own 0=0s 7=7s 2.5=2.5s 1e1=10s 31=30s 86400=30s -5=own soon=own imf=5s past=own",
	},
	{
		name: "octokit-throttling", on: 429, waits: "1m stop", statuses: "429",
		hints: "none=1m 0=1m 7=7s imf=1m soon=1m 86400=24h",
	},
	{
		name: "octokit-throttling", on: 403, waits: "stop", hints: "7=7s none=1m",
	},
	{
		name: "octokit-retry", on: 429, waits: "1s 4s 9s stop",
		statuses: "408 409 413 429 " + any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "okhttp", on: 429, waits: "stop", statuses: "408", hints: "0=stop 7=stop",
	},
	{
		name: "okhttp", on: 503, waits: "stop", hints: "0=0s 7=stop imf=stop past=stop none=stop -5=stop",
	},
	{
		name: "okhttp", on: 408, waits: "0s stop", hints: "0=0s 7=stop imf=stop",
	},
	{
		name: "resilience4j", on: 429, waits: "500ms 500ms stop",
		statuses: "400 401 403 404 408 409 410 413 422 429 451 " + any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "failsafe", on: 429, waits: "0s 0s stop",
		statuses: "400 401 403 404 408 409 410 413 422 429 451 " + any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "curl-retry", on: 429, waits: "1s 2s 4s stop", statuses: "408 429 500 502 503 504 522 524",
		classes: "connect-timeout timeout unknown-host",
		hints:   "none=own 0=own 7=7s 2.5=2s 0.5=own -5=own soon=own imf=5s rfc850=5s asctime=5s past=own 86400=6h",
	},
	{
		name: "curl-retry,attempts=12", on: 429, waits: "1s 2s 4s 8s 16s 32s 64s 128s 256s 512s 10m stop",
		statuses: "408 429 500 502 503 504 522 524", classes: "connect-timeout timeout unknown-host", hints: "7=7s",
	},
	{
		name: "grpc", on: 429, waits: "80ms-120ms 160ms-240ms 320ms-480ms stop", statuses: "429 502 503 504", classes: anyClass, hints: "7=own",
	},
	{
		name: "envoy", on: 503, waits: "0s-25ms stop", statuses: any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "envoy,attempts=6", on: 503, waits: "0s-25ms 0s-50ms 0s-100ms 0s-200ms 0s-250ms stop", statuses: any5xx, classes: anyClass, hints: "7=own",
	},
	{
		name: "envoy-ratelimited", on: 429, waits: "0s-25ms stop", statuses: "429 " + any5xx, classes: anyClass,
		hints: "none=own 0=own 6=6s-9s 300=300s-450s 301=own 2.5=own imf=own soon=own",
	},
}

func TestPresets(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range presetCases {
		name, _, _ := strings.Cut(c.name, ",")
		seen[name] = true
		t.Run(c.name+"/"+strconv.Itoa(int(c.on)), func(t *testing.T) {
			b := mustParse(t, c.name)
			answer := func(n int) Outcome {
				o := Outcome{Verdict: report.Failed, Class: report.BadStatus, Status: c.on, Attempt: n}
				if c.on == 429 {
					o.Verdict, o.Class = report.Refused, report.NoError
				}
				return o
			}
			waits := strings.Fields(c.waits)
			for i, want := range waits {
				checkWait(t, b, answer(i+1), want)
			}
			for hint := range strings.FieldsSeq(c.hints) {
				text, want, _ := strings.Cut(hint, "=")
				if want == "own" {
					want = waits[0]
				}
				o := answer(1)
				o.Answer = answerOf(text)
				t.Run(text, func(t *testing.T) { checkWait(t, b, o, want) })
			}
			if c.statuses == "" && c.classes == "" {
				return
			}
			var statuses []string
			for _, s := range probeStatuses {
				o := failed(1, report.BadStatus, s)
				if s == 429 {
					o = refused(1)
				}
				if _, retry := once(b, o, 1); retry {
					statuses = append(statuses, strconv.Itoa(int(s)))
				}
			}
			if got := strings.Join(statuses, " "); got != c.statuses {
				t.Errorf("statuses tried again: %s\nwant                   %s", got, c.statuses)
			}
			for word, class := range probeClasses {
				_, retry := once(b, failed(1, class, 0), 1)
				if want := slices.Contains(strings.Fields(c.classes), word); retry != want {
					t.Errorf("after %s tries again: %v, want %v", word, retry, want)
				}
			}
		})
	}
	for _, info := range Behaviours() {
		if info.Kind == KindPreset && !seen[info.Name] {
			t.Errorf("no case for the preset %s", info.Name)
		}
	}
}

func once(b Behaviour, o Outcome, seed int64) (time.Duration, bool) {
	var m Memory
	r := NewRand(seed, 0, 0)
	return b.After(o, 0, &m, &r)
}

// checkWait draws many waits and wants all of them in the range, and the
// range used up to a twentieth at either end.
func checkWait(t *testing.T, b Behaviour, o Outcome, want string) {
	t.Helper()
	least, most := time.Duration(1<<62), time.Duration(-1)
	for seed := range int64(400) {
		wait, retry := once(b, o, seed)
		if retry == (want == "stop") {
			t.Fatalf("attempt %d: tries again: %v, want %s", o.Attempt, retry, want)
		}
		least, most = min(least, wait), max(most, wait)
	}
	if want == "stop" {
		return
	}
	from, to, isRange := strings.Cut(want, "-")
	lo, err := time.ParseDuration(from)
	if err != nil {
		t.Fatal(err)
	}
	hi := lo
	if isRange {
		if hi, err = time.ParseDuration(to); err != nil {
			t.Fatal(err)
		}
	}
	slack := (hi - lo) / 20
	if least < lo || most > hi || least > lo+slack || most < hi-slack {
		t.Errorf("attempt %d: waits from %v to %v, want %s", o.Attempt, least, most, want)
	}
}
