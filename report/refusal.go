package report

// pending is an obedient retry that was refused, waiting until it is certain
// whether anybody else was admitted on its key in the meantime. If nobody was,
// the hint it obeyed was wrong.
type pending struct {
	key         *keyStat
	refusedSent int64  // of the refusal that gave the hint
	first       int64  // of the retry
	next        uint16 // index+1 of the next one of the same key
}

// pendingPerKey is how many retries of one key wait for judgement at a time:
// enough for a short run with one key, few enough to leave room for others.
const pendingPerKey = 16

// dueSlack is how far a retry's due time may be from the one its refusal
// announced and still be taken for the same call.
const dueSlack = int64(1e6)

// refused follows a refusal: the key's stretch, and hints that were not kept.
func (c *Collector) refused(e *Event, k *keyStat, cl *clientStat) {
	c.stretch.refused(k, e.Sent, c.judge.recover)
	if cl == nil {
		return
	}
	if e.Has&Obeyed != 0 && cl.nextDue != 0 && abs(e.Due-cl.nextDue) <= dueSlack &&
		k.bound.first <= cl.refusedSent && k != &c.restKey && c.waiting(k) < pendingPerKey {
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
	c.pend[c.nPend] = pending{k, refusedSent, first, k.pending}
	c.nPend++
	k.pending = uint16(c.nPend)
}

// waiting is how many retries of the key wait for judgement.
func (c *Collector) waiting(k *keyStat) int {
	n := 0
	for at := k.pending; at != 0; at = c.pend[at-1].next {
		n++
	}
	return n
}

// contend lets those of the key's waiting retries go whose place an admission
// sent at sent may have taken.
func (c *Collector) contend(k *keyStat, sent int64) {
	for again := true; again; {
		again = false
		for at := k.pending; at != 0; at = c.pend[at-1].next {
			if sent <= c.pend[at-1].first {
				c.release(int(at) - 1) // moves slots, so start over
				again = true
				break
			}
		}
	}
}

// release frees slot i by moving the last one into it.
func (c *Collector) release(i int) {
	*c.link(i) = c.pend[i].next
	c.nPend--
	if i != c.nPend {
		*c.link(c.nPend) = uint16(i + 1)
		c.pend[i] = c.pend[c.nPend]
	}
	c.pend[c.nPend] = pending{}
}

// link is what points at slot i: its key, or the slot before it.
func (c *Collector) link(i int) *uint16 {
	at := &c.pend[i].key.pending
	for int(*at) != i+1 {
		at = &c.pend[*at-1].next
	}
	return at
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

func (s *stretches) refused(k *keyStat, sent, need int64) {
	if k.refusedRun == 0 {
		k.refusedFrom, k.asked, k.resumed = sent, sent, 0
	}
	if k.long(need) && sent-k.asked >= 10*k.refusedGap() {
		k.resumed = sent // the first after a pause, refused or overtaken
	}
	k.refusedRun++
	k.asked = max(k.asked, sent)
}

// admitted ends a stretch. Only one longer than need counts: by then a limiter
// that keeps its promise has tokens again, whoever knocks. Of the attempts
// that end a pause together a refused one may be answered first, so what was
// sent within a flight of the first of them still counts as after the pause.
func (s *stretches) admitted(k *keyStat, sent, need, flight int64) {
	if k.long(need) {
		s.refusals += uint64(k.refusedRun)
		if sent-k.asked >= 10*k.refusedGap() || k.resumed > 0 && sent-k.resumed <= flight {
			s.paused++
		} else {
			s.knocking++
		}
	}
	k.refusedRun = 0
}

// long reports a stretch of refusals that lasted longer than need.
func (k *keyStat) long(need int64) bool {
	return need > 0 && k.refusedRun >= stretchMin && k.asked-k.refusedFrom > need
}

// refusedGap is the mean time between the refusals of the stretch.
func (k *keyStat) refusedGap() int64 { return (k.asked - k.refusedFrom) / int64(k.refusedRun-1) }
