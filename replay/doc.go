// Package replay runs recorded traffic again: through a limit in memory, to
// see what it would have refused, or through somebody's limiter script on a
// Redis, to see whether it keeps what it promises.
//
// A [Source] reads a trace of any form as a stream of [Call]s. [Shadow] sends
// them through a limit. Memory grows with the keys of a trace, never with its
// length.
package replay
