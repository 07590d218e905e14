package inspect

// Layout is how one writer keeps its state. Immutable once loaded.
type Layout struct {
	Name     string // what `weir inspect layouts` lists
	Writer   string // the library or server, with versions
	Language string
	// Checked is how the description was checked: "run" when the real writer's
	// state was compared, "source" when it was read in the source.
	Checked string
	About   string // one sentence
	// Sure is how sure a match of name, type and shape is.
	Sure Sure
	// Keys are the keys of one limit of one customer, the state's main first.
	Keys []KeyForm
	// Try has values for placeholders that a customer's id does not fill, for
	// making up names.
	IDs      string // "weir" where the id is escaped as weir does; "" as it is
	Try      map[string][]string
	Hashes   map[string][]hashForm // of other parts that stand in names
	Decode   Model
	TTL      TTL
	Writes   []Action // what an operator may do to the state; see Change
	Needs    string   // what must be told: "bucket", "window", "slots"; "nothing" when the state has it
	Example  string   // of --limit, for what is needed
	Unseen   string   // why a call may be refused that Redis has room for, a sentence; "" where nothing is known
	Pitfalls []string // what is odd about this writer, a sentence each

	File string // "" when built in
	Text string // the YAML
}

// KeyForm is one of a layout's keys.
type KeyForm struct {
	Role string // what the model calls it
	Name Pattern
	Type string // string, hash, zset or list
	// Value is what a string's value, every member or item, is: "whole",
	// "number", "decimal" (not whole), "instant", "text", "hex:" and how it
	// begins, or one that only code knows.
	Value    string
	Score    string   // what every score is: "number" or "instant"; "" for anything
	Fields   []string // that a hash must have
	Optional []string // that it may have; more than both is another writer's, unless it has "*"
	Life     string   // what its TTL can be: "window" at most, "two-windows", or "none"; "" for anything
}

// Model is how a layout decides. Which parameters it has depends on its name.
type Model struct {
	Name  string
	Unit  string // of instants: s, ms, us, ns
	Epoch int64  // that instants count from, unix seconds
	// Arithmetic is "doubles" where the writer computes in them.
	Arithmetic string
	Counts     string // "used" or "remaining"
	Window     string // what <window> is: its "number" or its "start"
	Calendar   bool   // months and years are those of the calendar, in UTC
	Spare      int64  // how much of the limit never passes, of a numbered window
	Refusals   string // "counted" or "free": whether a refused call counts, too
	Costs      string // "any" where a call passes by what was used before it, whatever it costs
	Refill     string // "continuous", "whole-seconds", "whole-units", "intervals"
	Tokens     string // the field with what is left
	Last       string // the field with the time of the last write
	Time       string // where a log has its times: "member" or "score"
	Lasts      int64  // seconds after which a slot counts as given back; 0 when the TTL says it
	Edge       string // whether what is one window old is still "inside" a log, or "outside"
}

// TTL is what a layout's time to live means.
type TTL struct {
	Means   string // "window-end", "block-end", "to-full", "cleanup", "none"
	Missing string // what it means when there is none: see ttlTexts
}
