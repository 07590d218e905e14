package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/limit/metering"
)

const (
	meterPage  = 1000
	mostMeters = 100_000 // instances that one reading takes in
)

// ReadMeters passes every record that meters keep in Redis to take, in no
// order; bad is how many fields no meter wrote. It reads in pages, and writes
// nothing.
func ReadMeters(ctx context.Context, c redis.UniversalClient, take func(metering.Record)) (bad int, err error) {
	var mu sync.Mutex // a cluster's nodes are scanned side by side
	names := map[string]bool{}
	scan := func(ctx context.Context, node *redis.Client) error {
		for cursor := uint64(0); ; {
			keys, next, err := node.Scan(ctx, cursor, meterPrefix+"*", meterPage).Result()
			if err != nil {
				return err
			}
			mu.Lock()
			for _, k := range keys {
				names[k] = true
			}
			full := len(names) > mostMeters
			mu.Unlock()
			if full {
				return fmt.Errorf("more than %d instances have meters here", mostMeters)
			}
			if cursor = next; cursor == 0 {
				return nil
			}
		}
	}
	switch c := c.(type) {
	case *redis.ClusterClient:
		err = c.ForEachMaster(ctx, scan)
	case *redis.Client:
		err = scan(ctx, c)
	default:
		err = fmt.Errorf("meters cannot be read through a %T", c)
	}
	if err != nil {
		return 0, err
	}
	for name := range names {
		n, err := readMeter(ctx, c, name, take)
		if bad += n; err != nil {
			return bad, err
		}
	}
	return bad, nil
}

func readMeter(ctx context.Context, c redis.UniversalClient, name string, take func(metering.Record)) (bad int, err error) {
	for cursor := uint64(0); ; {
		pairs, next, err := c.HScan(ctx, name, cursor, "*", meterPage).Result()
		if err != nil {
			return bad, err
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			r, err := meterRecord(strings.TrimPrefix(name, meterPrefix), pairs[i], pairs[i+1])
			if err != nil {
				bad++
				continue
			}
			take(r)
		}
		if cursor = next; cursor == 0 {
			return bad, nil
		}
	}
}
