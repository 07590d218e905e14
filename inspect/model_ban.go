package inspect

import "math"

// The model "ban": a key that is there while every call of the caller is
// refused. What is counted until it comes to that is in keys of its own.

func checkBan(l *Layout) string {
	if l.Keys[0].Type != "string" {
		return "needs a string"
	}
	return ""
}

func decodeBan(f *frame) *verdict {
	f.r.Algorithm = "ban"
	until := f.now
	if e := f.main(); e != nil {
		until = f.alive(e)
		f.r.BlockedUntil = &until
	}
	return &verdict{most: math.MaxInt64, any: true, passes: func(at, _ int64) bool { return at >= until }}
}
