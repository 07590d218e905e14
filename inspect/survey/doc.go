// Package survey looks at all keys of a server or of a cluster, at a pace that
// leaves it alone, and adds up what rate limiters keep there.
//
// Keys are listed with SCAN and read in pipelines of plain reads. What is kept
// of them is bounded however many there are and whatever they hold: sums,
// tables with a row for the rest, and the foremost of each order. A key that
// SCAN gives twice, as it may while a server resizes its tables, counts twice.
package survey
