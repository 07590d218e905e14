package doctor

import "github.com/weir-cli/weir/report"

// Check is one thing that can be wrong. docs/doctor.md has a part for each.
type Check struct {
	ID       string
	Severity report.Severity
	What     string // of a finding, a sentence without its figures
	Why      string // it matters
	Fix      string
	problems []string // that decoding a state finds, by their ids
}

// Checks are all there are, the gravest first.
func Checks() []Check { return checks }

// Find is the check of that id; ok is false when there is none.
func Find(id string) (c Check, ok bool) {
	for _, c := range checks {
		if c.ID == id {
			return c, true
		}
	}
	return Check{}, false
}

var checks = []Check{
	{ID: "no-ttl-for-ever", Severity: report.High,
		What: "Counters without a time to live, whose window ends with nothing else",
		Why:  "The window never ends: once the limit is reached the customer is refused for ever. It comes of INCR and EXPIRE as two calls, of which the second was lost.",
		Fix:  "EXPIRE the key now, for the length of a window; count and set the time to live in one script, or with SET … EX … NX before INCR."},
	{ID: "no-ttl-leak", Severity: report.Medium,
		What: "States without a time to live",
		Why:  "No decision is wrong, and the memory is never given back: each customer that was ever seen stays.",
		Fix:  "EXPIRE the keys for at least the time to fill or two windows; set it with every write."},
	{ID: "ttl-short", Severity: report.High, problems: []string{"ttl-short"},
		What: "Keys that expire before their bucket is full again",
		Why:  "Who waits until the key is gone finds a whole burst, sooner than the rate gives it: more passes than the limit promises.",
		Fix:  "A time to live of at least the burst divided by the rate."},
	{ID: "clock-ahead", Severity: report.High, problems: []string{"future"},
		What: "Times that are ahead of the server's clock",
		Why:  "Until the clock gets there nothing is refilled, or the window of now is not counted. Whoever takes the time from its own clock runs ahead, or the server's has stepped back.",
		Fix:  "Set the clocks (chronyc tracking), on the limiter's machines where its layout uses theirs; better, let the script take the server's TIME. To let a customer in at once, delete the key."},
	{ID: "clocks-differ", Severity: report.Medium, problems: []string{"out-of-order"},
		What: "Times in a log that are not in order",
		Why:  "Several machines wrote it by clocks that differ: windows begin at another time for each, and calls near their edges are counted wrong.",
		Fix:  "Set the clocks of the limiter's machines; better, let the script take the server's TIME."},
	{ID: "node-clocks", Severity: report.Medium,
		What: "Servers whose clocks differ",
		Why:  "After a failover or a move of slots, buckets are read by another clock: they refill at once, or not for as long.",
		Fix:  "Set the clocks of the servers (chronyc tracking)."},
	{ID: "not-a-number", Severity: report.High, problems: []string{"not-a-number", "not-a-time", "unreadable"},
		What: "Values that are no number, or no time, where their writer keeps one",
		Why:  "The limiter's script fails on it at every call, and then refuses or passes everything by how it treats errors.",
		Fix:  "Delete the key, which gives the customer a fresh allowance; find out who else writes under that name."},
	{ID: "wrong-type", Severity: report.High, problems: []string{"wrong-type"},
		What: "Keys of another type than their writer keeps",
		Why:  "Every call gets WRONGTYPE: the limiter refuses or passes everything by how it treats errors.",
		Fix:  "Delete or rename the key; give each writer, and each version with another layout, a prefix of its own."},
	{ID: "half-missing", Severity: report.Medium, problems: []string{"half-missing"},
		What: "States of which one half is missing",
		Why:  "The next call finds a full bucket: one half expired or was evicted before the other, or was deleted by hand.",
		Fix:  "Delete the other half too; write both in one script with one time to live."},
	{ID: "negative", Severity: report.Medium, problems: []string{"negative"},
		What: "Counts or tokens below zero",
		Why:  "More was taken than was there: read and write were two steps, or somebody gave back what was not taken. The customer waits longer, or has more, than the limit says.",
		Fix:  "Decide and write in one script; delete the key to begin anew."},
	{ID: "above-capacity", Severity: report.Medium, problems: []string{"above-capacity"},
		What: "Buckets that hold more than their burst",
		Why:  "They were written under a higher limit, or by somebody with another one: until they are empty more passes than the limit says.",
		Fix:  "Delete the key after a limit was lowered; let all that share a key share its limit."},
	{ID: "lost-digits", Severity: report.Medium, problems: []string{"lost-digits"},
		What: "Numbers in scientific notation, which have lost digits",
		Why:  "tostring in Lua writes numbers above 10^14 with 14 digits, which rounds times in microseconds or nanoseconds to 0.1 ms and more. Refills smaller than that are lost.",
		Fix:  "string.format('%.0f', n) in place of tostring(n) in the script, or times in milliseconds since a late epoch."},
	{ID: "rounded-times", Severity: report.Low, problems: []string{"rounded-time"},
		What: "Times in scientific notation, rounded by less than a microsecond",
		Why:  "No decision that anybody would notice is another one. What a script passes on as a number has 17 digits on servers before 7.4, and a time in nanoseconds then loses some 256.",
		Fix:  "Nothing has to be done; string.format('%.0f', n) in the script keeps all digits."},
	{ID: "several-versions", Severity: report.Medium,
		What: "Customers that have the same limit under several versions",
		Why:  "Each version of a rule has a bucket of its own: every change of the rule gives everybody a fresh allowance, and while two versions run they pass twice the limit.",
		Fix:  "Leave the version out of the key; state that describes itself can be read by the next version."},
	{ID: "composite-keys", Severity: report.Medium,
		What: "Customers that are counted once for each address",
		Why:  "A customer who calls from n addresses has n times the limit, and many short-lived keys are kept.",
		Fix:  "Count by the customer alone; limit by address in a rule of its own."},
	{ID: "split-slots", Severity: report.Medium,
		What: "Customers whose limits are in different slots of the cluster",
		Why:  "One script cannot decide them together: they are charged one after the other, and a call that the second refuses has been charged by the first.",
		Fix:  "Put braces around the customer in the name, as in rl:{k-7}:second and rl:{k-7}:day: what is in braces alone chooses the slot."},
	{ID: "window-over", Severity: report.Low, problems: []string{"window-over"},
		What: "Counters of windows that are long over",
		Why:  "They count for nothing and take memory until their time to live ends.",
		Fix:  "A time to live of one window, or two where the one before is weighed."},
	{ID: "log-grows", Severity: report.Medium, problems: []string{"long-log"},
		What: "Logs that grow with refused calls",
		Why:  "A client that keeps calling is refused for as long as it calls, and its log takes memory and time without a bound: each call reads and cuts it.",
		Fix:  "Add only calls that pass to the log, or count in place of logging."},
	{ID: "evictions", Severity: report.High,
		What: "The server has evicted keys",
		Why:  "Each evicted state is a fresh allowance: whoever was limited passes.",
		Fix:  "More maxmemory, or limiters on a server of their own, with volatile-ttl: limiter keys all have a time to live."},
	{ID: "memory-full", Severity: report.High,
		What: "The memory is nearly full, and the server may evict nothing",
		Why:  "At maxmemory every write fails with OOM, the limiter's too: it then refuses or passes everything by how it treats errors.",
		Fix:  "More maxmemory, or maxmemory-policy volatile-ttl: limiter keys all have a time to live."},
	{ID: "eviction-policy", Severity: report.Medium,
		What: "A policy that evicts states by chance or by use",
		Why:  "When memory gets short, states that still matter are dropped, and with them what their customers have used.",
		Fix:  "CONFIG SET maxmemory-policy volatile-ttl drops first what ends soonest; or noeviction, with an alarm before it is full."},
	{ID: "memory-unbounded", Severity: report.Medium,
		What: "The server has no maxmemory and uses most of the machine's memory",
		Why:  "Keys of customers that come and go grow without a bound until the system ends the server, and all state is lost.",
		Fix:  "CONFIG SET maxmemory below what the machine has, and maxmemory-policy volatile-ttl."},
	{ID: "replica-lag", Severity: report.High,
		What: "Replicas that are behind their primary",
		Why:  "What a replica has not heard of is lost in a failover: everybody gets back what they used since. Reads from it are old.",
		Fix:  "Look at its link and its load (redis-cli INFO replication); a larger repl-backlog-size where it has to start over again and again."},
	{ID: "scripts-missing", Severity: report.Medium,
		What: "Scripts that are loaded on some primaries and not on others",
		Why:  "EVALSHA fails with NOSCRIPT on those: a limiter that does not load the script then refuses or passes everything, and one that does pays a round trip.",
		Fix:  "SCRIPT LOAD on every primary, and again after a failover or SCRIPT FLUSH; or EVAL after NOSCRIPT."},
	{ID: "slot-imbalance", Severity: report.Medium,
		What: "Limits that crowd in one slot",
		Why:  "A slot is on one server and cannot be divided: that server's load is the limit of all.",
		Fix:  "Put only the customer in braces, not a word that all names share."},
	{ID: "shard-imbalance", Severity: report.Medium,
		What: "Servers with far more keys than their share",
		Why:  "The fullest server is the first to be slow, for all customers that it has.",
		Fix:  "redis-cli --cluster rebalance; look at the names when one slot is behind it."},
}
