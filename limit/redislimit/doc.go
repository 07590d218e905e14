// Package redislimit keeps the limiters of package limit in Redis, where many
// gateways share them. Each check is one script call on the store's own clock,
// decides as the pure limiter does on the same trace in microseconds, and
// writes nothing unless all of a request's limits can be read.
//
// A limit's state is one key, such as rl:{k-7}:requests (see [Key]): the tag
// in braces keeps all of a customer's limits on one node, the rule's name
// comes last, and its version never stands in it, so that a changed rule goes
// on with the state that is there. Every write sets a time to live of at least
// the time in which the state ceases to matter. Numbers are written as whole
// decimal digits and stay below 2^53, where a script's arithmetic is exact;
// a limit that needs more is refused by [Compile].
//
// State that cannot be read as its own counts as used up: the next write
// replaces it, and no more passes than the limit would let through.
package redislimit
