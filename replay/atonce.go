package replay

import (
	"context"
	"io"
	"sync"
	"time"
)

// batch is what one worker sends together.
type batch struct {
	items []*item
	err   error
}

// atOnce replays over several connections. A key's calls stay on one of them,
// in their order.
func (s *session) atOnce(ctx context.Context, src *Source) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n, pipeline := max(s.Connections, 1), max(s.Pipeline, 1)
	work := make([]chan *batch, n)
	done := make(chan *batch, 2*n)
	var workers sync.WaitGroup
	for i := range work {
		work[i] = make(chan *batch, 1)
		workers.Go(func() {
			for b := range work[i] {
				if b.err = s.send(ctx, 0, b.items); b.err == nil && len(s.Halves) > 1 {
					b.err = s.second(ctx, b.items)
				}
				done <- b
			}
		})
	}
	waiting := make([]*batch, n)
	flying := 0
	var failed error
	settle := func(b *batch) {
		flying--
		if b.err != nil {
			if failed == nil {
				failed = b.err
			}
			return
		}
		for _, it := range b.items {
			if err := s.settle(ctx, it); err != nil && failed == nil {
				failed = err
			}
		}
	}
	push := func(i int) {
		b := waiting[i]
		waiting[i] = nil
		for b != nil {
			select {
			case work[i] <- b:
				flying++
				b = nil
			case d := <-done:
				settle(d)
			}
		}
	}
	var c Call
	var err error
	for failed == nil {
		if err = src.Next(&c); err != nil {
			break
		}
		if s.script.Calls == 0 {
			if err = s.prepare(ctx, &c, src.in.relative); err != nil {
				break
			}
		}
		it := s.newItem(&c)
		if s.Speed > 0 && time.Until(s.started.Add(time.Duration(float64(it.at-s.base)/s.Speed))) > 0 {
			for i := range waiting { // what is due leaves before the wait
				push(i)
			}
		}
		if err = s.pace(ctx, it); err != nil {
			break
		}
		if s.Drill.due(it.at - s.base) {
			for i := range waiting {
				push(i)
			}
			for flying > 0 {
				settle(<-done)
			}
			if err = s.Drill.at(ctx, s, it.at-s.base); err != nil {
				break
			}
		}
		i := int(it.id) % n
		if waiting[i] == nil {
			waiting[i] = &batch{}
		}
		waiting[i].items = append(waiting[i].items, it)
		if len(waiting[i].items) >= pipeline {
			push(i)
		}
		if err = s.tell(ctx); err != nil {
			break
		}
	}
	for i := range waiting {
		if failed == nil && ctx.Err() == nil {
			push(i)
		}
		close(work[i])
	}
	for flying > 0 {
		settle(<-done)
	}
	workers.Wait()
	switch {
	case failed != nil:
		return failed
	case err == io.EOF:
		return nil
	}
	return err
}
