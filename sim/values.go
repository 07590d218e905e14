package sim

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Micros is a time in whole microseconds since the scenario's zero, or a
// length of time. Its text is a Go duration: 90s, 2m30s, 33us, -50ms.
type Micros int64

// Second is a second in microseconds.
const Second Micros = 1_000_000

// UnmarshalText reads a Go duration of whole microseconds.
func (m *Micros) UnmarshalText(text []byte) error {
	d, err := parseSpan(string(text))
	if err != nil {
		return err
	}
	if d%time.Microsecond != 0 {
		return &valueError{"is not a whole number of microseconds", "1us"}
	}
	*m = Micros(d / time.Microsecond)
	return nil
}

// String is the text that UnmarshalText reads.
func (m Micros) String() string {
	if m > math.MaxInt64/1000 || m < math.MinInt64/1000 {
		return strconv.FormatInt(int64(m), 10) + "us"
	}
	return shortSpan(time.Duration(m) * time.Microsecond)
}

// Seconds is m as a number of seconds.
func (m Micros) Seconds() float64 { return float64(m) / float64(Second) }

// Rate is a number a unit of time, kept exactly. Its text is 10/s, 90/m,
// 1/200ms, or a bare number for so many a second. The zero value is no rate.
type Rate struct{ limit.Rate }

// PerSecond is the Rate of n a second.
func PerSecond(n int64) Rate { return Rate{limit.Rate{Units: n, Per: time.Second}} }

// UnmarshalText reads what limit.ParseRate reads, and bare numbers.
func (r *Rate) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if !strings.Contains(s, "/") {
		s += "/s"
	}
	got, err := limit.ParseRate(s)
	if err != nil {
		return asValue(err)
	}
	r.Rate = got
	return nil
}

// Float is the rate a second, for show and for waits that need not be exact.
func (r Rate) Float() float64 { return float64(r.Units) / r.Per.Seconds() }

// valueError is a text that is not a value of its type.
type valueError struct{ msg, hint string }

func (e *valueError) Error() string { return e.msg }

// asValue takes the reason and the hint out of an error of package limit.
func asValue(err error) error {
	var se *limit.SpecError
	if errors.As(err, &se) {
		return &valueError{strconv.Quote(se.Value) + " " + se.Reason, se.Hint} // whoever reports it names the parameter
	}
	return err
}

func parseSpan(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	d, err := time.ParseDuration(s)
	if err == nil {
		return d, nil
	}
	if _, number := strconv.ParseFloat(s, 64); number == nil {
		return 0, &valueError{"has no unit of time, or is too long", s + "s"}
	}
	return 0, &valueError{"is not a duration of at most 292 years", "90s, 200ms or 33us"}
}

// shortSpan is a duration as Go writes it without the zero parts at its end.
func shortSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	rateType     = reflect.TypeFor[limit.Rate]()
	specType     = reflect.TypeFor[limit.Spec]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// plain reports whether a value of type t is written as one text.
func plain(t reflect.Type) bool {
	if t == durationType || t == rateType || t == specType || reflect.PointerTo(t).Implements(textType) {
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Array, reflect.Pointer:
		return false
	}
	return true
}

// setText reads s into v, whose type is plain.
func setText(v reflect.Value, s string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(s))
	}
	var err error
	switch p := v.Addr().Interface().(type) {
	case *time.Duration:
		*p, err = parseSpan(s)
		return err
	case *limit.Rate:
		var r Rate
		err = r.UnmarshalText([]byte(s))
		*p = r.Rate
		return err
	case *limit.Spec:
		*p, err = limit.ParseSpec(s)
		return asValue(err)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return &valueError{"is neither true nor false", "true"}
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := parseWhole(s)
		if err != nil {
			return err
		}
		if v.OverflowInt(n) {
			return &valueError{"is too large", ""}
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := parseWhole(s)
		if err != nil {
			return err
		}
		if n < 0 {
			return &valueError{"must not be negative", ""}
		}
		if v.OverflowUint(uint64(n)) {
			return &valueError{"is too large", ""}
		}
		v.SetUint(uint64(n))
	case reflect.Float32, reflect.Float64:
		f, err := parseNumber(s)
		if err != nil {
			return err
		}
		v.SetFloat(f)
	default:
		return fmt.Errorf("cannot be read into a %s", v.Type())
	}
	return nil
}

// parseWhole reads 20, -3, 60_000, 10k and 1.5M.
func parseWhole(s string) (int64, error) {
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "")
	abs, negative := strings.CutPrefix(s, "-")
	n, err := limit.ParseCount(abs)
	if err != nil {
		var se *limit.SpecError
		if errors.As(err, &se) {
			return 0, &valueError{se.Reason, "20"}
		}
		return 0, err
	}
	if negative {
		n = -n
	}
	return n, nil
}

// parseNumber reads a finite number, also as a percentage.
func parseNumber(s string) (float64, error) {
	s = strings.TrimSpace(s)
	body, percent := strings.CutSuffix(s, "%")
	f, err := strconv.ParseFloat(body, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, &valueError{"is not a number", "0.5"}
	}
	if percent {
		f /= 100
	}
	return f, nil
}

// showText is the text of a plain value, for lists of parameters.
func showText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return shortSpan(x)
	case fmt.Stringer:
		return x.String()
	}
	if v.Kind() == reflect.Float64 || v.Kind() == reflect.Float32 {
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return fmt.Sprint(v.Interface())
}
