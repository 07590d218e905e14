// Package doctor finds what is wrong with the state of rate limiters, and with
// the servers that keep it.
//
// An [Examiner] is shown states and servers, one after the other, and gives one
// [Finding] for each [Check] that found something. It decides from what it is
// shown alone and asks nobody; what it keeps is bounded. [Gather] reads what
// servers say of themselves.
package doctor
