package load

import "github.com/weir-cli/weir/report"

func presetForms() []form { return nil }

// grpcUnavailable says that gRPC would call this outcome UNAVAILABLE: no
// answer, or a status that its HTTP mapping (http-grpc-status-mapping.md)
// sends there.
func grpcUnavailable(o Outcome) bool {
	if o.Verdict == report.Failed && o.Class != report.BadStatus {
		return true
	}
	return o.Status == 429 || o.Status >= 502 && o.Status <= 504
}
