package report

import (
	"maps"
	"sync"
	"sync/atomic"
)

const (
	textsMax = 1024 // distinct texts
	textMax  = 64   // bytes of each
)

// Texts numbers raw hints, so that an Event needs no string. 0 is no text, 1
// is "other", for all that come after the table is full. Looking a known text
// up takes no lock and does not allocate. The zero value is ready; safe for
// concurrent use.
type Texts struct {
	mu    sync.Mutex
	table atomic.Pointer[textTable]
}

type textTable struct {
	ids  map[string]uint32
	list []string
}

var noTexts = &textTable{list: []string{"", "other"}}

func (t *Texts) get() *textTable {
	if p := t.table.Load(); p != nil {
		return p
	}
	return noTexts
}

// Intern returns the number of b, cut to 64 bytes.
func (t *Texts) Intern(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	b = b[:min(len(b), textMax)]
	tab := t.get()
	if id, ok := tab.ids[string(b)]; ok {
		return id
	}
	if len(tab.list) >= textsMax {
		return 1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	tab = t.get()
	if id, ok := tab.ids[string(b)]; ok {
		return id
	}
	if len(tab.list) >= textsMax {
		return 1
	}
	// Copy on write: readers keep the old table.
	next := &textTable{ids: make(map[string]uint32, len(tab.ids)+1), list: append(tab.list[:len(tab.list):len(tab.list)], string(b))}
	maps.Copy(next.ids, tab.ids)
	id := uint32(len(tab.list))
	next.ids[string(b)] = id
	t.table.Store(next)
	return id
}

// Text returns text i; "" for one that does not exist.
func (t *Texts) Text(i uint32) string {
	if l := t.get().list; int(i) < len(l) {
		return l[i]
	}
	return ""
}
