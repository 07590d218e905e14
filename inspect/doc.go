// Package inspect reads what rate limiters keep in Redis, whoever wrote it,
// and says what they would answer.
//
// A [Layout] describes how one writer keeps its state: the names of its keys,
// what their values look like, and the model by which they decide. Layouts are
// data, in layouts/*.yaml and in files of the user; only values that are no
// numbers, fields or members need code of their own.
//
// Reading and deciding are apart. A [Reader] reads keys, with plain reads
// alone; [Identify] finds whose they are; [Decode] makes of them a [Reading]
// at a given time and asks nobody. Everything read is taken to be hostile:
// sizes are bounded, and numbers are checked before they are used.
package inspect
