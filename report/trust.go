package report

import "fmt"

// Trust says whether the sender kept its plan well enough for the figures to
// speak about the target.
type Trust string

const (
	Good     Trust = "good"
	Degraded Trust = "degraded"
	Bad      Trust = "bad"
)

// The thresholds of trust: good needs no drop and a p99 lateness of at most
// goodLate; bad is more than badDrops of the plan dropped or a p99 above
// badLate.
const (
	goodLate = int64(10e6)
	badLate  = int64(2e9)
	badDrops = 0.05
)

func trust(planned, dropped, lateP99 int64) (Trust, string) {
	share := 0.0
	if planned > 0 {
		share = float64(dropped) / float64(planned)
	}
	late := fmt.Sprintf("99%% of attempts left within %s of their due time", span(lateP99))
	switch {
	case share > badDrops:
		return Bad, fmt.Sprintf("%s of the plan was dropped because it could not leave in time", percent(share))
	case lateP99 > badLate:
		return Bad, "the sender ran late: " + late
	case dropped > 0:
		return Degraded, fmt.Sprintf("%s of %s planned attempts were dropped because they could not leave in time",
			Count(dropped), Count(planned))
	case lateP99 > goodLate:
		return Degraded, "the sender ran late: " + late
	case planned == 0:
		return Good, "nothing was planned"
	}
	return Good, late
}
