package gateway

import (
	"io"
	"time"

	"github.com/weir-cli/weir/gateway/journal"
	"github.com/weir-cli/weir/limit/metering"
)

// Observe says what of a fleet is seen from outside. The zero value is GET
// /-/healthz and nothing else.
type Observe struct {
	Metrics bool // keep figures for Prometheus; see [Fleet.Metrics]
	// Open lets every gateway answer GET /-/metrics, to this machine, and sets
	// Metrics.
	Open bool

	Log       io.Writer // of decisions; nil keeps none
	LogSample float64   // share of decisions in it, from 0 to 1
	Seed      int64     // of the sample

	// Meter takes what each key used, apart from what limits it. nil meters
	// nothing.
	Meter      MeterSink
	MeterEvery time.Duration // 0 is 5 s
}

const defaultMeterEvery = 5 * time.Second

func (o *Observe) check() error {
	if !(o.LogSample >= 0 && o.LogSample <= 1) { // NaN fails as well
		return &ConfigError{"decision sample", "", "want a share from 0 to 1"}
	}
	if o.MeterEvery < 0 {
		return &ConfigError{"meter interval", o.MeterEvery.String(), "must not be negative"}
	}
	o.Metrics = o.Metrics || o.Open
	if o.MeterEvery == 0 {
		o.MeterEvery = defaultMeterEvery
	}
	return nil
}

// names hides keys and addresses where they are real callers'.
type names struct{ hash bool }

func (n names) caller(c journal.Caller) journal.Caller {
	if n.hash {
		if c.Key != "" {
			c.Key = hashed(c.Key)
		}
		if c.Address != "" {
			c.Address = HashedAddress(c.Address)
		}
	}
	return c
}

// metered is a key as meters name it. Its hash is longer than that of other
// places, which it begins with, since two customers must never share a bill.
func (n names) metered(key string) string {
	if n.hash && key != noKey && key != metering.OtherKey {
		return HashedKey(key)
	}
	return key
}
