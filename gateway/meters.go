package gateway

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit/metering"
)

// MeterSink takes records. It is called by one goroutine at a time, and again
// with newer totals for what it could not take. A record that it takes twice
// does no harm.
type MeterSink interface {
	Write(ctx context.Context, records []metering.Record) error
	Close() error
}

const (
	// noKey is whom a meter counts requests of nobody known under.
	noKey = "(no key)"
	// meterPatience bounds one delivery.
	meterPatience = 5 * time.Second
	// endTries is how often the last flush is tried.
	endTries = 3
)

// meters count for each gateway of a fleet and flush now and then. Safe for
// concurrent use.
type meters struct {
	sink    MeterSink
	shown   func(key string) string
	clock   func() int64
	all     []*metering.Meter
	records []metering.Record // of the flush in progress; reused
	unsent  atomic.Int64      // flushes that failed
	started bool
	stop    chan struct{}
	stopped sync.WaitGroup
}

// newMeters gives each gateway a name that no process ever has again.
func newMeters(sink MeterSink, gateways, maxKeys int, clock func() int64, shown func(string) string) *meters {
	var life [8]byte
	rand.Read(life[:]) // never fails
	m := &meters{sink: sink, shown: shown, clock: clock, stop: make(chan struct{})}
	for i := range gateways {
		m.all = append(m.all, metering.NewMeter(fmt.Sprintf("%s-%d", hex.EncodeToString(life[:]), i+1), i+1, maxKeys))
	}
	return m
}

// start says that each gateway is there, and flushes from now on.
func (m *meters) start(every time.Duration) {
	m.started = true
	m.stopped.Go(func() { m.flushUntilStopped(every) })
}

func (m *meters) add(gw int, key string, now, units int64) {
	if key == "" {
		key = noKey
	}
	m.all[gw].Add(key, now, units)
}

func (m *meters) flushUntilStopped(every time.Duration) {
	m.records = m.records[:0]
	for _, one := range m.all {
		m.records = append(m.records, one.Begin(m.clock()))
	}
	if m.send() != nil {
		m.unsent.Add(1) // the beats tell the same
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = m.flush((*metering.Meter).Flush) // counted, and made up for by the next
		case <-m.stop:
			return
		}
	}
}

// flush delivers what each meter gives.
func (m *meters) flush(give func(*metering.Meter, int64, []metering.Record) []metering.Record) error {
	m.records = m.records[:0]
	now := m.clock()
	for _, one := range m.all {
		m.records = give(one, now, m.records)
	}
	for i := range m.records {
		if r := &m.records[i]; r.Kind == metering.Total {
			r.Key = m.shown(r.Key)
		}
	}
	err := m.send()
	if err != nil {
		m.unsent.Add(1)
		for _, one := range m.all {
			one.Unsent()
		}
	}
	return err
}

func (m *meters) send() error {
	ctx, cancel := context.WithTimeout(context.Background(), meterPatience)
	defer cancel()
	return m.sink.Write(ctx, m.records)
}

// close says that nothing follows, unless nothing was begun, and closes the
// sink.
func (m *meters) close() error {
	if !m.started {
		return m.sink.Close()
	}
	close(m.stop)
	m.stopped.Wait()
	var err error
	for range endTries {
		if err = m.flush((*metering.Meter).End); err == nil {
			break
		}
	}
	if failed := m.sink.Close(); err == nil {
		err = failed
	}
	return err
}
