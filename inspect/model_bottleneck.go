package inspect

import (
	"fmt"
	"math"

	"github.com/weir-cli/weir/limit"
)

// bottleneckSettings are the numbers of a Bottleneck cluster's settings; what
// is not set is NaN. Times are unix ms.
type bottleneckSettings struct {
	maxConcurrent, minTime, reservoir, running, next, unblock   float64
	refreshEvery, refreshTo, refreshed                          float64
	increaseEvery, increaseBy, increaseTo, increased, strategy3 float64
	clientTimeout                                               float64
}

// bottleneckJob is a job that runs.
type bottleneckJob struct {
	weight float64
	until  float64 // ms, when it is given up; +Inf for never
}

// decodeBottleneck is a scheduler of jobs: how many may run, how many may still
// start before the reservoir is filled, and when the next may start.
func decodeBottleneck(f *frame) *verdict {
	f.r.Algorithm = limit.Concurrency.String()
	e := f.main()
	if e == nil {
		return nil
	}
	s, ok := f.bottleneckSettings(e)
	if !ok {
		return nil
	}
	jobs := f.bottleneckJobs(&s)
	most := int64(1)
	if m := math.Min(orInf(s.maxConcurrent), math.Max(orInf(s.reservoir), math.Max(noneIfNaN(s.refreshTo), noneIfNaN(s.increaseTo)))); m < 1<<53 {
		most = floorInt(math.Max(m, 0))
	} else {
		f.r.note("Nothing limits how many jobs run, only when the next may start.")
	}
	if !math.IsNaN(s.maxConcurrent) {
		f.setLimit(limit.Spec{Algorithm: limit.Concurrency, Limit: floorInt(s.maxConcurrent)}, "state")
		f.r.note(fmt.Sprintf("%g of %g jobs run.", s.running, s.maxConcurrent))
	}
	if !math.IsNaN(s.reservoir) {
		f.r.note(fmt.Sprintf("%g jobs may start before the reservoir is filled again.", s.reservoir))
	}
	used := floorInt(s.running)
	f.r.Used = &used
	blocked := s.strategy3 == 3
	passes := func(at, cost int64) bool {
		now := math.Floor(float64(at) / 1e6)
		if now < s.next || blocked && s.unblock >= now {
			return false
		}
		return s.capacity(jobs, now) >= float64(cost)
	}
	return &verdict{most: most, passes: passes, slots: s.waitsForJobs(jobs, f.now)}
}

// waitsForJobs reports whether a job must end before the next can start, which
// no time tells.
func (s *bottleneckSettings) waitsForJobs(jobs []bottleneckJob, now int64) bool {
	return s.capacity(jobs, float64(now)/1e6+maxWait.Seconds()*1e3) < 1
}

// capacity is the weight that may start at a time in ms.
func (s *bottleneckSettings) capacity(jobs []bottleneckJob, now float64) float64 {
	running := s.running
	for _, j := range jobs {
		if j.until < now {
			running -= j.weight
		}
	}
	left := s.reservoir
	if !math.IsNaN(s.refreshEvery) && !math.IsNaN(s.refreshTo) && now >= s.refreshed+s.refreshEvery {
		left = s.refreshTo
	}
	if !math.IsNaN(s.increaseEvery) && !math.IsNaN(s.increaseBy) && s.increaseEvery > 0 && now >= s.increased+s.increaseEvery {
		more := s.increaseBy * math.Floor((now-s.increased)/s.increaseEvery)
		have := left
		if math.IsNaN(have) {
			have = 0
		}
		if !math.IsNaN(s.increaseTo) {
			more = math.Min(more, s.increaseTo-have)
		}
		if more > 0 {
			left = have + more
		}
	}
	return math.Min(orInf(s.maxConcurrent)-running, orInf(left))
}

// bottleneckSettings reads the hash of settings.
func (f *frame) bottleneckSettings(e *Entry) (s bottleneckSettings, ok bool) {
	for name, to := range map[string]*float64{
		"maxConcurrent": &s.maxConcurrent, "minTime": &s.minTime, "reservoir": &s.reservoir, "running": &s.running,
		"nextRequest": &s.next, "unblockTime": &s.unblock, "strategy": &s.strategy3, "clientTimeout": &s.clientTimeout,
		"reservoirRefreshInterval": &s.refreshEvery, "reservoirRefreshAmount": &s.refreshTo, "lastReservoirRefresh": &s.refreshed,
		"reservoirIncreaseInterval": &s.increaseEvery, "reservoirIncreaseAmount": &s.increaseBy,
		"reservoirIncreaseMaximum": &s.increaseTo, "lastReservoirIncrease": &s.increased,
	} {
		*to = math.NaN()
		if text := e.Fields[name]; text != "" && text != "null" {
			n, ok := f.number(text, "The setting "+name)
			if !ok {
				return s, false
			}
			*to = n.double
		}
	}
	if math.IsNaN(s.running) {
		s.running = 0
	}
	if math.IsNaN(s.next) {
		s.next = 0
	}
	if s.running < 0 {
		f.r.problem("negative", fmt.Sprintf("The weight that runs is below zero: %g.", s.running))
	}
	if !math.IsNaN(s.reservoir) && s.reservoir < 0 {
		f.r.problem("negative", fmt.Sprintf("The reservoir is below zero: %g.", s.reservoir))
	}
	if wait := s.next - float64(f.now)/1e6; wait > 0 && wait < maxWait.Seconds()*1e3 {
		f.r.note(fmt.Sprintf("The next job may start in %s.", shownWait(int64(wait*1e6))))
	}
	return s, true
}

// bottleneckJobs are the jobs that run and end by themselves; it tells of
// those that never will.
func (f *frame) bottleneckJobs(s *bottleneckSettings) []bottleneckJob {
	weights, expire := f.keys["weights"], f.keys["expirations"]
	if weights == nil || weights.Type != "hash" {
		return nil
	}
	until := map[string]float64{}
	if expire != nil {
		for _, m := range expire.Members {
			until[m.Name] = m.Score
		}
	}
	sum, forever := 0.0, 0
	var jobs []bottleneckJob
	for job, text := range weights.Fields {
		n, ok := parseNumber(text)
		if !ok {
			continue
		}
		sum += n.double
		if end, ok := until[job]; ok {
			jobs = append(jobs, bottleneckJob{n.double, end})
		} else {
			forever++
		}
	}
	if sum != s.running && !weights.Truncated {
		f.r.problem("sums-differ", fmt.Sprintf("%g run by the settings, and the jobs' weights are %g.", s.running, sum))
	}
	if silent := f.silentClients(s.clientTimeout); forever > 0 && silent > 0 {
		f.r.problem("stuck-jobs", fmt.Sprintf("%d jobs have no expiration, and %d clients have been silent for too long: a job whose process has ended runs for ever, and holds its place.", forever, silent))
	}
	return jobs
}

// silentClients is how many clients that run jobs were last seen longer ago
// than the timeout, in ms.
func (f *frame) silentClients(timeout float64) int {
	seen, running := f.keys["seen"], f.keys["client-running"]
	if seen == nil || running == nil || math.IsNaN(timeout) {
		return 0
	}
	busy := map[string]bool{}
	for _, m := range running.Members {
		busy[m.Name] = m.Score > 0
	}
	n := 0
	for _, m := range seen.Members {
		if busy[m.Name] && m.Score <= float64(f.now)/1e6-timeout {
			n++
		}
	}
	return n
}

func orInf(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(1)
	}
	return v
}

func noneIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}
