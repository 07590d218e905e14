package limit_test

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func TestJoint(t *testing.T) {
	pass := func(left int64, reset, delay time.Duration) limit.Decision {
		return limit.Decision{OK: true, Limit: 9, Remaining: left, ResetAfter: reset, Delay: delay}
	}
	short := func(retry time.Duration) limit.Decision {
		return limit.Decision{Limit: 7, RetryAfter: retry, ResetAfter: time.Second}
	}
	for _, tt := range []struct {
		name  string
		parts []limit.Decision
		want  limit.Decision
		by    int
	}{
		{"no limits", nil, limit.Decision{OK: true}, -1},
		{"one", []limit.Decision{pass(5, 3, 2)}, limit.Decision{OK: true, Limit: 9, Remaining: 5, ResetAfter: 3, Delay: 2}, 0},
		{"the first with the least left", []limit.Decision{pass(5, 3, 0), pass(2, 1, 4), pass(2, 9, 1)}, limit.Decision{OK: true, Limit: 9, Remaining: 2, ResetAfter: 9, Delay: 4}, 1},
		{"a refused request is not held back", []limit.Decision{pass(5, 3, 8), short(time.Second)}, short(time.Second), 1},
		{"the first with the longest wait", []limit.Decision{short(2), short(3), short(3)}, short(3), 1},
		{"a wait that is known", []limit.Decision{short(limit.Unknown), short(time.Hour), short(limit.Unknown)}, short(time.Hour), 1},
		{"none is known", []limit.Decision{pass(5, 3, 0), short(limit.Unknown), short(limit.Unknown)}, short(limit.Unknown), 1},
		{"never is the worst", []limit.Decision{short(time.Hour), short(limit.Unknown), short(limit.Never), short(limit.Never)}, short(limit.Never), 2},
		{"a reset that is not known", []limit.Decision{pass(2, 5, 0), pass(1, limit.Unknown, 0), pass(3, time.Hour, 0)}, limit.Decision{OK: true, Limit: 9, Remaining: 1, ResetAfter: limit.Unknown}, 1},
	} {
		var j limit.Joint
		for i := range tt.parts {
			j.Add(&tt.parts[i])
		}
		if d, by := j.Decision(); d != tt.want || by != tt.by {
			t.Errorf("%s: %+v by %d, want %+v by %d", tt.name, d, by, tt.want, tt.by)
		}
	}
}

// TestJointIsAll: what is true of buckets is true of their decisions.
func TestJointIsAll(t *testing.T) {
	const now = int64(1_700_000_000e9)
	rule := func(text string) *limit.BucketRule {
		s, err := limit.ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Bucket().Rule()
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}
	rules := []*limit.BucketRule{rule("10/s,burst=20"), rule("1/m,burst=3"), rule("7/s,burst=5")}
	for _, costs := range [][]int64{{1, 1, 1}, {20, 3, 5}, {1, 4, 1}, {0, 0, 0}, {1, 4, 9}, {2, 0, 1}} {
		together, apart := make([]limit.Bucket, 3), make([]limit.Bucket, 3)
		for round := range int64(8) {
			at := now + round*300e6
			all, j, ok := make(limit.All, 3), limit.Joint{}, true
			for i, r := range rules {
				all[i] = limit.Part{Bucket: &together[i], Rule: r, Cost: costs[i]}
				one := apart[i]
				ok = one.Take(r, at, costs[i]).OK && ok
			}
			want, by := all.Take(at)
			for i, r := range rules {
				one := apart[i]
				d := one.Take(r, at, costs[i])
				if !ok || costs[i] == 0 {
					look := apart[i]
					left := look.Take(r, at, 0)
					d.Remaining, d.ResetAfter = left.Remaining, left.ResetAfter
				}
				j.Add(&d)
				if ok {
					apart[i] = one
				}
			}
			if got, of := j.Decision(); got != want || of != by {
				t.Errorf("costs %v, round %d: joint %+v by %d, all %+v by %d", costs, round, got, of, want, by)
			}
		}
	}
}
