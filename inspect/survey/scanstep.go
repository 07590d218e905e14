package survey

import "strconv"

// cursorAt is where a SCAN goes on.
type cursorAt struct {
	cursor string
	match  string
	count  int
}

// listed is what a SCAN gave.
type listed struct {
	keys    []string
	cursor  string // "0" at the end
	tooLong int64  // names that are longer than maxName
}

// noCursor is where every scan begins and ends.
const noCursor = "0"

func (r *keyReader) askScan(at *cursorAt) {
	words := []string{"SCAN", at.cursor}
	if at.match != "" {
		words = append(words, "MATCH", at.match)
	}
	r.w.ask(append(words, "COUNT", strconv.Itoa(at.count))...)
}

func (r *keyReader) readScan() (*listed, error) {
	n, err := r.w.list()
	if isReply(err) {
		return nil, denied("SCAN", err)
	}
	if err == nil && n != 2 {
		err = errProtocol
	}
	if err != nil {
		return nil, err
	}
	cursor, full, err := r.w.text(20)
	if err == nil && (full < 1 || full > 20) {
		err = errProtocol
	}
	if err != nil {
		return nil, err
	}
	if n, err = r.w.list(); err != nil {
		return nil, err
	}
	list := &listed{cursor: string(cursor)}
	for range n {
		name, full, err := r.w.text(maxName)
		switch {
		case err != nil:
			return nil, err
		case full > maxName:
			list.tooLong++
		default:
			list.keys = append(list.keys, string(name))
		}
	}
	return list, nil
}
