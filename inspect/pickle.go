package inspect

import (
	"errors"
	"math"
)

// errPickle is the error of a pickle that is no list of floats.
var errPickle = errors.New("it is no pickled list of floats")

// pickledFloats reads the pickle of a list of floats, in the few forms in which
// Python writes that: nothing else of a pickle is understood, let alone run.
func pickledFloats(value []byte) ([]float64, error) {
	r := &byteReader{rest: value}
	if r.byte() != 0x80 {
		return nil, errPickle
	}
	protocol := r.byte()
	if protocol < 2 || protocol > 5 {
		return nil, errPickle
	}
	frame := func() {
		if protocol >= 4 && len(r.rest) > 0 && r.rest[0] == 0x95 {
			r.take(1)
			r.little64()
		}
	}
	frame()
	if r.byte() != ']' {
		return nil, errPickle
	}
	switch r.byte() {
	case 0x94: // memoize
	case 'q': // the same, with a number
		r.take(1)
	default:
		return nil, errPickle
	}
	var list []float64
	item := func() {
		v := r.float()
		if math.IsNaN(v) || math.IsInf(v, 0) {
			r.fail(errPickle)
		}
		list = append(list, v)
	}
	for r.err == nil {
		frame()
		switch r.byte() {
		case '.':
			if r.err == nil && len(r.rest) > 0 {
				return nil, errPickle
			}
			return list, r.err
		case 'G': // one, appended
			item()
			if r.byte() != 'a' {
				r.fail(errPickle)
			}
		case '(': // several, to the e
			for r.err == nil {
				frame()
				op := r.byte()
				if op == 'e' {
					break
				}
				if op != 'G' {
					r.fail(errPickle)
				}
				item()
			}
		default:
			r.fail(errPickle)
		}
	}
	return nil, r.err
}

func isPickledFloats(e *Entry) bool {
	list, err := pickledFloats(e.Text)
	return err == nil && !e.Truncated && len(list) > 0
}
