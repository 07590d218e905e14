package sim

// agenda holds what is due when. What is due at one instant comes in the order
// in which it was put there. The zero value is empty.
type agenda[T any] struct {
	heap []due[T]
	seq  uint64
}

type due[T any] struct {
	at   Micros
	seq  uint64
	what T
}

func (d *due[T]) before(e *due[T]) bool {
	return d.at < e.at || d.at == e.at && d.seq < e.seq
}

// add puts what on the agenda.
func (a *agenda[T]) add(at Micros, what T) {
	a.seq++
	a.heap = append(a.heap, due[T]{at, a.seq, what})
	for i := len(a.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !a.heap[i].before(&a.heap[up]) {
			return
		}
		a.heap[i], a.heap[up] = a.heap[up], a.heap[i]
		i = up
	}
}

// peek is when the next is due; never when there is nothing.
func (a *agenda[T]) peek() Micros {
	if len(a.heap) == 0 {
		return never
	}
	return a.heap[0].at
}

// next takes the next off the agenda, which must not be empty.
func (a *agenda[T]) next() (Micros, T) {
	first := a.heap[0]
	n := len(a.heap) - 1
	a.heap[0] = a.heap[n]
	a.heap = a.heap[:n]
	for i := 0; ; {
		least := 2*i + 1
		if least >= n {
			break
		}
		if least+1 < n && a.heap[least+1].before(&a.heap[least]) {
			least++
		}
		if !a.heap[least].before(&a.heap[i]) {
			break
		}
		a.heap[i], a.heap[least] = a.heap[least], a.heap[i]
		i = least
	}
	return first.at, first.what
}
