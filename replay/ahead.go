package replay

import "github.com/weir-cli/weir/report"

// batchCalls is how many calls are read before the first of them is decided.
// What a call of one key needs lies far from what the next one's does; asked
// for together, the parts of memory come together.
const batchCalls = 256

// awaited is what is kept of a call in a batch.
type awaited struct {
	at, cost, line int64
	key            []byte
	hash           uint64
	id             uint32 // before the call is numbered a guess at it
	recorded       report.Verdict
}

// ahead is calls that were read and are not decided yet.
type ahead struct {
	calls  [batchCalls]awaited
	text   []byte // of the keys
	call   Call
	loaded uint64 // a sum of what was looked at, so that it is looked at
}

// read takes the next calls of src, and with fewer than a batch the error
// behind them.
func (b *ahead) read(src *Source, keys *keyTable) ([]awaited, error) {
	b.text = b.text[:0]
	c := &b.call
	for n := range b.calls {
		if err := src.Next(c); err != nil {
			return b.calls[:n], err
		}
		from := len(b.text)
		b.text = append(b.text, c.Key...) // where it grows, earlier keys stay where they are
		key := b.text[from:]
		b.calls[n] = awaited{at: c.At, cost: c.Cost, line: c.Line, key: key, hash: keys.hash(key), recorded: c.Recorded}
	}
	return b.calls[:], nil
}

// load looks at what the calls are about to need. It decides nothing.
func (b *ahead) load(calls []awaited, r *recorder, p *pure) {
	sum := b.loaded
	for i := range calls {
		calls[i].id = r.keys.guess(calls[i].hash)
	}
	for i := range calls {
		if id := calls[i].id; id < rest {
			sum += uint64(len(r.keys.names[id])) + uint64(r.books[id].offered)
			if p.used(id) {
				sum++
			}
		}
	}
	for i := range calls {
		if id := calls[i].id; id < rest {
			if name := r.keys.names[id]; name != "" {
				sum += uint64(name[0])
			}
		}
	}
	b.loaded = sum
}
