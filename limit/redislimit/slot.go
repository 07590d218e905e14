package redislimit

// Slot is the slot of a cluster that key belongs to.
func Slot(key string) int { return slotOf(key) }
