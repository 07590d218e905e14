package main

import (
	"context"

	"github.com/weir-cli/weir/inspect"
)

// storeKeys is how many of a plan's keys are read in the limiter's store.
const storeKeys = 16

// watchStore reads, while the run goes on, what the limiter keeps of the plan's
// first keys. Keys from a file may be secrets and are not looked for. done ends
// it.
func (r *loadRun) watchStore(ctx context.Context, flags *redisFlags) (done func(), err error) {
	var ids []string
	for i := range uint32(min(r.plan.NKeys(), storeKeys)) {
		if key := string(r.plan.AppendKey(nil, i)); key == r.plan.KeyLabel(i) {
			ids = append(ids, key)
		}
	}
	if len(ids) == 0 {
		return nil, usagef("leave --redis out", "--redis shows generated keys, and those of this run are from a file")
	}
	client, err := flags.open(ctx, r.app)
	if err != nil {
		return nil, err
	}
	q := inspect.Query{IDs: ids, Layouts: inspect.Builtin()}
	if r.promise != nil {
		told := r.spec
		q.Told = &told
	}
	r.kept = newWatchedKeys(inspect.NewReader(client, inspect.ReaderOptions{}), q, watchEvery)
	r.kept.narrow = true
	if err := r.kept.look(ctx); err != nil {
		_ = client.Close() // why it cannot be read is known already
		return nil, inspectError(err)
	}
	ctx, end := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		r.kept.follow(ctx, func(error) {})
	}()
	return func() {
		end()
		<-stopped
		_ = client.Close() // reads alone were sent
	}, nil
}
