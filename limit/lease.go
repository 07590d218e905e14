package limit

// A lease moves tokens of a key's central bucket to a gateway, which then
// decides alone until they are spent: store calls grow with tokens, not with
// requests. There are two designs. A [BlockLease] holds fixed blocks and asks
// ahead, always in the background; a [BatchLease] asks when it has to and
// takes what there is. Each has a gateway's side, a rule with a small state
// per key and gateway, and a store's side, [BlockBook] and [BatchBook], over
// a [Bucket] per key. None of them does I/O: a step says what to
// ask the store, and the caller brings back the answer.

// LeaseStep is what a gateway does with one request.
type LeaseStep uint8

const (
	// LeaseSpend admits: a local token was spent.
	LeaseSpend LeaseStep = iota
	// LeaseSpendAndAsk admits, and a lease is to be asked for in the
	// background.
	LeaseSpendAndAsk
	// LeaseRefuse refuses without the store.
	LeaseRefuse
	// LeaseRefuseAndAsk refuses, and a lease is to be asked for in the
	// background.
	LeaseRefuseAndAsk
	// LeaseAskFirst decides nothing: the request waits for the store's answer,
	// and the same request is put again after it.
	LeaseAskFirst
)

// Admits reports whether the request passes.
func (s LeaseStep) Admits() bool { return s <= LeaseSpendAndAsk }

// Asks reports whether the store is to be called.
func (s LeaseStep) Asks() bool {
	return s == LeaseSpendAndAsk || s == LeaseRefuseAndAsk || s == LeaseAskFirst
}

// String names the step.
func (s LeaseStep) String() string {
	switch s {
	case LeaseSpend:
		return "spend"
	case LeaseSpendAndAsk:
		return "spend and ask"
	case LeaseRefuse:
		return "refuse"
	case LeaseRefuseAndAsk:
		return "refuse and ask"
	case LeaseAskFirst:
		return "ask first"
	}
	return "unknown"
}
