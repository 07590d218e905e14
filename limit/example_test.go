package limit_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/weir-cli/weir/limit"
)

func ExampleParseSpec() {
	spec, err := limit.ParseSpec("10/s,burst=20")
	fmt.Println(spec.Algorithm, spec.Burst, err)

	_, err = limit.ParseSpec("fixed-window:limit=0,window=60s")
	fmt.Println(err)
	var bad *limit.SpecError
	if errors.As(err, &bad) {
		fmt.Println("hint:", bad.Hint)
	}
	// Output:
	// token-bucket 20 <nil>
	// limit: limit "0" must be above zero
	// hint: fixed-window:limit=600,window=60s
}

func ExampleStore() {
	spec, _ := limit.ParseSpec("10/s,burst=2")
	limiter, _ := spec.New()
	store := limit.NewStore(limiter, limit.StoreOptions{})
	for _, now := range []time.Duration{0, 0, 0, 100 * time.Millisecond} {
		d := store.Take("k-7", int64(now), 1)
		fmt.Println(d.OK, d.Remaining, d.RetryAfter)
	}
	// Output:
	// true 1 0s
	// true 0 0s
	// false 0 100ms
	// true 0 0s
}
