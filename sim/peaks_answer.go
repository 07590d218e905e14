package sim

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
)

// answer is what a refusal told the client: nothing, or a Retry-After.
func (p *peaks) answer() *dialect.Answer {
	if p.Told <= 0 {
		return nil
	}
	h := dialect.Hint{Has: true, Wait: time.Duration(p.Told) * time.Microsecond, Source: dialect.RetryAfter, Unit: dialect.Seconds}
	return &dialect.Answer{Wait: h, Retry: h, Limited: true}
}
