package inspect

import "time"

// What [Entry] holds for what is not there or not known.
const (
	NoTTL   time.Duration = -1 // the key lives for ever
	NoKey   time.Duration = -2 // there is no such key
	Unknown               = -1 // of Idle and Bytes: the server did not say
)

// Entry is what one key held when it was read. Its sizes are bounded: Len is
// how long the whole is, and Truncated says that not all of it is here.
type Entry struct {
	Key   string
	Type  string        // string, hash, zset, list, …; none for no such key
	TTL   time.Duration // whole ms; NoTTL, or NoKey
	Idle  time.Duration // since the key was last used; Unknown
	Bytes int64         // what it takes of the server's memory; Unknown
	At    int64         // when it was read, unix ns of the server's clock
	Slot  int           // of the cluster; -1 when there is none
	Node  string        // HOST:PORT; "" when not known

	Text   []byte            // of a string
	Fields map[string]string // of a hash
	// Members of a sorted set by score, or of a list in its order; of a long
	// one the first Head and then the last.
	Members []Member
	Head    int   // how many of Members are from the start, when Truncated
	Len     int64 // bytes of a string; fields, members or items
	// Truncated is true when Text, Fields or Members is only a part.
	Truncated bool
	Problem   string // why the value could not be read; "" when it could
}

// Member is one of a sorted set, or an item of a list with a Score of 0.
type Member struct {
	Name  string
	Score float64
}

// Exists reports whether there is such a key.
func (e *Entry) Exists() bool { return e.TTL != NoKey }
