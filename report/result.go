package report

// Schema names the form of a Result. Fields may be added, none renamed.
const Schema = "weir.result/v1"

// Verdicts on the promise.
const (
	Held      = "held"
	Broken    = "broken"
	NotJudged = "not judged"
)

// Result is the whole answer of a run.
type Result struct {
	Schema      string  `json:"schema"`
	Source      string  `json:"source"`
	Name        string  `json:"name"`
	Seed        int64   `json:"seed"`
	Repeat      string  `json:"repeat"`
	StartedAt   string  `json:"started_at"`
	DurationS   float64 `json:"duration_s"`
	Interrupted bool    `json:"interrupted"`

	// Model says what a simulated run simulated; nil for others.
	Model *Model `json:"model,omitempty"`
	// Figures are what a simulated run reports beside the rest, by name.
	Figures map[string]float64 `json:"figures,omitempty"`
	Series  []Series           `json:"series,omitempty"`

	Verdict string `json:"verdict"`
	Bound   *Bound `json:"bound,omitempty"`

	Totals          Totals           `json:"totals"`
	PerSecond       []Second         `json:"per_second"`
	PerKey          []KeyRow         `json:"per_key"`
	PerTarget       []Row            `json:"per_target,omitempty"`
	PerPopulation   []Row            `json:"per_population,omitempty"`
	Status          map[string]int64 `json:"status"`
	RefusedStatuses map[string]int64 `json:"refused_statuses,omitempty"`
	Errors          map[string]int64 `json:"errors"`
	RetryAfter      RetryAfter       `json:"retry_after"`
	Herd            Herd             `json:"herd"`
	Fairness        Fairness         `json:"fairness"`
	Latency         Latency          `json:"latency_ms"`
	Sender          Sender           `json:"sender"`
	Checks          []Check          `json:"checks"`
	Findings        []Finding        `json:"findings"`
	// Replay is there in a replay's result.
	Replay *Replay `json:"replay,omitempty"`
	// Prediction is there when it was asked for.
	Prediction *Prediction `json:"prediction,omitempty"`
	// Marks are what a person did or noted while the run went on.
	Marks []Mark `json:"marks,omitempty"`
	// Acts are those of a guided tour.
	Acts []Act `json:"acts,omitempty"`
	// Notes say what the result leaves out and why.
	Notes []string `json:"notes,omitempty"`
}

// Mark is an instant of a run with a word on it.
type Mark struct {
	AtS  float64 `json:"at_s"` // since the start
	Text string  `json:"text"`
}

// Model is what a simulator ran: the kind of scenario, its parameters as text,
// and the rules that it went by.
type Model struct {
	Kind       string            `json:"kind"`
	About      string            `json:"about"`
	Answer     string            `json:"answer,omitempty"` // what the run came to, in words; empty where the verdict says it
	Parameters map[string]string `json:"parameters"`
	Rules      []string          `json:"rules"`
}

// Series is a column over time: Values[i] is at FromS + i*StepS.
type Series struct {
	Name   string    `json:"name"`
	FromS  float64   `json:"from_s"`
	StepS  float64   `json:"step_s"`
	Values []float64 `json:"values"`
}

// Totals counts attempts. Planned = Offered + Dropped, and Offered = Admitted
// + Refused + Failed + InFlight.
type Totals struct {
	Planned   int64 `json:"planned"`
	Offered   int64 `json:"offered"`
	Admitted  int64 `json:"admitted"`
	Refused   int64 `json:"refused"`
	Failed    int64 `json:"failed"`
	InFlight  int64 `json:"in_flight"`
	Retries   int64 `json:"retries"`
	Abandoned int64 `json:"abandoned"`
	Dropped   int64 `json:"dropped"`
}

// Bound is the judgement of the promise over all keys, with the figures of the
// key that fared worst. Admitted figures are units of cost.
type Bound struct {
	Promise string `json:"promise"`
	Key     string `json:"key"`
	// Admitted and Allows are over the whole run, OverS seconds to the last
	// answer; Ratio is their quotient.
	OverS    float64 `json:"over_s"`
	Admitted int64   `json:"admitted"`
	Allows   float64 `json:"allows"`
	Ratio    float64 `json:"ratio"`
	// The interval with the worst excess, proved from Sent and First.
	WorstExcess   float64  `json:"worst_excess"`
	WorstInterval Interval `json:"worst_interval"`
	WorstAdmitted int64    `json:"worst_admitted"`
	WorstAllows   float64  `json:"worst_allows"`
	KeysJudged    int64    `json:"keys_judged"`
	KeysBroken    int64    `json:"keys_broken"`
	// Tested is false when demand never went beyond the promise, so that
	// holding it proves nothing.
	Tested bool `json:"tested"`
}

// Interval is in seconds since the start of the run.
type Interval struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
}

// KeyRow is one key, or, with Keys above 0, all that have no row of their own.
type KeyRow struct {
	Key           string             `json:"key"`
	Keys          int64              `json:"keys,omitempty"`
	Offered       int64              `json:"offered"`
	Admitted      int64              `json:"admitted"`
	Refused       int64              `json:"refused"`
	Failed        int64              `json:"failed"`
	MaxIn         map[string]int64   `json:"max_in,omitempty"`
	Limit         string             `json:"limit,omitempty"`
	BoundIn       map[string]float64 `json:"bound_in,omitempty"`
	WorstExcess   float64            `json:"worst_excess"`
	WorstInterval Interval           `json:"worst_interval"`
}

// Row is one target or population.
type Row struct {
	Name     string `json:"name"`
	Offered  int64  `json:"offered"`
	Admitted int64  `json:"admitted"`
	Refused  int64  `json:"refused"`
	Failed   int64  `json:"failed"`
}

// RetryAfter is about the hints of refusals and who kept to them. Values maps
// the wait in seconds to how many refusals asked for it.
type RetryAfter struct {
	Seen               int64            `json:"seen"`
	Missing            int64            `json:"missing"`
	Invalid            int64            `json:"invalid"`
	Suspect            int64            `json:"suspect"`
	Values             map[string]int64 `json:"values"`
	LongestS           float64          `json:"longest_s"`
	Obeyed             int64            `json:"obeyed"`
	ObeyedThenAdmitted int64            `json:"obeyed_then_admitted"`
	// ObeyedAlone counts obedient retries that were refused although nobody
	// was admitted on their key since the refusal they answer to.
	ObeyedAlone int64 `json:"obeyed_alone_refused"`
	Early       int64 `json:"early"`
	Capped      int64 `json:"capped"`
}

// Herd is about retries that come back together: counts in aligned 10 ms,
// by when they were due and by when they left.
type Herd struct {
	Retries      int64   `json:"retries"`
	Peak10ms     int64   `json:"peak_10ms"`
	AtS          float64 `json:"at_s"`
	OverMean     float64 `json:"over_mean"`
	PeakSent10ms int64   `json:"peak_sent_10ms"`
	SentAtS      float64 `json:"sent_at_s"`
	// Around counts retries due per 10 ms around the peak, from AroundFromS.
	AroundFromS float64  `json:"around_from_s"`
	Around      []uint32 `json:"around_10ms,omitempty"`
}

// Fairness is over clients that offered anything.
type Fairness struct {
	Jain           float64 `json:"jain"`
	Clients        int64   `json:"clients"`
	StarvedClients int64   `json:"starved_clients"`
}

// Latency holds milliseconds. FromDue and FromSent cover admitted and refused
// attempts; the others are from due.
type Latency struct {
	FromDue  Quantiles `json:"from_due"`
	FromSent Quantiles `json:"from_sent"`
	Admitted Quantiles `json:"admitted"`
	Refused  Quantiles `json:"refused"`
	Failed   Quantiles `json:"failed"`
}

// Quantiles are milliseconds, good to 0.4%; max is exact.
type Quantiles struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99.9"`
	Max   float64 `json:"max"`
}

// Sender says how well the load itself kept its plan.
type Sender struct {
	LateMS      Quantiles `json:"late_ms"`
	Trust       Trust     `json:"trust"`
	Why         string    `json:"why"`
	Connections int64     `json:"connections"`
	CPUS        float64   `json:"cpu_s"`
	RSSMB       float64   `json:"rss_mb"`
}

// Check is one expectation and whether it was met.
type Check struct {
	Name   string `json:"name"`
	Pass   bool   `json:"pass"`
	Detail string `json:"detail"`
}

// Finding is a sentence about what is wrong, with its usual cause and cure.
type Finding struct {
	ID       string         `json:"id"`
	Severity Severity       `json:"severity"`
	Text     string         `json:"text"`
	Evidence map[string]any `json:"evidence"`
}

// Severity ranks findings.
type Severity string

const (
	High   Severity = "high"
	Medium Severity = "medium"
	Low    Severity = "low"
)
