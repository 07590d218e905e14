package report

// pending is an obedient retry that was refused, waiting until it is certain
// whether anybody else was admitted on its key in the meantime. If nobody was,
// the hint it obeyed was wrong.
type pending struct {
	key         *keyStat
	refusedSent int64 // of the refusal that gave the hint
	first       int64 // of the retry
}

// dueSlack is how far a retry's due time may be from the one its refusal
// announced and still be taken for the same call.
const dueSlack = int64(1e6)

// refused follows a refusal: the key's stretch, and hints that were not kept.
func (c *Collector) refused(e *Event, k *keyStat, cl *clientStat) {
	c.stretch.refused(k, e.Sent)
	if cl == nil {
		return
	}
	if e.Has&Obeyed != 0 && cl.nextDue != 0 && abs(e.Due-cl.nextDue) <= dueSlack &&
		k.bound.first < cl.refusedSent && k.pending == 0 && k != &c.restKey {
		c.await(k, cl.refusedSent, e)
	}
	cl.nextDue = 0
	if e.Has&HasRetryAfter != 0 && e.Wait >= 0 {
		cl.refusedSent, cl.nextDue = e.Sent, e.Done+e.Wait
	}
}

func abs(v int64) int64 { return max(v, -v) }

// await keeps the retry for judgement. When every slot is taken it is left
// out; enough others are judged.
func (c *Collector) await(k *keyStat, refusedSent int64, e *Event) {
	if c.nPend == len(c.pend) {
		return
	}
	first := e.First
	if e.Has&HasFirst == 0 {
		first = e.Done
	}
	c.pend[c.nPend] = pending{k, refusedSent, first}
	c.nPend++
	k.pending = uint16(c.nPend)
}

// contend lets the key's waiting retry go if an admission sent at sent may
// have taken its place.
func (c *Collector) contend(k *keyStat, sent int64) {
	if i := int(k.pending) - 1; sent <= c.pend[i].first {
		c.release(i)
	}
}

// release frees slot i by moving the last one into it.
func (c *Collector) release(i int) {
	c.pend[i].key.pending = 0
	c.nPend--
	if i != c.nPend {
		c.pend[i] = c.pend[c.nPend]
		c.pend[i].key.pending = uint16(i + 1)
	}
	c.pend[c.nPend] = pending{}
}

// settle judges the retries that no admission done after edge can excuse.
func (c *Collector) settle(edge int64) {
	for i := c.nPend - 1; i >= 0; i-- {
		if c.pend[i].first < edge-c.horizon() {
			c.sole++
			c.release(i)
		}
	}
}

// stretchMin is how many refusals make a stretch.
const stretchMin = 10

// stretches counts how long stretches of refusals ended: while the clients
// went on knocking, or only after they had paused.
type stretches struct {
	knocking, paused, refusals uint64
}

func (s *stretches) refused(k *keyStat, sent int64) {
	if k.refusedRun == 0 {
		k.refusedFrom, k.asked = sent, sent
	}
	k.refusedRun++
	k.asked = max(k.asked, sent)
}

// admitted ends a stretch. Only one longer than need counts: by then a limiter
// that keeps its promise has tokens again, whoever knocks.
func (s *stretches) admitted(k *keyStat, sent, need int64) {
	if need > 0 && k.refusedRun >= stretchMin && k.asked-k.refusedFrom > need {
		gap := (k.asked - k.refusedFrom) / int64(k.refusedRun-1)
		s.refusals += uint64(k.refusedRun)
		if sent-k.asked >= 10*gap {
			s.paused++
		} else {
			s.knocking++
		}
	}
	k.refusedRun = 0
}
