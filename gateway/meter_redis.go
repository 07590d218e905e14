package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/limit/metering"
)

const (
	meterPrefix = "rl:meter:"
	// MeterKeep is how long Redis keeps an instance's totals after its last
	// flush. What bills must have read them by then.
	MeterKeep  = 35 * 24 * time.Hour
	meterBatch = 500 // fields of one script call
)

// meterScript writes each field unless it has a newer value: a call that was
// given up may be executed late.
var meterScript = redis.NewScript(`
for i = 2, #ARGV, 3 do
  local old = redis.call('HGET', KEYS[1], ARGV[i])
  local seq = old and tonumber(string.match(old, '^(%d+) '))
  if not seq or seq < tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`)

// MeterRedis keeps records in Redis: one hash for each instance, one field for
// each running total, with absolute values.
type MeterRedis struct{ c redis.UniversalClient }

// NewMeterRedis writes with c, and closes it in the end.
func NewMeterRedis(c redis.UniversalClient) *MeterRedis { return &MeterRedis{c} }

// Write stores records, an instance's in one call of at most meterBatch.
func (m *MeterRedis) Write(ctx context.Context, records []metering.Record) error {
	for len(records) > 0 {
		n := 1
		for n < len(records) && n < meterBatch && records[n].Instance == records[0].Instance {
			n++
		}
		args := make([]any, 0, 1+3*n)
		args = append(args, MeterKeep.Milliseconds())
		for i := range records[:n] {
			r := &records[i]
			args = append(args, meterField(r), r.Seq, meterValue(r))
		}
		if err := meterScript.Run(ctx, m.c, []string{meterPrefix + records[0].Instance}, args...).Err(); err != nil {
			return err
		}
		records = records[n:]
	}
	return nil
}

// Close closes the connection.
func (m *MeterRedis) Close() error { return m.c.Close() }

func meterField(r *metering.Record) string {
	if r.Kind != metering.Total {
		return string(r.Kind)
	}
	return string(metering.Total) + " " + strconv.FormatInt(r.Start, 10) + " " + r.Key
}

func meterValue(r *metering.Record) string {
	return fmt.Sprintf("%d %d %d %d %d", r.Seq, r.Units, r.Requests, r.Gateway, r.At.UnixNano())
}

var errMeterField = errors.New("not a field that a meter writes")

// meterRecord is the inverse of meterField and meterValue.
func meterRecord(instance, field, value string) (r metering.Record, err error) {
	r.Instance, r.Kind = instance, metering.Kind(field)
	if kind, rest, ok := strings.Cut(field, " "); ok {
		start, key, ok := strings.Cut(rest, " ")
		if r.Kind, r.Key = metering.Kind(kind), key; !ok || r.Kind != metering.Total {
			return r, errMeterField
		}
		if r.Start, err = strconv.ParseInt(start, 10, 64); err != nil {
			return r, errMeterField
		}
	}
	parts := strings.Split(value, " ")
	if len(value) > 200 || len(parts) != 5 {
		return r, errMeterField
	}
	var n [5]int64
	for i, p := range parts {
		if n[i], err = strconv.ParseInt(p, 10, 64); err != nil {
			return r, errMeterField
		}
	}
	r.Seq, r.Units, r.Requests, r.Gateway, r.At = n[0], n[1], n[2], int(n[3]), time.Unix(0, n[4]).UTC()
	return r, r.Check()
}
