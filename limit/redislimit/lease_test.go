package redislimit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// leases is the store's side of one key under one rule.
type leases struct {
	t           *testing.T
	c           redis.UniversalClient
	key         string
	r           *Rule
	lease, give *Script
}

func newLeases(t *testing.T, c redis.UniversalClient, key, text string) *leases {
	r := compile(t, text)
	return &leases{t, c, "rl:{leases}:" + key, r, outlive(t, leaseScript(r)), outlive(t, giveScript(r))}
}

func (l *leases) take(now, block, least int64) Lease {
	l.t.Helper()
	if err := checkLease(l.key, l.r, block, least); err != nil {
		l.t.Fatal(err)
	}
	keys, args := encodeLease(nil, now, l.key, l.r, block, least)
	reply, err := run(l.c, l.lease, keys, args)
	if err != nil {
		l.t.Fatal(err)
	}
	got, err := decodeLease(reply, l.r)
	if err != nil {
		l.t.Fatal(err)
	}
	if got.At != now || got.Unreadable {
		l.t.Fatalf("%+v at %d", got, now)
	}
	return got
}

func (l *leases) back(now, n int64) (remaining int64) {
	l.t.Helper()
	keys, args := encodeGive(nil, now, l.key, l.r, n)
	reply, err := run(l.c, l.give, keys, args)
	if err != nil {
		l.t.Fatal(err)
	}
	remaining, at, err := decodeGive(reply)
	if err != nil || at != now {
		l.t.Fatalf("gave back at %d, not %d: %v", at, now, err)
	}
	return remaining
}

func TestLeaseSteps(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		for _, text := range []string{"10/s,burst=20", "gcra:rate=10/s,burst=20", "leaky-meter:rate=10/s,burst=20"} {
			l := newLeases(t, server.Client(t), "steps-"+text, text)
			const ms = int64(time.Millisecond)
			for i, s := range []struct {
				at, block, least int64
				granted          int64
				wait             time.Duration
				remaining        int64
			}{
				{0, 12, 12, 12, 0, 8},
				{0, 12, 12, 0, 400 * time.Millisecond, 8}, // a whole block or nothing
				{0, 12, 9, 0, 100 * time.Millisecond, 8},
				{0, 12, 8, 8, 0, 0}, // as much as there is
				{0, 12, 1, 0, 100 * time.Millisecond, 0},
				{250, 12, 1, 2, 0, 0},    // whole tokens
				{300, 12, 1, 1, 0, 0},    // and the half that was left
				{5000, 50, 20, 20, 0, 0}, // a block above the burst
				{5000, 50, 21, 0, limit.Never, 0},
				{5000, math.MaxInt64, math.MaxInt64, 0, limit.Never, 0},
				{4000, 1, 1, 0, 1100 * time.Millisecond, 0}, // the clock steps back
			} {
				got := l.take(epoch+s.at*ms, s.block, s.least)
				want := Lease{Granted: s.granted, Wait: s.wait, Remaining: s.remaining, At: epoch + s.at*ms}
				if got != want {
					t.Errorf("%s, step %d:\n got %+v\nwant %+v", text, i, got, want)
				}
			}
			if n := l.back(epoch+5000*ms, 7); n != 7 {
				t.Errorf("%s: %d after 7 came back", text, n)
			}
			if n := l.back(epoch+5000*ms, math.MaxInt64); n != 20 {
				t.Errorf("%s: %d after more than the burst came back", text, n)
			}
		}
	})
}

// The scripts are the store's side of leases in blocks and in batches.
func TestLeasesAreTheBooks(t *testing.T) {
	const text, block = "10/s,burst=60", 12
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		blocks := newLeases(t, server.Client(t), "blocks", text)
		batches := newLeases(t, server.Client(t), "batches", text)
		spec := blocks.r.spec.Bucket()
		book, err := limit.NewBlockBook(spec, block, 4)
		if err != nil {
			t.Fatal(err)
		}
		batch, err := limit.NewBatchBook(spec)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := spec.Rule()
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 3))
		clock := pace{now: epoch, high: epoch}
		var a limit.Bucket
		b := make([]limit.Bucket, 1)
		granted := 0
		for i := range 2000 {
			now := clock.step(r)
			if r.IntN(4) == 0 {
				n := r.Int64N(block + 1)
				book.GiveBack(&a, now, n)
				if n > 0 {
					blocks.back(now, n)
				}
			}
			before := a
			want, _ := book.Lease(&a, now)
			got := blocks.take(now, block, block)
			if got.Granted != want || got.Remaining != book.Tokens(&a, now) {
				t.Fatalf("lease %d: %+v, want %d", i, got, want)
			}
			if want == 0 {
				alone := before.Take(&rule, now, block)
				if got.Wait != inMicros(alone.RetryAfter) {
					t.Fatalf("lease %d waits %v, want %v", i, got.Wait, alone.RetryAfter)
				}
			} else {
				granted++
			}
			now -= now % 1e6 // a batch book's clock
			wanted := 1 + r.Int64N(80)
			some, wait := batch.Lease(b, now, wanted)
			g := batches.take(now, wanted, 1)
			if g.Granted != some || g.Remaining != batch.Tokens(0, &b[0], now) || (g.Wait+999_999)/1e6*1e6 != wait {
				t.Fatalf("batch %d of %d: %+v, want %d or to wait %v", i, wanted, g, some, wait)
			}
		}
		if granted < 100 || granted > 1900 {
			t.Errorf("%d of 2000 leases granted", granted)
		}
	})
}

// Tokens of a rule that has been slowed down since go back to the bucket as it
// is now: it does not fill at the old rate, and lives as long as before.
func TestGivingBackAfterAChange(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		old, now := newLeases(t, c, "k", "1000/s,burst=100"), newLeases(t, c, "k", "1/h,burst=50")
		if got := old.take(epoch, 10, 10); got.Granted != 10 {
			t.Fatalf("%+v", got)
		}
		if got := now.take(epoch+1e6, 50, 50); got.Granted != 50 {
			t.Fatalf("%+v", got)
		}
		if left := old.back(epoch+1e6+int64(10*time.Second), 9); left != 9 {
			t.Errorf("%d are there after 9 came back", left)
		}
		if life := server.Client(t).PTTL(t.Context(), now.key).Val(); life < 40*time.Hour {
			t.Errorf("the bucket lives for %v, and takes 41 h to be full", life)
		}
		if got := now.take(epoch+2e6+int64(10*time.Second), 50, 1); got.Granted != 9 {
			t.Errorf("%+v, want the 9 that came back", got)
		}
	})
}

func TestLeasesThatAreNone(t *testing.T) {
	r, queue := compile(t, "10/s,burst=20"), compile(t, "leaky-queue:rate=10/s,queue=20")
	if !r.Gives() || queue.Gives() {
		t.Error("a bucket takes tokens back and a queue does not")
	}
	for _, tt := range []struct {
		key          string
		r            *Rule
		block, least int64
		ok           bool
	}{
		{"k", r, 5, 5, true},
		{"k", r, 5, 1, true},
		{"k", r, math.MaxInt64, 1, true},
		{"", r, 5, 5, false},
		{"k", nil, 5, 5, false},
		{"k", queue, 5, 5, false},
		{"k", r, 5, 6, false},
		{"k", r, 5, 0, false},
		{"k", r, math.MinInt64, math.MinInt64, false},
	} {
		if err := checkLease(tt.key, tt.r, tt.block, tt.least); (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	for _, reply := range []any{
		nil, "OK", []any{}, []any{int64(1), int64(21), int64(0), int64(0), int64(0)},
		[]any{int64(1), int64(0), int64(0), int64(0), int64(0)},
		[]any{int64(1), int64(5), int64(7), int64(0), int64(0)},
		[]any{int64(1), int64(5), int64(0), int64(-1), int64(0)},
		[]any{int64(-1), int64(5), int64(0), int64(1), int64(0)},
		[]any{"1", int64(5), int64(0), int64(1), int64(0)},
		[]any{errors.New("x"), int64(5), int64(0), int64(1), int64(0)},
	} {
		if l, err := decodeLease(reply, r); err == nil {
			t.Errorf("%v was read as %+v", reply, l)
		}
	}
	if _, _, err := decodeGive([]any{int64(1), fmt.Sprint(2), int64(0)}); err == nil {
		t.Error("text was read as a number")
	}
}
