package sim

import (
	"context"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// honour is a closed loop of workers on a central bucket, who come back at
// once or when they were told to.
type honour struct {
	Rate         Rate   `yaml:"rate" about:"of the bucket"`
	Burst        int64  `yaml:"burst" about:"of the bucket, full at the start"`
	Workers      int64  `yaml:"workers" about:"callers with one request at a time each"`
	Stagger      Micros `yaml:"stagger" about:"worker w sends first at w times this"`
	Answer       Micros `yaml:"answer" about:"time from a request to its answer"`
	Length       Micros `yaml:"length" about:"requests before this count; time zero is 09:00:00"`
	Honour       bool   `yaml:"honour" about:"refused workers wait Retry-After whole seconds; else they send again at the answer"`
	AnswerJitter Micros `yaml:"answer_jitter" about:"each answer comes randint(-j, j) microseconds later; 0 draws nothing"`
	WaitJitter   Micros `yaml:"wait_jitter" about:"each Retry-After wait is randint(0, j) microseconds longer; 0 draws nothing"`
	Seed         int64  `yaml:"seed" about:"of the draws, as in Python's random.Random"`
}

func honourKind() Kind {
	return Kind{
		Name:  "closed-loop",
		About: "Workers on a central bucket who honour Retry-After, or do not",
		Rules: []string{
			"a request is decided when it is sent; its answer arrives later",
			"an allowed worker sends again at the answer, a refused one as its client does",
			"events at equal times run in the order in which they were set off",
			"the answer's jitter is drawn for each request after its check, then that of the wait",
		},
		Figures: []FigureInfo{
			{"requests", "requests", "requests sent"},
			{"admitted", "requests", "requests that pass"},
			{"refused", "requests", "requests that are refused"},
			{"requests_per_admitted", "requests", "requests sent for each that passes"},
			{"max_in_1s", "requests", "most that pass in any second"},
			{"max_in_60s", "requests", "most that pass in any 60 seconds"},
			{"requests_max_in_1s", "requests", "most that are sent in any second"},
			{"requests_max_in_10ms", "requests", "most that are sent in any 10 ms"},
			{"requests_busiest_second", "requests", "most that are sent in an aligned second"},
			{"requests_first_second", "requests", "sent in the first second"},
			{"admitted_of_luckiest_worker", "requests", "most that pass of one worker"},
			{"admitted_of_unluckiest_worker", "requests", "least that pass of one worker"},
			{"workers_never_admitted", "workers", "workers of whom nothing passes"},
			{"tokens_left", "tokens", "what the bucket holds at the end"},
		},
		New: func() Params {
			return &honour{Rate: PerSecond(10), Burst: 20, Workers: 40, Stagger: 2500, Answer: 100_000, Length: 120 * Second, Honour: true, Seed: 1}
		},
	}
}

func (p *honour) bucket() limit.BucketSpec {
	return limit.BucketSpec{Rate: p.Rate.Rate, Burst: limit.Whole(p.Burst)}
}

// Unused lists the parameters that mean nothing beside the others.
func (p *honour) Unused() map[string]string {
	m := map[string]string{}
	if !p.Honour {
		m["wait_jitter"] = "means something with honour=true"
	}
	if p.AnswerJitter == 0 && (p.WaitJitter == 0 || !p.Honour) {
		m["seed"] = "means something with a jitter"
	}
	return m
}

func (p *honour) Validate() error {
	if err := firstError(
		rateWithin("rate", p.Rate),
		countWithin("burst", p.Burst, 1, maxCalls),
		countWithin("workers", p.Workers, 1, 10_000_000),
		spanWithin("stagger", p.Stagger, 0, 3600*Second),
		spanWithin("answer", p.Answer, 1, maxTime),
		spanWithin("length", p.Length, 1, maxTime),
		spanWithin("answer_jitter", p.AnswerJitter, 0, p.Answer-1),
		spanWithin("wait_jitter", p.WaitJitter, 0, maxTime),
	); err != nil {
		return err
	}
	_, err := p.bucket().Rule()
	return paramOf(err, "")
}

// Document is how the run's events are read.
func (p *honour) Document() Document {
	return Document{Length: p.Length, Promise: bucketPromise(p.Rate, p.Burst), Names: report.Names{
		Key:        func(uint32) string { return "k-7" },
		Target:     func(uint16) string { return "store" },
		Population: func(uint16) string { return "workers" },
	}}
}

func (p *honour) Run(ctx context.Context, o *Outcome) error {
	rule, err := p.bucket().Rule()
	if err != nil {
		return err
	}
	type send struct {
		worker int32
		try    uint16 // attempts since the last admission, from 1
	}
	var (
		b                 limit.Bucket
		todo              agenda[send]
		rand              = NewPyRandom(p.Seed)
		rec               = o.recorder()
		requests, passed  int64
		sent              = newWindows(Second, Second/100)
		most              = newWindows(Second, 60*Second)
		perSecond, passes []int64
		byWorker          = make([]int64, p.Workers)
		at                Micros
	)
	for w := range p.Workers {
		todo.add(Micros(w)*p.Stagger, send{int32(w), 1})
	}
	for todo.peek() < p.Length {
		if requests%checkEvery == 0 {
			if ctx.Err() != nil {
				break
			}
			if o.Progress != nil {
				o.Progress(float64(at) / float64(p.Length))
			}
		}
		var s send
		at, s = todo.next()
		requests++
		sent.add(at)
		bump(&perSecond, int64(at/Second))
		d := b.Take(&rule, int64(at)*1000, 1)
		answer := at + p.Answer
		if p.AnswerJitter > 0 {
			answer += Micros(rand.Randint(-int64(p.AnswerJitter), int64(p.AnswerJitter)))
		}
		rec.record(&attempt{sent: at, decided: at, done: at, client: uint32(s.worker), try: s.try, d: d})
		next := send{s.worker, 1}
		if d.OK {
			passed++
			byWorker[s.worker]++
			most.add(at)
			bump(&passes, int64(at/Second))
		} else {
			next.try = min(s.try, 1<<15) + 1
			if p.Honour {
				answer += Micros(retryAfter(d.RetryAfter)) * Second
				if p.WaitJitter > 0 {
					answer += Micros(rand.Randint(0, int64(p.WaitJitter)))
				}
			}
		}
		todo.add(answer, next)
	}
	o.Set("requests", float64(requests))
	o.Set("admitted", float64(passed))
	o.Set("refused", float64(requests-passed))
	if passed > 0 {
		o.Set("requests_per_admitted", float64(requests)/float64(passed))
	}
	o.Set("max_in_1s", float64(most.spans[0].best))
	o.Set("max_in_60s", float64(most.spans[1].best))
	o.Set("requests_max_in_1s", float64(sent.spans[0].best))
	o.Set("requests_max_in_10ms", float64(sent.spans[1].best))
	if len(perSecond) > 0 {
		o.Set("requests_busiest_second", float64(maxOf(perSecond)))
		o.Set("requests_first_second", float64(perSecond[0]))
	}
	starved := 0
	for _, n := range byWorker {
		if n == 0 {
			starved++
		}
	}
	o.Set("admitted_of_luckiest_worker", float64(maxOf(byWorker)))
	o.Set("admitted_of_unluckiest_worker", float64(minOf(byWorker)))
	o.Set("workers_never_admitted", float64(starved))
	o.Set("tokens_left", float64(b.Level(&rule, int64(p.Length)*1000))/float64(rule.Grain()))
	o.Series = append(o.Series,
		Series{Name: "requests_per_second", Step: 1, Values: floats(perSecond)},
		Series{Name: "admitted_per_second", Step: 1, Values: floats(passes)})
	return ctx.Err()
}
