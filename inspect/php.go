package inspect

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// phpObject is an object that PHP wrote: its class, and its few values by
// their keys, which are texts, in order.
type phpObject struct {
	class  string
	keys   []string
	values []any // string, int64 or float64
}

const (
	maxPHPValues = 8
	maxPHPText   = 1024
)

var errPHP = errors.New("it is no serialized object of a few plain values")

// readPHP reads an object as PHP's serialize or as igbinary writes it.
func readPHP(value []byte) (*phpObject, error) {
	if bytes.HasPrefix(value, []byte{0, 0, 0, 2}) {
		return readIgbinary(value[4:])
	}
	return readSerialized(value)
}

// readSerialized reads O:LENGTH:"CLASS":COUNT:{KEY;VALUE;…}.
func readSerialized(value []byte) (*phpObject, error) {
	r := &phpReader{byteReader{rest: value}}
	r.want("O:")
	o := &phpObject{class: r.quoted()}
	r.want(":")
	n := r.number(':')
	r.want("{")
	if n < 1 || n > maxPHPValues {
		r.fail(errPHP)
	}
	for range min(n, maxPHPValues) {
		key, _ := r.value().(string)
		o.keys = append(o.keys, key)
		o.values = append(o.values, r.value())
	}
	r.want("}")
	if len(r.rest) > 0 {
		r.fail(errPHP)
	}
	return o, r.err
}

type phpReader struct{ byteReader }

func (r *phpReader) want(s string) {
	if string(r.take(len(s))) != s {
		r.fail(errPHP)
	}
}

// number reads digits up to end.
func (r *phpReader) number(end byte) int64 {
	n, err := strconv.ParseInt(r.upTo(end), 10, 64)
	if err != nil {
		r.fail(errPHP)
		return 0
	}
	return n
}

func (r *phpReader) upTo(end byte) string {
	i := bytes.IndexByte(r.rest[:min(len(r.rest), maxNumber)], end)
	if i < 0 {
		r.fail(errPHP)
		return ""
	}
	text := string(r.take(i))
	r.take(1)
	return text
}

// quoted reads LENGTH:"TEXT".
func (r *phpReader) quoted() string {
	n := r.number(':')
	if n < 0 || n > maxPHPText {
		r.fail(errPHP)
		return ""
	}
	r.want(`"`)
	text := string(r.take(int(n)))
	r.want(`"`)
	return text
}

// value reads s:…;, i:…; or d:…;.
func (r *phpReader) value() any {
	switch string(r.take(2)) {
	case "s:":
		text := r.quoted()
		r.want(";")
		return text
	case "i:":
		return r.number(';')
	case "d:":
		v, err := strconv.ParseFloat(r.upTo(';'), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			r.fail(errPHP)
		}
		return v
	}
	r.fail(errPHP)
	return nil
}

// readIgbinary reads what follows igbinary's header: an object, its class, an
// array's length, and keys and values. Texts that came before are numbered.
func readIgbinary(value []byte) (*phpObject, error) {
	r := &igbinaryReader{byteReader: byteReader{rest: value}}
	o := &phpObject{}
	kind := r.byte()
	if kind < 0x17 || kind > 0x19 {
		r.fail(errPHP)
	}
	o.class = r.text(1 << (kind - 0x17))
	if r.byte() != 0x14 {
		r.fail(errPHP)
	}
	n := int(r.byte())
	if n < 1 || n > maxPHPValues {
		r.fail(errPHP)
	}
	for range min(n, maxPHPValues) {
		key, _ := r.value().(string)
		o.keys = append(o.keys, key)
		o.values = append(o.values, r.value())
	}
	if len(r.rest) > 0 {
		r.fail(errPHP)
	}
	return o, r.err
}

type igbinaryReader struct {
	byteReader
	texts []string
}

// text reads a text whose length has so many bytes, and numbers it.
func (r *igbinaryReader) text(lengthBytes int) string {
	n := r.big(lengthBytes)
	if n > maxPHPText {
		r.fail(errPHP)
		return ""
	}
	s := string(r.take(int(n)))
	r.texts = append(r.texts, s)
	return s
}

func (r *igbinaryReader) value() any {
	switch kind := r.byte(); {
	case kind == 0x0d:
		return ""
	case kind >= 0x11 && kind <= 0x13:
		return r.text(1 << (kind - 0x11))
	case kind >= 0x0e && kind <= 0x10:
		i := r.big(1 << (kind - 0x0e))
		if r.err == nil && i < uint64(len(r.texts)) {
			return r.texts[i]
		}
	case kind == 0x0c:
		if v := r.float(); !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v
		}
	case kind >= 0x06 && kind <= 0x0b, kind == 0x20, kind == 0x21:
		width, minus := 1<<((kind-0x06)/2), kind%2 == 1
		if kind >= 0x20 {
			width = 8
		}
		n := r.big(width)
		switch {
		case n > math.MaxInt64:
		case minus:
			return -int64(n)
		default:
			return int64(n)
		}
	}
	r.fail(errPHP)
	return nil
}
