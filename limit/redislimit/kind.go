package redislimit

// Kind is what went wrong with a store, by what there is to do about it.
type Kind uint8

const (
	// KindUnexpected is every error that none of the others names. Its zero
	// place makes an unknown error one of it.
	KindUnexpected  Kind = iota
	KindRefused          // nobody listens there, or the name is unknown
	KindTimeout          // no answer in time
	KindBroken           // the connection ended before the answer
	KindCanceled         // the caller went away; nothing is wrong with the store
	KindLoading          // the server still reads its data from disk
	KindBusy             // another script runs for too long
	KindReadOnly         // a replica answered: the primary is elsewhere
	KindNoWrites         // the server refuses writes: no disk, or too few replicas
	KindClusterDown      // the slot has no node, or the cluster no majority
	KindMasterDown       // a replica that lost its primary answered
	KindTryAgain         // the slot moves, and only some of the keys have
	KindMoved            // more redirects than the client follows
	KindCrossSlot        // keys of one call in several slots
	KindNoAuth           // no password, or a wrong one
	KindNoPerm           // the user may not do this
	KindTLS              // no agreement on TLS
	KindOutOfMemory      // maxmemory is reached and nothing may be evicted
	KindWrongType        // the key holds something else
	KindMaxClients       // the server takes no more connections
	KindNoScript         // the script is still unknown right after a load
	KindClosed           // the Store, or its client, is closed

	kinds // how many there are
)

// kindTexts are the name in metrics and what to do, or to know.
var kindTexts = [kinds]struct{ name, hint string }{
	KindUnexpected:  {"unexpected", "see the server's log"},
	KindRefused:     {"refused", "start the server, or correct the address in the URL"},
	KindTimeout:     {"timeout", "look at the server's load and SLOWLOG, or allow more time; a server without TLS never answers a rediss:// URL"},
	KindBroken:      {"broken", "see the server's log: a restart, maxclients reached, and TLS that the URL does not ask for all end connections"},
	KindCanceled:    {"canceled", "the caller went away"},
	KindLoading:     {"loading", "wait until the server has read its data: redis-cli info persistence"},
	KindBusy:        {"busy", "another script runs for too long: redis-cli script kill"},
	KindReadOnly:    {"read-only", "a replica answered: give the primary's address, or a URL that names the sentinels"},
	KindNoWrites:    {"no-writes", "see the server's log: its disk is full, or it has too few replicas to take writes"},
	KindClusterDown: {"cluster-down", "wait for the failover, or repair the cluster: redis-cli --cluster check"},
	KindMasterDown:  {"master-down", "a replica answered that has lost its primary: give the primary's address"},
	KindTryAgain:    {"try-again", "the slot is being moved: the next check finds its keys together"},
	KindMoved:       {"moved", "a cluster needs a cluster URL; with one, its nodes disagree about the owner of a slot: redis-cli --cluster check"},
	KindCrossSlot:   {"cross-slot", "keys of one call must share their {tag}: connect with a cluster URL, and build keys with Key"},
	KindNoAuth:      {"no-auth", "give the user's name and password, or correct them"},
	KindNoPerm:      {"no-perm", "allow the user its keys and commands: ACL SETUSER NAME ~rl:* +@read +@write +@scripting +@connection +time"},
	KindTLS:         {"tls", "check whether the server speaks TLS there (rediss://), and the CA file and server name"},
	KindOutOfMemory: {"out-of-memory", "raise maxmemory, or set maxmemory-policy volatile-ttl: every limiter key has a TTL"},
	KindWrongType:   {"wrong-type", "something else stands at the limiter's key: choose another prefix, or delete it"},
	KindMaxClients:  {"max-clients", "raise the server's maxclients, or make fewer connections"},
	KindNoScript:    {"no-script", "somebody flushes scripts all the time: look for SCRIPT FLUSH in redis-cli monitor"},
	KindClosed:      {"closed", "the store was closed"},
}

// String is the name in metrics and logs, such as "read-only".
func (k Kind) String() string {
	if k >= kinds {
		k = KindUnexpected
	}
	return kindTexts[k].name
}

// Kinds are all there are, for whoever counts by kind.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}
